// What the launch tests call; defined in launch_kernels.cc.
#pragma once

#include <cstdint>

#include "acl/acl.h"

namespace symm::kernel_test {

// Every core writes {block index, block number, sub-block index, sub-block number} at its place and
// adds 1 to count.
void launch_identity(uint32_t blocks, bool mix, aclrtStream stream, int64_t* records,
                     int64_t* count);
// Small integers as UB addresses: writes through addresses 0, 32 and 64 and sums what it reads
// back.
void launch_ub_addresses(uint32_t blocks, aclrtStream stream, int32_t* sums);
// Rounds of "every core writes its slot, SyncAll, every core checks all slots".
void launch_sync_all(uint32_t blocks, bool mix, int rounds, aclrtStream stream, int32_t* slots,
                     int32_t* errors);
// Structs by value, default arguments, overloads, template arguments, function pointers.
struct ByValue {
  int32_t* out;
  int32_t factor;
  int32_t table[4];
};
void launch_shapes(aclrtStream stream, int32_t* out);
constexpr int kShapes = 10;
// The kernel traps on core `which`.
void launch_trap(uint32_t blocks, int which, aclrtStream stream);

}  // namespace symm::kernel_test
