#include "core_kernels.h"

#include "kernel_operator.h"

using namespace AscendC;  // NOLINT: as kernels do

template <uint8_t mode>
__aicore__ inline void cross_rounds(int rounds, __gm__ int32_t* slots, __gm__ int32_t* errors) {
  const int64_t core = GetBlockIdx();
  const int64_t first = mode == 0 ? 0 : GetBlockIdx() - GetSubBlockIdx();
  const int64_t count = mode == 0 ? GetBlockNum() * GetTaskRation() : GetTaskRation();
  for (int round = 1; round <= rounds; ++round) {
    slots[core] = round;
    CrossCoreSetFlag<mode, PIPE_MTE3>(3);
    CrossCoreWaitFlag(3);
    for (int64_t i = first; i < first + count; ++i) errors[core] += slots[i] != round;
    CrossCoreSetFlag<mode, PIPE_MTE3>(3);
    CrossCoreWaitFlag<mode, PIPE_MTE2>(3);
  }
}

extern "C" __global__ __aicore__ void cross_all(int rounds, __gm__ int32_t* slots,
                                                __gm__ int32_t* errors) {
  if ASCEND_IS_AIV {
    cross_rounds<0>(rounds, slots, errors);
  }
}
extern "C" __global__ __aicore__ void cross_block(int rounds, __gm__ int32_t* slots,
                                                  __gm__ int32_t* errors) {
  if ASCEND_IS_AIV {
    cross_rounds<1>(rounds, slots, errors);
  }
}

extern "C" __global__ __aicore__ void cross_misuse(int what) {
  using symm::kernel_test::CrossMisuse;
  const bool last = GetBlockIdx() == GetBlockNum() * GetTaskRation() - 1;
  switch (static_cast<CrossMisuse>(what)) {
    case CrossMisuse::kWaitForCube:
      CrossCoreSetFlag<2, PIPE_MTE3>(1);
      CrossCoreWaitFlag<2>(1);
      break;
    case CrossMisuse::kNobodySets:
      CrossCoreWaitFlag(5);
      break;
    case CrossMisuse::kOthersEnd:
      if (last) return;
      CrossCoreSetFlag<0, PIPE_V>(5);
      CrossCoreWaitFlag(5);
      break;
    case CrossMisuse::kUnknownFlag:
      CrossCoreSetFlag<0, PIPE_V>(16);
      break;
    case CrossMisuse::kTooFarAhead:
      if (!last) {
        for (int i = 0; i < 16; ++i) CrossCoreSetFlag<0, PIPE_V>(6);
      }
      SyncAll();
      break;
    default:
      break;
  }
}

[[block_local]] static int32_t g_count = 7;
[[block_local]] static __gm__ int32_t* g_out;
namespace {
[[block_local]] int32_t g_table[4] = {1, 2, 3};
}
struct Pair {
  int32_t first;
  int32_t other;
};
[[block_local]] inline Pair g_pair{5, 6};

__aicore__ inline void count_up() {
  ++g_count;
  g_table[3] += g_table[0];
  g_pair.other += 2;
}

extern "C" [[bisheng::core_ratio(0, 1)]] __global__ __aicore__ void block_local_kernel(
    __gm__ int32_t* out) {
  g_out = out + GetBlockIdx() * 4;
  for (int64_t i = 0; i <= GetBlockIdx(); ++i) {
    count_up();
    SyncAll();  // other cores of this thread run in between
    for (int64_t k = GetBlockIdx(); k + 1 < GetBlockNum() && i == GetBlockIdx(); ++k) SyncAll();
  }
  g_out[0] = g_count;
  g_out[1] = g_table[3];
  g_out[2] = g_pair.other;
  g_out[3] = g_pair.first;
}

template <typename T>
__aicore__ inline void sort_kernel(__gm__ T* scores, __gm__ uint8_t* pairs,
                                   __gm__ uint16_t* taken) {
  TPipe pipe;
  TBuf<TPosition::VECCALC> buffer;
  pipe.InitBuffer(buffer, 16 * 1024);
  LocalTensor<T> input = buffer.GetWithOffset<T>(128, 0);
  LocalTensor<uint32_t> index = buffer.GetWithOffset<uint32_t>(128, 1024);
  LocalTensor<T> sorted = buffer.GetWithOffset<T>(128 * 8 / sizeof(T), 2048);
  LocalTensor<T> merged = buffer.GetWithOffset<T>(128 * 8 / sizeof(T), 4096);
  for (uint32_t i = 0; i < 128; ++i) {
    input.SetValue(i, scores[i]);
    index.SetValue(i, i);
  }
  Sort32(sorted, input, index, 4);
  const uint32_t step = 32 * 8 / sizeof(T);
  const MrgSortSrcList<T> lists(sorted, sorted[step], sorted[2 * step], sorted[3 * step]);
  const uint16_t lengths[4] = {32, 32, 32, 32};
  MrgSort(merged, lists, MrgSort4Info(lengths, false, 15, 1));
  GlobalTensor<uint8_t> out;
  out.SetGlobalBuffer(pairs);
  DataCopy(out, merged.template ReinterpretCast<uint8_t>(), 128 * 8);
  MrgSort(merged, lists, MrgSort4Info(lengths, true, 3, 1));
  GetMrgSortResult(taken[0], taken[1], taken[2], taken[3]);
}
[[bisheng::core_ratio(0, 1)]] __global__ __aicore__ void sort_float(__gm__ float* scores,
                                                                    GM_ADDR pairs,
                                                                    __gm__ uint16_t* taken) {
  sort_kernel<float>(scores, pairs, taken);
}
[[bisheng::core_ratio(0, 1)]] __global__ __aicore__ void sort_half(__gm__ half* scores,
                                                                   GM_ADDR pairs,
                                                                   __gm__ uint16_t* taken) {
  sort_kernel<half>(scores, pairs, taken);
}

constexpr uint32_t kCompared = 128;  // two repeats of float

[[bisheng::core_ratio(0, 1)]] __global__ __aicore__ void masked_compare(
    __gm__ float* a, __gm__ float* b, uint64_t mask, GM_ADDR bits, __gm__ float* by_bits,
    __gm__ float* by_scalar, __gm__ float* by_register) {
  TPipe pipe;
  TBuf<TPosition::VECCALC> buffer;
  pipe.InitBuffer(buffer, 8 * 1024);
  auto x = buffer.GetWithOffset<float>(kCompared, 0);
  auto y = buffer.GetWithOffset<float>(kCompared, 1024);
  auto result = buffer.GetWithOffset<float>(kCompared, 2048);
  auto flags = buffer.GetWithOffset<uint8_t>(32, 3072);
  GlobalTensor<float> source;
  source.SetGlobalBuffer(a);
  DataCopy(x, source, kCompared);
  source.SetGlobalBuffer(b);
  DataCopy(y, source, kCompared);
  Duplicate(flags, uint8_t{0}, 32);
  const BinaryRepeatParams params(1, 1, 1, 8, 8, 8);
  Compare(flags, x, y, CMPMODE::LT, mask, 2, params);
  GlobalTensor<uint8_t> out_bits;
  out_bits.SetGlobalBuffer(bits);
  DataCopy(out_bits, flags, 32);
  GlobalTensor<float> out;
  Duplicate(result, -1.0f, kCompared);
  Select(result, flags, x, y, SELMODE::VSEL_TENSOR_TENSOR_MODE, mask, 2, params);
  out.SetGlobalBuffer(by_bits);
  DataCopy(out, result, kCompared);
  Duplicate(result, -1.0f, kCompared);
  Select(result, flags, x, 100.0f, SELMODE::VSEL_TENSOR_SCALAR_MODE, mask, 2, params);
  out.SetGlobalBuffer(by_scalar);
  DataCopy(out, result, kCompared);
  // Bits of the first repeat only; both repeats choose by them.
  uint64_t words[2] = {~uint64_t{0}, 0};
  Compare(x, y, CMPMODE::GE, words, params);
  SetVectorMask<float>(0, ~uint64_t{0});
  Select<float>(result, x, y, 2, params);
  ResetMask();
  out.SetGlobalBuffer(by_register);
  DataCopy(out, result, kCompared);
}

[[bisheng::core_ratio(0, 1)]] __global__ __aicore__ void broadcast(__gm__ float* row,
                                                                   __gm__ float* column,
                                                                   __gm__ float* out) {
  LocalTensor<float> source(TPosition::VECCALC, 0, 8);
  LocalTensor<float> result(TPosition::VECCALC, 1024, 32);
  GlobalTensor<float> from;
  GlobalTensor<float> to;
  const uint32_t shape[2] = {4, 8};
  from.SetGlobalBuffer(row);
  DataCopy(source, from, 8);
  const uint32_t of_row[2] = {1, 8};
  Broadcast<float, 2, 0>(result, source, shape, of_row);
  to.SetGlobalBuffer(out);
  DataCopy(to, result, 32);
  from.SetGlobalBuffer(column);
  DataCopy(source, from, 8);
  const uint32_t of_column[2] = {4, 1};
  Broadcast<float, 2, 1>(result, source, shape, of_column);
  DataCopy(to[32], result, 32);
  const uint32_t eight[1] = {8};
  const uint32_t one[1] = {1};
  Broadcast<float, 1, 0>(result, source, eight, one);
  DataCopy(to[64], result, 8);
}

namespace symm::kernel_test {

void launch_cross_rounds(aclrtStream stream, int mode, uint32_t blocks, int rounds, int32_t* slots,
                         int32_t* errors) {
  if (mode == 0) {
    cross_all<<<blocks, nullptr, stream>>>(rounds, slots, errors);
  } else {
    cross_block<<<blocks, nullptr, stream>>>(rounds, slots, errors);
  }
}

void launch_cross_misuse(aclrtStream stream, CrossMisuse what, uint32_t blocks) {
  cross_misuse<<<blocks, nullptr, stream>>>(static_cast<int>(what));
}

void launch_block_local(aclrtStream stream, uint32_t blocks, int32_t* out) {
  block_local_kernel<<<blocks, nullptr, stream>>>(out);
}
int32_t host_block_local() { return g_count++; }

void launch_sort_float(aclrtStream stream, float* scores, uint8_t* pairs, uint16_t* taken) {
  sort_float<<<1, nullptr, stream>>>(scores, pairs, taken);
}
void launch_sort_half(aclrtStream stream, uint8_t* scores, uint8_t* pairs, uint16_t* taken) {
  sort_half<<<1, nullptr, stream>>>(reinterpret_cast<half*>(scores), pairs, taken);
}

void launch_masked_compare(aclrtStream stream, float* a, float* b, uint64_t mask, uint8_t* bits,
                           float* by_bits, float* by_scalar, float* by_register) {
  masked_compare<<<1, nullptr, stream>>>(a, b, mask, bits, by_bits, by_scalar, by_register);
}
void launch_broadcast(aclrtStream stream, float* row, float* column, float* out) {
  broadcast<<<1, nullptr, stream>>>(row, column, out);
}

}  // namespace symm::kernel_test
