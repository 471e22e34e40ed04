// Matrix product of the example, with the widest vectors of the processor.
#pragma once

#include <cstdint>

// out[rows x n] = a[rows x k] * b[k x n], all row by row; rows is a multiple of 4, n of 64.
void multiply(float* out, const float* a, const float* b, int32_t rows, int32_t n, int32_t k);
