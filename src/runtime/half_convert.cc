// Conversions between half and float over arrays, with the processor's instructions where it has
// them.
#include <cstdint>

#include "ascendc/core_abi.h"
#include "ascendc/small_float.h"

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace symm::runtime {
namespace {

#if defined(__x86_64__)
// Both return how many elements they did; the rest is less than one register.
__attribute__((target("avx,f16c"))) uint64_t widen(const uint16_t* from, float* to,
                                                   uint64_t count) {
  uint64_t i = 0;
  for (; i + 8 <= count; i += 8) {
    const __m128i bits = _mm_loadu_si128(reinterpret_cast<const __m128i*>(from + i));
    _mm256_storeu_ps(to + i, _mm256_cvtph_ps(bits));
  }
  return i;
}

__attribute__((target("avx,f16c"))) uint64_t narrow(const float* from, uint16_t* to,
                                                    uint64_t count) {
  uint64_t i = 0;
  for (; i + 8 <= count; i += 8) {
    const __m128i bits =
        _mm256_cvtps_ph(_mm256_loadu_ps(from + i), _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC);
    _mm_storeu_si128(reinterpret_cast<__m128i*>(to + i), bits);
  }
  return i;
}

bool have_instructions() { return __builtin_cpu_supports("f16c") && __builtin_cpu_supports("avx"); }
#else
uint64_t widen(const uint16_t*, float*, uint64_t) { return 0; }
uint64_t narrow(const float*, uint16_t*, uint64_t) { return 0; }
constexpr bool have_instructions() { return false; }
#endif

}  // namespace
}  // namespace symm::runtime

using namespace symm::runtime;  // NOLINT: this file is a C edge

void symm_rt_half_to_float(const uint16_t* from, float* to, uint64_t count) {
  for (uint64_t i = have_instructions() ? widen(from, to, count) : 0; i < count; ++i) {
    to[i] = symm::HalfFormat::decode(from[i]);
  }
}

void symm_rt_float_to_half(const float* from, uint16_t* to, uint64_t count) {
  for (uint64_t i = have_instructions() ? narrow(from, to, count) : 0; i < count; ++i) {
    to[i] = symm::HalfFormat::encode(from[i]);
  }
}
