// Launches the kernels of rdma_aclgraph_kernel.cpp.
#pragma once

#include <cstdint>

constexpr uint32_t kElementsPerPe = 16;

// out[i] = a[i] + b[i]; block b adds the 16 elements of slice b.
void launch_add(uint32_t blocks, void* stream, uint8_t* out, uint8_t* a, uint8_t* b);

// After it gathered[16 * p + i] holds element i of PE p's own[], on every PE. Both are symmetric.
void launch_allgather(void* stream, uint8_t* gathered, uint8_t* own);
