// Sums of 16-bit floating-point numbers given as bits: added as float, rounded once to nearest even.
#pragma once

#include <cstdint>

namespace symm::dma {

uint16_t add_halfs(uint16_t a, uint16_t b);
uint16_t add_bfloats(uint16_t a, uint16_t b);

float half_to_float(uint16_t bits);
uint16_t float_to_half(float value);
float bfloat_to_float(uint16_t bits);
uint16_t float_to_bfloat(float value);

}  // namespace symm::dma
