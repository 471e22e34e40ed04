// Internal to the kernel side: element-wise reduction over the members' copies of one range. Any
// core; touches nothing but its arguments. Members are always taken in team order, so every PE that
// reduces the same range gets the same bits.
#ifndef SYMM_DEVICE_COLL_REDUCE_INL_H
#define SYMM_DEVICE_COLL_REDUCE_INL_H

#include <type_traits>

#include "ascendc/types.h"
#include "device/impl/copy_inl.h"
#include "host_device/shmem_collective_types.h"

namespace symm_dev {

// Elements that are accumulated before they are written.
constexpr uint64_t kReduceTile = 256;

// float for the two-byte types, so that a sum is rounded once; the type itself for the others.
template <typename T>
using Accumulator = std::conditional_t<symm::is_small_float_v<T>, float, T>;

template <typename T>
inline void widen(const T* from, Accumulator<T>* to, uint64_t count) {
  if constexpr (std::is_same_v<T, half>) {
    symm_rt_half_to_float(reinterpret_cast<const uint16_t*>(from), to, count);
  } else {
    for (uint64_t i = 0; i < count; ++i) to[i] = static_cast<Accumulator<T>>(from[i]);
  }
}

template <typename T>
inline void narrow(const Accumulator<T>* from, T* to, uint64_t count) {
  if constexpr (std::is_same_v<T, half>) {
    symm_rt_float_to_half(from, reinterpret_cast<uint16_t*>(to), count);
  } else {
    for (uint64_t i = 0; i < count; ++i) to[i] = static_cast<T>(from[i]);
  }
}

// Integer sums wrap around.
template <typename A>
inline A plus(A a, A b) {
  if constexpr (std::is_integral_v<A>) {
    return static_cast<A>(static_cast<uint64_t>(a) + static_cast<uint64_t>(b));
  } else {
    return a + b;
  }
}

template <typename A>
inline void accumulate(A* sum, const A* next, uint64_t count, aclshmemx_reduce_op_t op) {
  switch (op) {
    case ACLSHMEMX_SUM:
      for (uint64_t i = 0; i < count; ++i) sum[i] = plus(sum[i], next[i]);
      break;
    case ACLSHMEMX_MAX:
      for (uint64_t i = 0; i < count; ++i) sum[i] = next[i] > sum[i] ? next[i] : sum[i];
      break;
    case ACLSHMEMX_MIN:
      for (uint64_t i = 0; i < count; ++i) sum[i] = next[i] < sum[i] ? next[i] : sum[i];
      break;
  }
}

// out[i] = copies(0)[i] op ... op copies(members - 1)[i] for count elements. copies(m) is where the
// elements of member m start.
template <typename T, typename Copies>
inline void reduce(T* out, const Copies& copies, int members, uint64_t count,
                   aclshmemx_reduce_op_t op) {
  Accumulator<T> sum[kReduceTile];
  Accumulator<T> next[kReduceTile];
  for (uint64_t from = 0; from < count; from += kReduceTile) {
    const uint64_t n = count - from < kReduceTile ? count - from : kReduceTile;
    widen(static_cast<const T*>(copies(0)) + from, sum, n);
    for (int member = 1; member < members; ++member) {
      const T* source = static_cast<const T*>(copies(member)) + from;
      if constexpr (symm::is_small_float_v<T>) {
        widen(source, next, n);
        accumulate(sum, static_cast<const Accumulator<T>*>(next), n, op);
      } else {
        accumulate(sum, source, n, op);
      }
    }
    narrow(sum, out + from, n);
  }
}

inline uint64_t size_of(aclshmemx_data_type_t type) {
  switch (type) {
    case ACLSHMEMX_INT8:
    case ACLSHMEMX_UINT8:
      return 1;
    case ACLSHMEMX_INT16:
    case ACLSHMEMX_UINT16:
    case ACLSHMEMX_FLOAT16:
    case ACLSHMEMX_BFLOAT16:
      return 2;
    case ACLSHMEMX_INT32:
    case ACLSHMEMX_UINT32:
    case ACLSHMEMX_FLOAT32:
      return 4;
    case ACLSHMEMX_INT64:
    case ACLSHMEMX_UINT64:
    case ACLSHMEMX_FLOAT64:
      return 8;
  }
  return 0;
}

// The same with the element type as a value.
template <typename Copies>
inline void reduce_as(aclshmemx_data_type_t type, void* out, const Copies& copies, int members,
                      uint64_t count, aclshmemx_reduce_op_t op) {
  auto run = [&](auto* typed) { reduce(typed, copies, members, count, op); };
  switch (type) {
    case ACLSHMEMX_INT8:
      return run(static_cast<int8_t*>(out));
    case ACLSHMEMX_INT16:
      return run(static_cast<int16_t*>(out));
    case ACLSHMEMX_INT32:
      return run(static_cast<int32_t*>(out));
    case ACLSHMEMX_INT64:
      return run(static_cast<int64_t*>(out));
    case ACLSHMEMX_UINT8:
      return run(static_cast<uint8_t*>(out));
    case ACLSHMEMX_UINT16:
      return run(static_cast<uint16_t*>(out));
    case ACLSHMEMX_UINT32:
      return run(static_cast<uint32_t*>(out));
    case ACLSHMEMX_UINT64:
      return run(static_cast<uint64_t*>(out));
    case ACLSHMEMX_FLOAT16:
      return run(static_cast<half*>(out));
    case ACLSHMEMX_BFLOAT16:
      return run(static_cast<bfloat16_t*>(out));
    case ACLSHMEMX_FLOAT32:
      return run(static_cast<float*>(out));
    case ACLSHMEMX_FLOAT64:
      return run(static_cast<double*>(out));
  }
}

}  // namespace symm_dev
#endif
