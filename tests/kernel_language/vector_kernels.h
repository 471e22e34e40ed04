// What the vector tests call; defined in vector_kernels.cc.
#pragma once

#include <cstdint>

#include "acl/acl.h"

namespace symm::kernel_test {

enum class Element {
  kHalf,
  kBrain,
  kFloat,
  kInt16,
  kInt32,
  kUint16,
  kUint32,
  kInt8,
  kUint8,
  kInt64,
  kCount
};

// Operations for all types, then those for floating-point, then those for integers.
enum class Op {
  kAdd,
  kSub,
  kMul,
  kMax,
  kMin,
  kRelu,
  kAdds,
  kMuls,
  kMaxs,
  kMins,
  kAbs,
  kMulAddDst,
  kFirstFloat,
  kDiv = kFirstFloat,
  kExp,
  kLn,
  kSqrt,
  kRsqrt,
  kReciprocal,
  kLeakyRelu,
  kAxpy,
  kFirstInteger,
  kAnd = kFirstInteger,
  kOr,
  kNot,
  kShiftLeft,
  kShiftRight,
  kCount,
};
constexpr int kScalar = 3;  // the scalar operand

// out = op(a, b) over `count` elements; out holds a third operand on entry.
void launch_operation(aclrtStream stream, Op op, Element type, uint8_t* a, uint8_t* b, uint8_t* out,
                      int count);

struct MaskedShape {
  uint64_t mask[2];
  int number;  // the mask as a number; 0: take the bits
  int repeat;
  int block[3];   // strides of dst, src0, src1
  int stride[3];  // repeat strides
  int form;       // 0 argument, 1 SetVectorMask, 2 counter mode with `number` elements
};
constexpr int kMaskedElements = 4096;
// int16 and float additions over areas of kMaskedElements.
void launch_masked_add(aclrtStream stream, bool wide, uint8_t* a, uint8_t* b, uint8_t* out,
                       MaskedShape shape);
void launch_masked_cast(aclrtStream stream, uint8_t* floats, uint8_t* halves, MaskedShape shape);

void launch_cast(aclrtStream stream, Element to, Element from, int mode, uint8_t* source,
                 uint8_t* target, int count);

// Writes into out: ReduceSum, ReduceMax with index, ReduceMin with index of float[count]; then the
// same of half.
void launch_reduce(aclrtStream stream, uint8_t* floats, uint8_t* halves, float* out, int count);
// WholeReduceSum, WholeReduceMax and BlockReduceSum of 4 repeats of float with `mask` active
// elements.
void launch_whole_reduce(aclrtStream stream, uint8_t* floats, float* sums, float* bests,
                         float* blocks, int mask);
// Compare with every mode, then select by the bits; `selected` holds 6 stretches of `count`
// elements.
void launch_compare_select(aclrtStream stream, float* a, float* b, float* selected, int count);
void launch_moves(aclrtStream stream, uint8_t* halves, uint32_t* offsets, uint8_t* gathered,
                  uint8_t* transposed, uint8_t* broadcast, int32_t* progression);

}  // namespace symm::kernel_test
