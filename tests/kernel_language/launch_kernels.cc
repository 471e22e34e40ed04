#include "launch_kernels.h"

#include "kernel_operator.h"

using namespace AscendC;

// As kernels do it: the word must stay usable after this.
#undef inline
#define inline inline __attribute__((always_inline))

__aicore__ inline void write_identity(__gm__ int64_t* records, __gm__ int64_t* count) {
  __gm__ int64_t* mine = records + 4 * AscendC::GetBlockIdx();
  mine[0] = GetBlockIdx();
  mine[1] = GetBlockNum();
  mine[2] = GetSubBlockIdx();
  mine[3] = GetSubBlockNum();
  AtomicAdd(count, int64_t{1});
}

extern "C" __global__ __aicore__ void identity_mix(__gm__ int64_t* records, GM_ADDR count) {
  if ASCEND_IS_AIV {
    write_identity(records, (__gm__ int64_t*)count);
  }
  if ASCEND_IS_AIC
    return;
}
extern "C" [[bisheng::core_ratio(0, 1)]] __global__ __aicore__ void identity_vector(
    __gm__ int64_t* records, GM_ADDR count) {
  if (g_coreType == AscendC::AIV) write_identity(records, (__gm__ int64_t*)count);
}

extern "C" __global__ __vector__ void ub_addresses(__gm__ int32_t* sums) {
  const int32_t me = static_cast<int32_t>(GetBlockIdx());
  const uint64_t first = 0;
  __ubuf__ int32_t* flags[2] = {reinterpret_cast<__ubuf__ int32_t*>(first),
                                (__ubuf__ int32_t*)(32)};
  *flags[0] = me;
  *flags[1] = me + 1;
  *(__ubuf__ int32_t*)64 = 7;
  // The other blocks write their own buffers meanwhile.
  SyncAll<true>();
  __ubuf__ uint8_t* bytes = (__ubuf__ uint8_t*)flags[1];
  sums[me] = *flags[0] + *reinterpret_cast<__ubuf__ int32_t*>(bytes) + ((__ubuf__ int32_t*)64)[0];
}

template <typename T>
__aicore__ inline void check_slots(__gm__ T* slots, __gm__ T* errors, int rounds) {
  const int64_t me = GetBlockIdx();
  const int64_t all = GetBlockNum() * GetTaskRation();
  for (int round = 1; round <= rounds; ++round) {
    slots[me] = round;
    SyncAll();
    for (int64_t i = 0; i < all; ++i) {
      if (slots[i] != round) AtomicAdd(errors, 1);
    }
    SyncAll<true>();
  }
}

#define SYNC_KERNELS(T)                                                                     \
  extern "C" __global__ __aicore__ void sync_mix_##T(__gm__ T* s, __gm__ T* e, int r) {     \
    check_slots(s, e, r);                                                                   \
  }                                                                                         \
  extern "C" [[bisheng::core_ratio(0, 1)]] __global__ __aicore__ void sync_vector_##T(      \
      __gm__ T* s, __gm__ T* e, int r) {                                                    \
    check_slots(s, e, r);                                                                   \
  }                                                                                         \
  void sync_##T(uint32_t blocks, bool mix, int r, void* stream, __gm__ T* s, __gm__ T* e) { \
    if (mix)                                                                                \
      sync_mix_##T<<<blocks, nullptr, stream>>>(s, e, r);                                   \
    else                                                                                    \
      sync_vector_##T<<<blocks, nullptr, stream>>>(s, e, r);                                \
  }
SYNC_KERNELS(int32_t)

using symm::kernel_test::ByValue;

__aicore__ inline bool first_core() { return GetBlockIdx() == 0; }

extern "C" __aicore__ __global__ void swapped_order(__gm__ int32_t* out) {
  if (first_core()) out[0] = 10;
}
template <typename T, int place>
__global__ __aicore__ void with_default(__gm__ T* out, T value = 11) {
  if (first_core()) out[place] = value;
}
template <typename A, typename B>
[[bisheng::core_ratio(0, 1)]] __global__ __aicore__ void deduced(A out, B value) {
  if (first_core()) out[2] = value;
}
__global__ __aicore__ void overloaded(__gm__ int32_t* out) {
  if (first_core()) out[3] = 13;
}
__global__ __aicore__ void overloaded(__gm__ int32_t* out, int32_t value) {
  if (first_core()) out[4] = value;
}
template <typename Kernel>
__global__ __aicore__ void adapter(typename Kernel::Parameters parameters) {
  if (first_core()) Kernel()(parameters);
}
struct Scale {
  using Parameters = ByValue;
  void operator()(const ByValue& p) const { p.out[5] = p.factor * p.table[3]; }
};
__global__ __aicore__ void zeros(__gm__ int32_t* out, __gm__ int32_t* none, int32_t zero) {
  if (first_core()) out[6] = none == nullptr && zero == 0 ? 16 : -1;
}
namespace inner {
struct Kernels {
  static __global__ __aicore__ void member(__gm__ int32_t* out) {
    if (first_core()) out[7] = 17;
  }
};
}  // namespace inner

template <typename T>
void launch_in_template(aclrtStream stream, T* out) {
  void (*chosen)(T*, T) = with_default<T, 8>;
  chosen<<<1, 0, stream>>>(out, 18);
  with_default<T, 9><<<(sizeof(T) > 2 ? 1 : 2), 0, stream>>>(out, static_cast<T>(19));
}

extern "C" __global__ __vector__ void trap_on(int which) {
  SyncAll();
  if (GetBlockIdx() == which) trap();
  // The others wait for the core that is gone and must be released by the error.
  SyncAll();
}

namespace symm::kernel_test {

void launch_identity(uint32_t blocks, bool mix, aclrtStream stream, int64_t* records,
                     int64_t* count) {
  if (mix) {
    identity_mix<<<blocks, nullptr, stream>>>(records, reinterpret_cast<uint8_t*>(count));
  } else {
    identity_vector<<<blocks, nullptr, stream>>>(records, reinterpret_cast<uint8_t*>(count));
  }
}
void launch_ub_addresses(uint32_t blocks, aclrtStream stream, int32_t* sums) {
  ub_addresses<<<blocks, nullptr, stream>>>(sums);
}
void launch_sync_all(uint32_t blocks, bool mix, int rounds, aclrtStream stream, int32_t* slots,
                     int32_t* errors) {
  sync_int32_t(blocks, mix, rounds, stream, slots, errors);
}
void launch_shapes(aclrtStream stream, int32_t* out) {
  swapped_order<<<1, nullptr, stream>>>(out);
  with_default<int32_t, 1><<<1, nullptr, stream>>>(out);
  deduced<<<1, 0, stream>>>(out, 12);
  overloaded<<<1, nullptr, stream>>>(out);
  overloaded<<<static_cast<uint32_t>(1), nullptr, (stream)>>>(out, 14);
  adapter<Scale><<<1, nullptr, stream>>>(ByValue{out, 3, {1, 2, 3, 5}});
  zeros<<<1, 0, stream>>>(out, 0, 0);
  inner::Kernels::member<<<1, nullptr, stream>>>(out);
  launch_in_template(stream, out);
}
void launch_trap(uint32_t blocks, int which, aclrtStream stream) {
  trap_on<<<blocks, nullptr, stream>>>(which);
}

}  // namespace symm::kernel_test
