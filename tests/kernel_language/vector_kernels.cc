#include "vector_kernels.h"

#include "kernel_operator.h"

using namespace AscendC;
using symm::kernel_test::Element;
using symm::kernel_test::kMaskedElements;
using symm::kernel_test::kScalar;
using symm::kernel_test::MaskedShape;
using symm::kernel_test::Op;

namespace {

// A tensor at a UB offset, filled from global memory.
template <typename T>
__aicore__ inline LocalTensor<T> load(GM_ADDR from, uint32_t offset, uint32_t count) {
  LocalTensor<T> local(TPosition::VECCALC, offset, count);
  GlobalTensor<T> global;
  global.SetGlobalBuffer((__gm__ T*)from);
  DataCopyPad(local, global,
              DataCopyExtParams(1, static_cast<uint32_t>(count * sizeof(T)), 0, 0, 0));
  return local;
}
template <typename T>
__aicore__ inline void store(GM_ADDR to, const LocalTensor<T>& local, uint32_t count) {
  GlobalTensor<T> global;
  global.SetGlobalBuffer((__gm__ T*)to);
  DataCopyPad(global, local,
              DataCopyExtParams(1, static_cast<uint32_t>(count * sizeof(T)), 0, 0, 0));
}

constexpr uint32_t kArea = 32 * 1024;

template <typename T>
__aicore__ inline void common_operation(Op op, const LocalTensor<T>& out, const LocalTensor<T>& a,
                                        const LocalTensor<T>& b, int count) {
  const T scalar = static_cast<T>(kScalar);
  switch (op) {
    case Op::kAdd:
      return Add(out, a, b, count);
    case Op::kSub:
      return Sub(out, a, b, count);
    case Op::kMul:
      return Mul(out, a, b, count);
    case Op::kMax:
      return Max(out, a, b, count);
    case Op::kMin:
      return Min(out, a, b, count);
    case Op::kRelu:
      return Relu(out, a, count);
    case Op::kAdds:
      return Adds(out, a, scalar, count);
    case Op::kMuls:
      return Muls(out, a, kScalar, count);
    case Op::kMaxs:
      return Maxs(out, a, scalar, count);
    case Op::kMins:
      return Mins(out, a, scalar, count);
    case Op::kAbs:
      return Abs(out, a, count);
    case Op::kMulAddDst:
      return MulAddDst(out, a, b, count);
    default:
      trap();
  }
}
template <typename T>
__aicore__ inline void float_operation(Op op, const LocalTensor<T>& out, const LocalTensor<T>& a,
                                       const LocalTensor<T>& b, int count) {
  switch (op) {
    case Op::kDiv:
      return Div(out, a, b, count);
    case Op::kExp:
      return Exp(out, a, count);
    case Op::kLn:
      return Ln(out, a, count);
    case Op::kSqrt:
      return Sqrt(out, a, count);
    case Op::kRsqrt:
      return Rsqrt(out, a, count);
    case Op::kReciprocal:
      return Reciprocal(out, a, count);
    case Op::kLeakyRelu:
      return LeakyRelu(out, a, static_cast<T>(kScalar), count);
    case Op::kAxpy:
      return Axpy(out, a, static_cast<T>(kScalar), count);
    default:
      trap();
  }
}
template <typename T>
__aicore__ inline void integer_operation(Op op, const LocalTensor<T>& out, const LocalTensor<T>& a,
                                         const LocalTensor<T>& b, int count) {
  switch (op) {
    case Op::kAnd:
      return And(out, a, b, count);
    case Op::kOr:
      return Or(out, a, b, count);
    case Op::kNot:
      return Not(out, a, count);
    case Op::kShiftLeft:
      return ShiftLeft(out, a, static_cast<T>(kScalar), count);
    case Op::kShiftRight:
      return ShiftRight(out, a, static_cast<T>(kScalar), count);
    default:
      trap();
  }
}

}  // namespace

template <typename T>
__global__ __vector__ void operation(int op, GM_ADDR a, GM_ADDR b, GM_ADDR out, int count) {
  const uint32_t n = static_cast<uint32_t>(count);
  const LocalTensor<T> x = load<T>(a, 0, n);
  const LocalTensor<T> y = load<T>(b, kArea, n);
  const LocalTensor<T> z = load<T>(out, 2 * kArea, n);
  const Op what = static_cast<Op>(op);
  if (what < Op::kFirstFloat) {
    common_operation(what, z, x, y, count);
  } else if constexpr (std::is_integral_v<T>) {
    integer_operation(what, z, x, y, count);
  } else {
    float_operation(what, z, x, y, count);
  }
  store(out, z, n);
}

template <typename T>
__global__ __vector__ void masked_add(GM_ADDR a, GM_ADDR b, GM_ADDR out, MaskedShape s) {
  const LocalTensor<T> x = load<T>(a, 0, kMaskedElements);
  const LocalTensor<T> y = load<T>(b, kArea, kMaskedElements);
  const LocalTensor<T> z = load<T>(out, 2 * kArea, kMaskedElements);
  const BinaryRepeatParams params(
      static_cast<uint8_t>(s.block[0]), static_cast<uint8_t>(s.block[1]),
      static_cast<uint8_t>(s.block[2]), static_cast<uint8_t>(s.stride[0]),
      static_cast<uint8_t>(s.stride[1]), static_cast<uint8_t>(s.stride[2]));
  const uint8_t repeat = static_cast<uint8_t>(s.repeat);
  if (s.form == 1) {
    SetVectorMask<T>(s.mask[1], s.mask[0]);
    Add<T, false>(z, x, y, uint64_t{1}, repeat, params);
    ResetMask();
  } else if (s.form == 2) {
    SetMaskCount();
    SetVectorMask<T, MaskMode::COUNTER>(s.number);
    Add<T, false>(z, x, y, uint64_t{1}, 1, params);
    SetMaskNorm();
    ResetMask();
  } else if (s.number != 0) {
    Add(z, x, y, static_cast<uint64_t>(s.number), repeat, params);
  } else {
    uint64_t mask[2] = {s.mask[0], s.mask[1]};
    Add(z, x, y, mask, repeat, params);
  }
  store(out, z, kMaskedElements);
}
extern "C" __global__ __vector__ void masked_cast(GM_ADDR floats, GM_ADDR halves, MaskedShape s) {
  const LocalTensor<float> x = load<float>(floats, 0, kMaskedElements);
  const LocalTensor<half> z = load<half>(halves, 2 * kArea, kMaskedElements);
  Cast(z, x, RoundMode::CAST_NONE, static_cast<uint64_t>(s.number), static_cast<uint8_t>(s.repeat),
       {static_cast<uint16_t>(s.block[0]), static_cast<uint16_t>(s.block[1]),
        static_cast<uint8_t>(s.stride[0]), static_cast<uint8_t>(s.stride[1])});
  store(halves, z, kMaskedElements);
}

template <typename D, typename S>
__global__ __vector__ void cast(GM_ADDR source, GM_ADDR target, int mode, int count) {
  const LocalTensor<S> x = load<S>(source, 0, static_cast<uint32_t>(count));
  const LocalTensor<D> z(TPosition::VECCALC, 2 * kArea, static_cast<uint32_t>(count));
  Cast(z, x, static_cast<RoundMode>(mode), static_cast<uint32_t>(count));
  store(target, z, static_cast<uint32_t>(count));
}

extern "C" __global__ __vector__ void reduce(GM_ADDR floats, GM_ADDR halves, __gm__ float* out,
                                             int count) {
  TPipe pipe;
  TBuf<> work, results;
  pipe.InitBuffer(work, 3 * kArea);
  pipe.InitBuffer(results, 256);
  const uint32_t n = static_cast<uint32_t>(count);
  LocalTensor<float> x = work.GetWithOffset<float>(kArea / 4, 0);
  LocalTensor<half> y = work.GetWithOffset<half>(kArea / 2, kArea);
  LocalTensor<float> scratch = work.GetWithOffset<float>(kArea / 4, 2 * kArea);
  GlobalTensor<float> from;
  from.SetGlobalBuffer((__gm__ float*)floats);
  DataCopyPad(x, from, {1, static_cast<uint32_t>(n * sizeof(float)), 0, 0, 0}, {false, 0, 0, 0});
  GlobalTensor<half> half_from;
  half_from.SetGlobalBuffer((__gm__ half*)halves);
  DataCopyPad(y, half_from, {1, static_cast<uint32_t>(n * sizeof(half)), 0, 0, 0},
              {false, 0, 0, 0});
  LocalTensor<float> r = results.Get<float>();
  ReduceSum(r, x, scratch, count);
  ReduceMax<float>(r[1], x, scratch, count, true);
  ReduceMin<float>(r[3], x, scratch, count, true);
  LocalTensor<half> h = results.GetWithOffset<half>(16, 64);
  ReduceSum<half>(h, y, scratch.ReinterpretCast<half>(), count);
  ReduceMax(h[1], y, scratch.ReinterpretCast<half>(), count, true);
  out[0] = r.GetValue(0);
  out[1] = r.GetValue(1);
  out[2] = static_cast<float>(r.ReinterpretCast<uint32_t>().GetValue(2));
  out[3] = r.GetValue(3);
  out[4] = static_cast<float>(r.ReinterpretCast<uint32_t>().GetValue(4));
  out[5] = h.GetValue(0);
  out[6] = h.GetValue(1);
  out[7] = static_cast<float>(h.ReinterpretCast<uint16_t>().GetValue(2));
}

extern "C" __global__ __vector__ void whole_reduce(GM_ADDR floats, GM_ADDR sums, GM_ADDR bests,
                                                   GM_ADDR blocks, int mask) {
  const LocalTensor<float> x = load<float>(floats, 0, 256);
  const LocalTensor<float> z = load<float>(floats, 2 * kArea, 256);
  WholeReduceSum(z, x, mask, 4, 1, 1, 8);
  store(sums, z, 4);
  WholeReduceMax(z, x, mask, 4, 1, 1, 8);
  store(bests, z, 8);
  BlockReduceSum(z, x, 4, 64, 1, 1, 8);
  store(blocks, z, 32);
}

extern "C" __global__ __vector__ void compare_select(GM_ADDR a, GM_ADDR b, GM_ADDR selected,
                                                     int count) {
  const uint32_t n = static_cast<uint32_t>(count);
  const LocalTensor<float> x = load<float>(a, 0, n);
  const LocalTensor<float> y = load<float>(b, kArea, n);
  const LocalTensor<float> z(TPosition::VECCALC, 2 * kArea, n);
  const LocalTensor<uint8_t> bits(TPosition::VECCALC, 3 * kArea, (n + 7) / 8);
  for (int mode = 0; mode < 6; ++mode) {
    Compare(bits, x, y, static_cast<CMPMODE>(mode), n);
    if (mode % 2 == 0) {
      Select(z, bits, x, y, SELMODE::VSEL_TENSOR_TENSOR_MODE, n);
    } else {
      Select(z, bits, x, -7.0f, SELMODE::VSEL_TENSOR_SCALAR_MODE, n);
    }
    store(selected + static_cast<uint32_t>(mode) * n * sizeof(float), z, n);
  }
}

extern "C" __global__ __vector__ void moves(GM_ADDR halves, GM_ADDR offsets, GM_ADDR gathered,
                                            GM_ADDR transposed, GM_ADDR broadcast,
                                            GM_ADDR progression) {
  const LocalTensor<half> x = load<half>(halves, 0, 256);
  const LocalTensor<uint32_t> at = load<uint32_t>(offsets, kArea, 100);
  const LocalTensor<half> z(TPosition::VECCALC, 2 * kArea, 512);
  Gather(z, x, at, 2, 100);
  store(gathered, z, 100);
  Transpose(z, x);
  store(transposed, z, 256);
  Brcb(z, x, 2, {1, 8});
  store(broadcast, z, 256);
  const LocalTensor<int32_t> p(TPosition::VECCALC, 3 * kArea, 40);
  ArithProgression<int32_t>(p, 5, -3, 40);
  store(progression, p, 40);
}

namespace symm::kernel_test {

template <typename F>
void with_type(Element type, F f) {
  switch (type) {
    case Element::kHalf:
      return f(half());
    case Element::kBrain:
      return f(bfloat16_t());
    case Element::kFloat:
      return f(float());
    case Element::kInt16:
      return f(int16_t());
    case Element::kInt32:
      return f(int32_t());
    case Element::kUint16:
      return f(uint16_t());
    case Element::kUint32:
      return f(uint32_t());
    case Element::kInt8:
      return f(int8_t());
    case Element::kUint8:
      return f(uint8_t());
    case Element::kInt64:
      return f(int64_t());
    case Element::kCount:
      return;
  }
}

void launch_operation(aclrtStream stream, Op op, Element type, uint8_t* a, uint8_t* b, uint8_t* out,
                      int count) {
  with_type(type, [&](auto element) {
    operation<decltype(element)><<<1, nullptr, stream>>>(static_cast<int>(op), a, b, out, count);
  });
}
void launch_masked_add(aclrtStream stream, bool wide, uint8_t* a, uint8_t* b, uint8_t* out,
                       MaskedShape shape) {
  if (wide) {
    masked_add<float><<<1, nullptr, stream>>>(a, b, out, shape);
  } else {
    masked_add<int16_t><<<1, nullptr, stream>>>(a, b, out, shape);
  }
}
void launch_masked_cast(aclrtStream stream, uint8_t* floats, uint8_t* halves, MaskedShape shape) {
  masked_cast<<<1, nullptr, stream>>>(floats, halves, shape);
}
void launch_cast(aclrtStream stream, Element to, Element from, int mode, uint8_t* source,
                 uint8_t* target, int count) {
  with_type(to, [&](auto target_element) {
    with_type(from, [&](auto source_element) {
      cast<decltype(target_element), decltype(source_element)>
          <<<1, nullptr, stream>>>(source, target, mode, count);
    });
  });
}
void launch_reduce(aclrtStream stream, uint8_t* floats, uint8_t* halves, float* out, int count) {
  reduce<<<1, nullptr, stream>>>(floats, halves, out, count);
}
void launch_whole_reduce(aclrtStream stream, uint8_t* floats, float* sums, float* bests,
                         float* blocks, int mask) {
  whole_reduce<<<1, nullptr, stream>>>(floats, (uint8_t*)sums, (uint8_t*)bests, (uint8_t*)blocks,
                                       mask);
}
void launch_compare_select(aclrtStream stream, float* a, float* b, float* selected, int count) {
  compare_select<<<1, nullptr, stream>>>((uint8_t*)a, (uint8_t*)b, (uint8_t*)selected, count);
}
void launch_moves(aclrtStream stream, uint8_t* halves, uint32_t* offsets, uint8_t* gathered,
                  uint8_t* transposed, uint8_t* broadcast, int32_t* progression) {
  moves<<<1, nullptr, stream>>>(halves, (uint8_t*)offsets, gathered, transposed, broadcast,
                                (uint8_t*)progression);
}

}  // namespace symm::kernel_test
