// What the copy and queue tests call; defined in copy_kernels.cc.
#pragma once

#include <cstdint>

#include "acl/acl.h"

namespace symm::kernel_test {

struct CopyShape {
  uint16_t blocks;
  uint32_t bytes;  // of one block
  uint32_t source_gap;
  uint32_t target_gap;
  bool pad;
  uint8_t left;
  uint8_t right;
  int32_t value;
};
constexpr uint32_t kCopyArea = 4096;  // bytes of UB that the kernels show

// DataCopyPad from `source` into a UB area of 0xEE bytes that ends up in `area`. `element` is 1, 2
// or 4 bytes.
void launch_pad_in(aclrtStream stream, int element, uint8_t* source, uint8_t* area,
                   CopyShape shape);
// DataCopyPad from a UB area holding `area` to `target`.
void launch_pad_out(aclrtStream stream, int element, uint8_t* area, uint8_t* target,
                    CopyShape shape);
// DataCopy forms: 0 count GM-UB-GM, 1 block parameters, 2 UB to UB.
void launch_data_copy(aclrtStream stream, int form, uint8_t* source, uint8_t* target,
                      CopyShape shape);

// z = x + y through queues, `elements` per core in tiles. type: 0 half, 1 float, 2 int16, 3 int32,
// 4 bfloat16.
void launch_add(aclrtStream stream, int type, uint32_t blocks, uint8_t* x, uint8_t* y, uint8_t* z,
                uint32_t elements);
// Several cores add `value` to the same int32 and half elements in atomic mode.
void launch_atomic_mode(aclrtStream stream, uint32_t blocks, int32_t* sums, uint8_t* half_sums,
                        uint32_t elements);
void launch_scalar_atomics(aclrtStream stream, uint32_t blocks, int32_t* words, float* numbers);

enum class Misuse {
  kAllocTooMany,
  kDequeueEmpty,
  kEnqueueUnallocated,
  kFreeTwice,
  kForeignTensor,
  kQueueFull,
  kBufferNotMade,
  kBufferTooSmall,
  kUbTooSmall,
  kTooManyBuffers,
  kOutsideUb,
  kPointerOutsideUb,
  kNoGlobalBuffer,
  kTensorTooSmall,
  kBadBlockLength,
  kCount,
};
void launch_misuse(aclrtStream stream, Misuse what, uint8_t* memory);
// Results of small checks of tensors, pipes and buffers by hand; every value must be 1.
constexpr int kTensorChecks = 12;
void launch_tensor_checks(aclrtStream stream, int32_t* results, uint8_t* memory);

}  // namespace symm::kernel_test
