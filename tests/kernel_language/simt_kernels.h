// What the SIMT tests call; defined in simt_kernels.cc.
#pragma once

#include <cstdint>

#include "acl/acl.h"

namespace symm::kernel_test {

struct LaneDims {
  uint32_t x, y, z;
};
// Every lane writes {threadIdx.x, y, z, blockIdx.x, blockDim.x * y * z} at its place.
void launch_lane_indices(aclrtStream stream, uint32_t blocks, LaneDims dims, uint32_t* records);
// Reduces the lane numbers of each core through an array in the unified buffer, round after round.
void launch_lane_reduce(aclrtStream stream, uint32_t blocks, uint32_t lanes, int rounds,
                        int32_t* sums);
// Lane 0 of core i waits for core i+1's lane 0 (and the last core for nobody): lanes must let other
// cores run.
void launch_lane_chain(aclrtStream stream, uint32_t blocks, int32_t* flags);
// One lane traps while the others are in a barrier.
void launch_lane_trap(aclrtStream stream, int32_t* destroyed);
void launch_too_many_lanes(aclrtStream stream);
// Half of the lanes leave before the barrier.
void launch_early_exit(aclrtStream stream, int32_t* passed);

}  // namespace symm::kernel_test
