// SIMT functions: asc_vf_call runs a function on many lanes of the calling core and waits for them.
// Lanes are fibers, so they may wait for each other; arrays that a SIMT function declares as
// __ubuf__ are shared by the lanes of the core.
#pragma once

#include <tuple>
#include <type_traits>

#include "ascendc/core.h"
#include "ascendc/simt_abi.h"

struct dim3 {
  uint32_t x;
  uint32_t y;
  uint32_t z;
  constexpr dim3(uint32_t x_lanes = 1, uint32_t y_lanes = 1, uint32_t z_lanes = 1)
      : x(x_lanes), y(y_lanes), z(z_lanes) {}
  constexpr dim3(const symm_index3& index) : x(index.x), y(index.y), z(index.z) {}
};

inline constexpr int32_t warpSize = 32;

// Runs function(arguments...) once per lane: up to 1024 lanes in up to three dimensions. Blocks
// until all have ended. Every lane gets its own copy of the arguments.
template <auto function, typename... A>
inline void asc_vf_call(dim3 lanes, A... arguments) {
  std::tuple<A...> values(arguments...);
  const uint32_t dims[3] = {lanes.x, lanes.y, lanes.z};
  symm_rt_lanes(
      dims,
      [](void* all) {
        std::apply([](const A&... each) { function(each...); },
                   *static_cast<const std::tuple<A...>*>(all));
      },
      &values);
}

// Barrier over the lanes of this core that have not ended.
inline void asc_syncthreads() { symm_rt_lane_barrier(); }
// Orders the memory accesses of the calling lane before and after it.
inline void asc_threadfence() { __atomic_thread_fence(__ATOMIC_SEQ_CST); }
inline void asc_threadfence_block() { __atomic_thread_fence(__ATOMIC_SEQ_CST); }

namespace symm {

// What shmem-cc makes of `__ubuf__ T name[n];` in a SIMT function: memory that all lanes of the
// call share.
template <typename Array>
inline Array* simt_shared(const void* key) {
  static_assert(std::is_trivially_destructible_v<std::remove_all_extents_t<Array>>,
                "memory shared by SIMT lanes holds plain data");
  return static_cast<Array*>(symm_rt_lane_shared(key, sizeof(Array)));
}

}  // namespace symm
