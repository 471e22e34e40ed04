// Internal to the SIMT functions: transfers by one lane, or by all lanes of the core together.
// Lanes are fibers of one core, so a collective transfer is cut into one piece per lane between two
// lane barriers.
#ifndef SYMM_SIMT_INL_H
#define SYMM_SIMT_INL_H

#include "device/impl/rma_inl.h"
#include "device_simt/shmem_simt_common_types.h"
#include "simt_api/asc_simt.h"

namespace symm_simt {

inline uint64_t lanes() { return uint64_t{blockDim.x} * blockDim.y * blockDim.z; }
inline uint64_t lane() {
  return threadIdx.x + uint64_t{blockDim.x} * (threadIdx.y + uint64_t{blockDim.y} * threadIdx.z);
}

// The piece of `bytes` that this lane copies: whole units, so that no element is torn.
struct Piece {
  uint64_t begin;
  uint64_t bytes;
};
inline Piece piece(uint64_t bytes, uint64_t unit) {
  const uint64_t count = bytes / unit;
  const uint64_t each = (count + lanes() - 1) / lanes();
  const uint64_t first = each * lane();
  if (first >= count) return {0, 0};
  return {first * unit, (count - first < each ? count - first : each) * unit};
}

template <thread_group_t group>
inline void copy(void* target, const void* source, uint64_t bytes, uint64_t unit) {
  if (group == ACLSHMEMI_THREADGROUP_THREAD) {
    if (bytes != 0) symm_dev::copy(target, source, bytes);
    return;
  }
  asc_syncthreads();
  const Piece mine = piece(bytes, unit);
  if (mine.bytes != 0) {
    symm_dev::copy(static_cast<char*>(target) + mine.begin,
                   static_cast<const char*>(source) + mine.begin, mine.bytes);
  }
  asc_syncthreads();
}

inline void* plain(const volatile void* pointer) { return const_cast<void*>(pointer); }

// Local source (global memory or unified buffer) to symmetric target of pe.
template <thread_group_t group>
inline void put(void* target, const volatile void* source, uint64_t bytes, uint64_t unit, int pe,
                const char* call) {
  char* to = symm_dev::remote(symm_dev::state(call), target, bytes, pe, call);
  copy<group>(to, plain(source), bytes, unit);
}

// Symmetric source of pe to local target.
template <thread_group_t group>
inline void get(volatile void* target, const void* source, uint64_t bytes, uint64_t unit, int pe,
                const char* call) {
  const char* from = symm_dev::remote(symm_dev::state(call), source, bytes, pe, call);
  copy<group>(plain(target), from, bytes, unit);
}

}  // namespace symm_simt

// NAME, C type of the SIMT families. char has two entries, and ours a third for plain char.
#define SYMM_SIMT_TYPES(FUNC) \
  FUNC(half, half)            \
  FUNC(float, float)          \
  FUNC(int8, int8_t)          \
  FUNC(int16, int16_t)        \
  FUNC(int32, int32_t)        \
  FUNC(int64, int64_t)        \
  FUNC(uint8, uint8_t)        \
  FUNC(uint16, uint16_t)      \
  FUNC(uint32, uint32_t)      \
  FUNC(uint64, uint64_t)      \
  FUNC(char, signed char)     \
  FUNC(char, unsigned char)   \
  FUNC(char, char)            \
  FUNC(bfloat16, bfloat16_t)

#endif
