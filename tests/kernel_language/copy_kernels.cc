#include "copy_kernels.h"

#include "kernel_operator.h"

using namespace AscendC;
using symm::kernel_test::CopyShape;
using symm::kernel_test::kCopyArea;
using symm::kernel_test::Misuse;

template <typename T>
[[bisheng::core_ratio(0, 1)]] __global__ __aicore__ void pad_in(GM_ADDR source, GM_ADDR area,
                                                                CopyShape shape) {
  TPipe pipe;
  TBuf<TPosition::VECCALC> buffer;
  pipe.InitBuffer(buffer, kCopyArea);
  LocalTensor<T> local = buffer.Get<T>();
  LocalTensor<uint8_t> bytes = local.template ReinterpretCast<uint8_t>();
  for (uint32_t i = 0; i < kCopyArea; ++i) bytes.SetValue(i, 0xEE);
  GlobalTensor<T> from;
  from.SetGlobalBuffer((__gm__ T*)source);
  const DataCopyExtParams params{shape.blocks, shape.bytes, shape.source_gap, shape.target_gap, 0};
  if (shape.pad) {
    DataCopyPad(
        local, from, params,
        DataCopyPadExtParams<T>{true, shape.left, shape.right, static_cast<T>(shape.value)});
  } else {
    DataCopyPad(local, from, params, {false, 0, 0, 0});
  }
  GlobalTensor<uint8_t> to;
  to.SetGlobalBuffer(area, kCopyArea);
  PipeBarrier<PIPE_ALL>();
  DataCopy(to, bytes, kCopyArea);
}

template <typename T>
[[bisheng::core_ratio(0, 1)]] __global__ __aicore__ void pad_out(GM_ADDR area, GM_ADDR target,
                                                                 CopyShape shape) {
  // A tensor by hand, without any pipe.
  LocalTensor<T> local;
  local.address_.logicPos = static_cast<uint8_t>(TPosition::VECIN);
  local.address_.bufferAddr = reinterpret_cast<uint64_t>((__ubuf__ T*)1024);
  local.address_.dataLen = kCopyArea;
  GlobalTensor<uint8_t> from;
  from.SetGlobalBuffer(area);
  DataCopy(local.template ReinterpretCast<uint8_t>(), from, kCopyArea);
  SetFlag<HardEvent::MTE2_MTE3>(EVENT_ID0);
  WaitFlag<HardEvent::MTE2_MTE3>(EVENT_ID0);
  GlobalTensor<T> to;
  to.SetGlobalBuffer(reinterpret_cast<__gm__ T*>(target));
  DataCopyPad(to, local,
              DataCopyExtParams(shape.blocks, shape.bytes, shape.source_gap, shape.target_gap, 0));
}

extern "C" [[bisheng::core_ratio(0, 1)]] __global__ __aicore__ void data_copy(GM_ADDR source,
                                                                              GM_ADDR target,
                                                                              CopyShape shape,
                                                                              int form) {
  TPipe pipe;
  TBuf<> buffer;
  pipe.InitBuffer(buffer, 2 * kCopyArea);
  auto first = buffer.GetWithOffset<int16_t>(kCopyArea / 2, 0);
  auto second = buffer.GetWithOffset<int16_t>(kCopyArea / 2, kCopyArea);
  GlobalTensor<int16_t> from, to;
  from.SetGlobalBuffer((__gm__ int16_t*)source);
  to.SetGlobalBuffer((__gm__ int16_t*)target);
  if (form == 0) {
    DataCopy(first, from, shape.bytes / 2);
    DataCopy(to, first, shape.bytes / 2);
  } else if (form == 1) {
    DataCopyParams params;
    params.blockCount = shape.blocks;
    params.blockLen = static_cast<uint16_t>(shape.bytes);
    params.srcStride = static_cast<uint16_t>(shape.source_gap);
    params.dstStride = static_cast<uint16_t>(shape.target_gap);
    DataCopy(first, from, params);
    DataCopy(to, first, kCopyArea / 2);
  } else {
    DataCopy(first, from, kCopyArea / 2);
    DataCopy(second, first, kCopyArea / 2);
    DataCopy(to[16], second[16], shape.bytes / 2);
  }
}

template <typename T>
class KernelAdd {
 public:
  __aicore__ inline KernelAdd() {}
  __aicore__ inline void Init(GM_ADDR x, GM_ADDR y, GM_ADDR z, uint32_t elements) {
    elements_ = elements;
    const uint64_t start = elements * GetBlockIdx();
    xGm.SetGlobalBuffer((__gm__ T*)x + start, elements);
    yGm.SetGlobalBuffer((__gm__ T*)y + start, elements);
    zGm.SetGlobalBuffer((__gm__ T*)z + start, elements);
    pipe.InitBuffer(inQueueX, 2, kTile * sizeof(T));
    pipe.InitBuffer(inQueueY, 2, kTile * sizeof(T));
    pipe.InitBuffer(outQueueZ, 2, kTile * sizeof(T));
  }
  __aicore__ inline void Process() {
    for (uint32_t done = 0; done < elements_; done += kTile) {
      const uint32_t n = elements_ - done < kTile ? elements_ - done : kTile;
      CopyIn(done, n);
      Compute(n);
      CopyOut(done, n);
    }
  }

 private:
  static constexpr uint32_t kTile = 256;

  __aicore__ inline void CopyIn(uint32_t at, uint32_t n) {
    LocalTensor<T> x = inQueueX.template AllocTensor<T>();
    LocalTensor<T> y = inQueueY.template AllocTensor<T>();
    const DataCopyExtParams params{1, static_cast<uint32_t>(n * sizeof(T)), 0, 0, 0};
    DataCopyPad(x, xGm[at], params, DataCopyPadExtParams<T>());
    DataCopyPad(y, yGm[at], params, DataCopyPadExtParams<T>());
    inQueueX.EnQue(x);
    inQueueY.EnQue(y);
  }
  __aicore__ inline void Compute(uint32_t n) {
    LocalTensor<T> x = inQueueX.template DeQue<T>();
    LocalTensor<T> y = inQueueY.template DeQue<T>();
    LocalTensor<T> z = outQueueZ.template AllocTensor<T>();
    Add(z, x, y, n);
    outQueueZ.template EnQue<T>(z);
    inQueueX.FreeTensor(x);
    inQueueY.FreeTensor(y);
  }
  __aicore__ inline void CopyOut(uint32_t at, uint32_t n) {
    LocalTensor<T> z = outQueueZ.template DeQue<T>();
    DataCopyPad(zGm[at], z, {1, static_cast<uint32_t>(n * sizeof(T)), 0, 0, 0});
    outQueueZ.FreeTensor(z);
  }

  TPipe pipe;
  TQue<QuePosition::VECIN, 2> inQueueX, inQueueY;
  TQue<QuePosition::VECOUT, 2> outQueueZ;
  GlobalTensor<T> xGm, yGm, zGm;
  uint32_t elements_ = 0;
};

#define ADD_KERNEL(NAME, T)                                                       \
  extern "C" [[bisheng::core_ratio(0, 1)]] __global__ __aicore__ void add_##NAME( \
      GM_ADDR x, GM_ADDR y, GM_ADDR z, uint32_t n) {                              \
    KernelAdd<T> op;                                                              \
    op.Init(x, y, z, n);                                                          \
    op.Process();                                                                 \
  }
ADD_KERNEL(half, half)
ADD_KERNEL(float, float)
ADD_KERNEL(int16, int16_t)
ADD_KERNEL(int32, int32_t)
ADD_KERNEL(bf16, bfloat16_t)

template <typename T>
__aicore__ inline void add_atomically(__gm__ T* sums, uint32_t elements) {
  TPipe pipe;
  TBuf<TPosition::VECOUT> buffer;
  pipe.InitBuffer(buffer, static_cast<uint32_t>(elements * sizeof(T)));
  LocalTensor<T> ones = buffer.Get<T>(elements);
  for (uint32_t i = 0; i < elements; ++i)
    ones.SetValue(i, static_cast<T>(static_cast<float>(i % 3)));
  GlobalTensor<T> to;
  to.SetGlobalBuffer(sums);
  SetAtomicAdd<T>();
  DataCopyPad(to, ones, DataCopyExtParams(1, static_cast<uint32_t>(elements * sizeof(T)), 0, 0, 0));
  SetAtomicNone();
}
extern "C" __global__ __vector__ void atomic_mode(__gm__ int32_t* sums, GM_ADDR half_sums,
                                                  uint32_t elements) {
  add_atomically(sums, elements);
  add_atomically((__gm__ half*)half_sums, elements);
}
extern "C" __global__ __vector__ void scalar_atomics(__gm__ int32_t* words, __gm__ float* numbers) {
  const int32_t me = static_cast<int32_t>(GetBlockIdx());
  AtomicAdd(words, 2);
  AtomicMax(words + 1, me);
  AtomicMin(words + 2, -me);
  if (AtomicCas(words + 3, 0, me + 1) == 0) AtomicAdd(words + 4, 1);
  if (AtomicExch(words + 5, 1) == 0) AtomicAdd(words + 6, 1);
  AtomicAdd(numbers, 0.5f);
  AtomicMax(numbers + 1, static_cast<float>(me));
}

extern "C" __global__ __vector__ void misuse(int what, GM_ADDR memory) {
  TPipe pipe;
  TQue<QuePosition::VECIN, 1> queue;
  TQue<QuePosition::VECIN, 2> other;
  TBuf<> buffer;
  TBuf<> small;
  GlobalTensor<int32_t> global;
  pipe.InitBuffer(queue, 2, 64);
  pipe.InitBuffer(other, 2, 64);
  pipe.InitBuffer(small, 64);
  LocalTensor<int32_t> t = queue.AllocTensor<int32_t>();
  switch (static_cast<Misuse>(what)) {
    case Misuse::kAllocTooMany:
      queue.AllocTensor<int32_t>();
      queue.AllocTensor<int32_t>();
      break;
    case Misuse::kDequeueEmpty:
      t = queue.DeQue<int32_t>();
      break;
    case Misuse::kEnqueueUnallocated:
      queue.EnQue(t[16]);
      break;
    case Misuse::kFreeTwice:
      queue.FreeTensor(t);
      queue.FreeTensor(t);
      break;
    case Misuse::kForeignTensor:
      other.FreeTensor(t);
      break;
    case Misuse::kQueueFull:
      queue.EnQue(t);
      queue.EnQue(queue.AllocTensor<int32_t>());
      break;
    case Misuse::kBufferNotMade:
      buffer.Get<int32_t>();
      break;
    case Misuse::kBufferTooSmall:
      small.GetWithOffset<int32_t>(16, 32);
      break;
    case Misuse::kUbTooSmall:
      pipe.InitBuffer(buffer, 192 * 1024);
      break;
    case Misuse::kTooManyBuffers:
      for (int i = 0; i < 64; ++i) pipe.InitBuffer(buffer, 32);
      break;
    case Misuse::kOutsideUb: {
      LocalTensor<int32_t> high(TPosition::VECIN, 192 * 1024 - 32, 16);
      global.SetGlobalBuffer((__gm__ int32_t*)memory);
      DataCopy(high, global, 16);
      break;
    }
    case Misuse::kPointerOutsideUb: {
      __ubuf__ int32_t* end = (__ubuf__ int32_t*)(192 * 1024 - 32);
      LocalTensor<int32_t> high(TPosition::VECIN, reinterpret_cast<uint64_t>(end), 16);
      global.SetGlobalBuffer((__gm__ int32_t*)memory);
      DataCopy(high, global, 16);
      break;
    }
    case Misuse::kNoGlobalBuffer:
      DataCopy(t, global, 16);
      break;
    case Misuse::kTensorTooSmall:
      global.SetGlobalBuffer((__gm__ int32_t*)memory);
      DataCopy(t, global, 32);
      break;
    case Misuse::kBadBlockLength:
      global.SetGlobalBuffer((__gm__ int32_t*)memory);
      DataCopyPad(global, t, DataCopyExtParams(1, 6, 0, 0, 0));
      break;
    case Misuse::kCount:
      break;
  }
}

extern "C" __global__ __vector__ void tensor_checks(__gm__ int32_t* results, GM_ADDR memory) {
  int at = 0;
  auto check = [&](bool good) { results[at++] = good ? 1 : 0; };
  {
    TPipe pipe;
    TBuf<> first, second;
    pipe.InitBuffer(first, 33);
    pipe.InitBuffer(second, 64);
    check(first.Get<int32_t>().GetPhyAddr() == 0 && second.Get<int32_t>().GetPhyAddr() == 64);
    check(GetTPipePtr() == &pipe);
    LocalTensor<int32_t> t = second.Get<int32_t>();
    check(t.GetSize() == 16 && t[4].GetPhyAddr() == 80 && t.GetPhyAddr(4) == 80);
    t.SetValue(3, 42);
    t(4) = 43;
    check(t.GetValue(3) == 42 && t[3].GetValue(1) == 43);
    __ubuf__ int32_t* pointer = (__ubuf__ int32_t*)t.GetPhyAddr();
    check(pointer[3] == 42);
    LocalTensor<uint8_t> bytes = t.ReinterpretCast<uint8_t>();
    check(bytes.GetSize() == 64 && bytes.GetValue(12) == 42);
    const TEventID id = pipe.AllocEventID<HardEvent::V_MTE3>();
    check(id == 0 && pipe.FetchEventID(HardEvent::V_MTE3) == 1 &&
          pipe.AllocEventID<HardEvent::V_MTE3>() == 1);
    pipe.ReleaseEventID<HardEvent::V_MTE3>(id);
    check(pipe.AllocEventID<HardEvent::V_MTE3>() == 0);
  }
  TPipe again;
  TBuf<> buffer;
  again.InitBuffer(buffer, 128);
  // The second pipe starts at 0 again and sees what the first one left at byte 76.
  check(buffer.Get<int32_t>().GetPhyAddr() == 0 && buffer.Get<int32_t>().GetValue(19) == 42);
  GlobalTensor<int32_t> global;
  global.SetGlobalBuffer((__gm__ int32_t*)memory, 8);
  global.SetValue(2, 9);
  check(global[2].GetValue(0) == 9 && global[2].GetSize() == 6 &&
        global.GetPhyAddr(2) == (__gm__ int32_t*)memory + 2);
  // UB elements of class type, through volatile pointers.
  __ubuf__ half* halves = reinterpret_cast<__ubuf__ half*>(uint64_t{96});
  halves[0] = half(1.5f);
  halves[1] = halves[0];
  half copy = halves[1];
  check(static_cast<float>(copy) == 1.5f && static_cast<float>(halves[0]) == 1.5f);
  const int64_t before = GetSystemCycle();
  check(GetSystemCycle() >= before);
}

namespace symm::kernel_test {

void launch_pad_in(aclrtStream stream, int element, uint8_t* source, uint8_t* area,
                   CopyShape shape) {
  if (element == 1) pad_in<uint8_t><<<1, nullptr, stream>>>(source, area, shape);
  if (element == 2) pad_in<int16_t><<<1, nullptr, stream>>>(source, area, shape);
  if (element == 4) pad_in<int32_t><<<1, nullptr, stream>>>(source, area, shape);
}
void launch_pad_out(aclrtStream stream, int element, uint8_t* area, uint8_t* target,
                    CopyShape shape) {
  if (element == 1) pad_out<uint8_t><<<1, nullptr, stream>>>(area, target, shape);
  if (element == 2) pad_out<int16_t><<<1, nullptr, stream>>>(area, target, shape);
  if (element == 4) pad_out<int32_t><<<1, nullptr, stream>>>(area, target, shape);
}
void launch_data_copy(aclrtStream stream, int form, uint8_t* source, uint8_t* target,
                      CopyShape shape) {
  data_copy<<<1, nullptr, stream>>>(source, target, shape, form);
}
void launch_add(aclrtStream stream, int type, uint32_t blocks, uint8_t* x, uint8_t* y, uint8_t* z,
                uint32_t elements) {
  switch (type) {
    case 0:
      add_half<<<blocks, nullptr, stream>>>(x, y, z, elements);
      break;
    case 1:
      add_float<<<blocks, nullptr, stream>>>(x, y, z, elements);
      break;
    case 2:
      add_int16<<<blocks, nullptr, stream>>>(x, y, z, elements);
      break;
    case 3:
      add_int32<<<blocks, nullptr, stream>>>(x, y, z, elements);
      break;
    default:
      add_bf16<<<blocks, nullptr, stream>>>(x, y, z, elements);
  }
}
void launch_atomic_mode(aclrtStream stream, uint32_t blocks, int32_t* sums, uint8_t* half_sums,
                        uint32_t elements) {
  atomic_mode<<<blocks, nullptr, stream>>>(sums, half_sums, elements);
}
void launch_scalar_atomics(aclrtStream stream, uint32_t blocks, int32_t* words, float* numbers) {
  scalar_atomics<<<blocks, nullptr, stream>>>(words, numbers);
}
void launch_misuse(aclrtStream stream, Misuse what, uint8_t* memory) {
  misuse<<<1, nullptr, stream>>>(static_cast<int>(what), memory);
}
void launch_tensor_checks(aclrtStream stream, int32_t* results, uint8_t* memory) {
  tensor_checks<<<1, nullptr, stream>>>(results, memory);
}

}  // namespace symm::kernel_test
