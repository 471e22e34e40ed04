#include "simt_kernels.h"

#include "kernel_operator.h"
#include "simt_api/asc_simt.h"

using symm::kernel_test::LaneDims;

namespace {

__simt_callee__ inline uint32_t lane_number() {
  return threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z);
}

__simt_vf__ __launch_bounds__(1024) inline void write_indices(__gm__ uint32_t* records) {
  const uint32_t lanes = blockDim.x * blockDim.y * blockDim.z;
  __gm__ uint32_t* mine = records + 5 * (blockIdx.x * lanes + lane_number());
  mine[0] = threadIdx.x;
  mine[1] = threadIdx.y;
  mine[2] = threadIdx.z;
  mine[3] = blockIdx.x;
  mine[4] = lanes;
}

__simt_vf__ __launch_bounds__(1024) inline void reduce_lanes(__gm__ int32_t* sums, int32_t rounds) {
  __ubuf__ int32_t partial[1024];
  __ubuf__ int32_t total;
  const uint32_t lane = threadIdx.x;
  for (int32_t round = 0; round < rounds; ++round) {
    partial[lane] = static_cast<int32_t>(lane) + round;
    asc_syncthreads();
    for (uint32_t width = blockDim.x / 2; width != 0; width /= 2) {
      if (lane < width) partial[lane] = partial[lane] + partial[lane + width];
      asc_syncthreads();
    }
    if (lane == 0) total = round == 0 ? partial[0] : total + partial[0];
    asc_syncthreads();
  }
  if (lane == blockDim.x - 1) sums[blockIdx.x] = total;
}

__simt_vf__ inline void chain(__gm__ int32_t* flags) {
  if (threadIdx.x == 0) {
    const uint32_t me = blockIdx.x;
    if (me + 1 < gridDim.x) {
      while (__atomic_load_n(flags + me + 1, __ATOMIC_ACQUIRE) == 0) AscendC::GetSystemCycle();
    }
    __atomic_store_n(flags + me, static_cast<int32_t>(me + 1), __ATOMIC_RELEASE);
  }
  asc_syncthreads();
}

struct CountEnd {
  int32_t* count;
  ~CountEnd() { __atomic_fetch_add(count, 1, __ATOMIC_RELAXED); }
};

__simt_vf__ inline void trap_in_lane(__gm__ int32_t* destroyed) {
  CountEnd end{destroyed};
  if (threadIdx.x == 5) trap();
  asc_syncthreads();
}

__simt_vf__ inline void nothing() {}

__simt_vf__ inline void leave_early(__gm__ int32_t* passed) {
  if (threadIdx.x % 2 == 1) return;
  asc_syncthreads();
  AscendC::AtomicAdd(passed, 1);
}

}  // namespace

extern "C" __global__ __vector__ void lane_indices(__gm__ uint32_t* records, LaneDims dims) {
  asc_vf_call<write_indices>(dim3(dims.x, dims.y, dims.z), records);
}
extern "C" __global__ __vector__ void lane_reduce(__gm__ int32_t* sums, uint32_t lanes,
                                                  int32_t rounds) {
  asc_vf_call<reduce_lanes>(dim3(lanes), sums, rounds);
}
extern "C" __global__ __vector__ void lane_chain(__gm__ int32_t* flags) {
  asc_vf_call<chain>(dim3{64, 1, 1}, flags);
}
extern "C" __global__ __vector__ void lane_trap(__gm__ int32_t* destroyed) {
  asc_vf_call<trap_in_lane>(dim3(32), destroyed);
}
extern "C" __global__ __vector__ void too_many_lanes() { asc_vf_call<nothing>(dim3(1025)); }
extern "C" __global__ __vector__ void early_exit(__gm__ int32_t* passed) {
  asc_vf_call<leave_early>(dim3(64), passed);
}

namespace symm::kernel_test {

void launch_lane_indices(aclrtStream stream, uint32_t blocks, LaneDims dims, uint32_t* records) {
  lane_indices<<<blocks, 0, stream>>>(records, dims);
}
void launch_lane_reduce(aclrtStream stream, uint32_t blocks, uint32_t lanes, int rounds,
                        int32_t* sums) {
  lane_reduce<<<blocks, 0, stream>>>(sums, lanes, rounds);
}
void launch_lane_chain(aclrtStream stream, uint32_t blocks, int32_t* flags) {
  lane_chain<<<blocks, 0, stream>>>(flags);
}
void launch_lane_trap(aclrtStream stream, int32_t* destroyed) {
  lane_trap<<<1, 0, stream>>>(destroyed);
}
void launch_too_many_lanes(aclrtStream stream) { too_many_lanes<<<1, 0, stream>>>(); }
void launch_early_exit(aclrtStream stream, int32_t* passed) {
  early_exit<<<1, 0, stream>>>(passed);
}

}  // namespace symm::kernel_test
