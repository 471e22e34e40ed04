#include "ops/streamed_copy.h"

#include <cstdint>
#include <cstring>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace symm::ops {

#if defined(__x86_64__)
namespace {

constexpr size_t kLine = 64;

// `to` is aligned to a line. The sanitizers do not see stores past the caches, so they get the
// plain copy.
void stream_lines(std::byte* to, const std::byte* from, size_t lines) {
#if defined(__SANITIZE_THREAD__) || defined(__SANITIZE_ADDRESS__)
  std::memmove(to, from, lines * kLine);
#else
  for (size_t i = 0; i < lines; ++i, to += kLine, from += kLine) {
    const auto* source = reinterpret_cast<const __m128i*>(from);
    auto* target = reinterpret_cast<__m128i*>(to);
    const __m128i a = _mm_loadu_si128(source);
    const __m128i b = _mm_loadu_si128(source + 1);
    const __m128i c = _mm_loadu_si128(source + 2);
    const __m128i d = _mm_loadu_si128(source + 3);
    _mm_stream_si128(target, a);
    _mm_stream_si128(target + 1, b);
    _mm_stream_si128(target + 2, c);
    _mm_stream_si128(target + 3, d);
  }
  // Stores past the caches are not ordered with others: without this a flag could arrive first.
  _mm_sfence();
#endif
}

}  // namespace

void copy_streamed(void* to, const void* from, size_t bytes) {
  const auto target = reinterpret_cast<uintptr_t>(to);
  const auto source = reinterpret_cast<uintptr_t>(from);
  if (target < source + bytes && source < target + bytes) {
    std::memmove(to, from, bytes);
    return;
  }
  const size_t head = (kLine - target % kLine) % kLine;
  const size_t lines = (bytes - head) / kLine;
  const size_t tail = bytes - head - lines * kLine;
  auto* out = static_cast<std::byte*>(to);
  const auto* in = static_cast<const std::byte*>(from);
  std::memcpy(out, in, head);
  std::memcpy(out + bytes - tail, in + bytes - tail, tail);
  stream_lines(out + head, in + head, lines);
}
#else
void copy_streamed(void* to, const void* from, size_t bytes) { std::memmove(to, from, bytes); }
#endif

}  // namespace symm::ops
