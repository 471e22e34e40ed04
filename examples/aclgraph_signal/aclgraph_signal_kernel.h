// Launches the kernels of aclgraph_signal_kernel.cpp.
#pragma once

#include <cstdint>

constexpr uint32_t kElementsPerPe = 16;

// out[i] = a[i] + b[i]; block b adds the 16 elements of slice b.
void launch_add(uint32_t blocks, void* stream, uint8_t* out, uint8_t* a, uint8_t* b);

// What the allgathers of one graph share. All zero before the first; nobody resets them.
struct AllgatherSignals {
  uint8_t* ready;    // symmetric, n_pes int32: [p] is the epoch for which PE p expects data
  uint8_t* arrived;  // symmetric, n_pes int32: [p] is the epoch whose slice of PE p is here
  uint8_t* epoch;    // device, one int32: allgathers this PE has begun
};

// After it gathered[16 * p + i] holds element i of PE p's own[]. gathered and own are symmetric.
void launch_allgather(void* stream, uint8_t* gathered, uint8_t* own,
                      const AllgatherSignals& signals);
