// What the tests of flags between cores, per-core variables, sorting and masked comparison call;
// defined in core_kernels.cc.
#pragma once

#include <cstdint>

#include "acl/acl.h"

namespace symm::kernel_test {

// `rounds` rounds of: write a slot, raise flag 3 of the mode, wait, read the slots of the group.
// errors[core]: how many were wrong. mode 0: all cores; 1: the two of a block.
void launch_cross_rounds(aclrtStream stream, int mode, uint32_t blocks, int rounds, int32_t* slots,
                         int32_t* errors);
enum class CrossMisuse {
  kWaitForCube,
  kNobodySets,
  kOthersEnd,
  kUnknownFlag,
  kTooFarAhead,
  kCount,
};
void launch_cross_misuse(aclrtStream stream, CrossMisuse what, uint32_t blocks);

// Every core counts in its own variables and yields in between; out[core * 4 ..] shows them.
void launch_block_local(aclrtStream stream, uint32_t blocks, int32_t* out);
// The variables of the calling thread, which is none of a kernel.
int32_t host_block_local();

// Sort32 of 128 scores, MrgSort of the four stretches; pairs land in `pairs`, the counts of a merge
// that stops early in `taken`.
void launch_sort_float(aclrtStream stream, float* scores, uint8_t* pairs, uint16_t* taken);
void launch_sort_half(aclrtStream stream, uint8_t* scores, uint8_t* pairs, uint16_t* taken);

// Masked comparison and selection over two repeats of float: bits of a < b in the first `mask`
// elements; the selections by bits, by scalar, and by the register.
void launch_masked_compare(aclrtStream stream, float* a, float* b, uint64_t mask, uint8_t* bits,
                           float* by_bits, float* by_scalar, float* by_register);
// A row and a column repeated to 4 x 8, and a scalar to 8.
void launch_broadcast(aclrtStream stream, float* row, float* column, float* out);

}  // namespace symm::kernel_test
