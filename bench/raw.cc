#include "bench/raw.h"

#include <cstring>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

#pragma GCC visibility push(default)

void raw_store(int64_t* to, int64_t value) { __atomic_store_n(to, value, __ATOMIC_RELAXED); }
int64_t raw_load(const int64_t* from) { return __atomic_load_n(from, __ATOMIC_RELAXED); }
void raw_add(int64_t* to, int64_t value) { __atomic_fetch_add(to, value, __ATOMIC_SEQ_CST); }
int64_t raw_fetch_add(int64_t* to, int64_t value) {
  return __atomic_fetch_add(to, value, __ATOMIC_SEQ_CST);
}
int64_t raw_swap(int64_t* to, int64_t value) {
  return __atomic_exchange_n(to, value, __ATOMIC_SEQ_CST);
}
int64_t raw_compare_swap(int64_t* to, int64_t cond, int64_t value) {
  __atomic_compare_exchange_n(to, &cond, value, false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);
  return cond;
}

void raw_streamed_copy(void* to, const void* from, size_t bytes) {
#if defined(__x86_64__)
  auto* target = static_cast<__m128i*>(to);
  const auto* source = static_cast<const __m128i*>(from);
  if (reinterpret_cast<uintptr_t>(to) % 16 != 0) {
    std::memcpy(to, from, bytes);
    return;
  }
  for (size_t i = 0; i < bytes / 16; ++i) _mm_stream_si128(target + i, _mm_loadu_si128(source + i));
  _mm_sfence();
#else
  std::memcpy(to, from, bytes);
#endif
}

#pragma GCC visibility pop
