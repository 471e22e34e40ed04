#include "transport/dma/half.h"

#include <bit>
#include <cmath>

namespace symm::dma {

float half_to_float(uint16_t bits) {
  const int exponent = (bits >> 10) & 31;
  const int fraction = bits & 1023;
  float value;
  if (exponent == 31) {
    value = fraction != 0 ? NAN : INFINITY;
  } else if (exponent == 0) {
    value = std::ldexp(static_cast<float>(fraction), -24);
  } else {
    value = std::ldexp(static_cast<float>(fraction + 1024), exponent - 25);
  }
  return (bits & 0x8000) != 0 ? -value : value;
}

uint16_t float_to_half(float value) {
  const uint32_t bits = std::bit_cast<uint32_t>(value);
  const uint16_t sign = static_cast<uint16_t>((bits >> 16) & 0x8000);
  if (std::isnan(value)) return static_cast<uint16_t>(sign | 0x7e00);
  const float magnitude = std::fabs(value);
  // 65520 lies half way between the largest half and the next step, and ties go to even: infinity.
  if (magnitude >= 65520.0f) return static_cast<uint16_t>(sign | 0x7c00);
  int exponent = 0;
  std::frexp(magnitude, &exponent);
  // One unit in the last place is 2^(exponent - 11) for normal numbers and 2^-24 below them.
  const int shift = exponent < -13 ? 24 : 11 - exponent;
  const auto units = static_cast<uint32_t>(std::nearbyint(std::ldexp(magnitude, shift)));
  if (shift == 24) return static_cast<uint16_t>(sign | units);
  // units is 1024..2048; a carry to 2048 moves into the exponent by plain addition.
  return static_cast<uint16_t>(sign | ((static_cast<uint32_t>(exponent + 13) << 10) + units));
}

float bfloat_to_float(uint16_t bits) { return std::bit_cast<float>(static_cast<uint32_t>(bits) << 16); }

uint16_t float_to_bfloat(float value) {
  const uint32_t bits = std::bit_cast<uint32_t>(value);
  if (std::isnan(value)) return static_cast<uint16_t>((bits >> 16) | 0x40);
  return static_cast<uint16_t>((bits + 0x7fff + ((bits >> 16) & 1)) >> 16);
}

uint16_t add_halfs(uint16_t a, uint16_t b) { return float_to_half(half_to_float(a) + half_to_float(b)); }

uint16_t add_bfloats(uint16_t a, uint16_t b) {
  return float_to_bfloat(bfloat_to_float(a) + bfloat_to_float(b));
}

}  // namespace symm::dma
