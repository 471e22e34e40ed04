// The atomic mode of a core (copies to global memory combine instead of replace) and scalar atomics
// on global memory. Sequentially consistent; other PEs may be writing the same memory.
#pragma once

#include "ascendc/tensor.h"

namespace symm::kernel {

enum AtomicMode : uint32_t { kAtomicNone = 0, kAtomicAdd = 1, kAtomicMax = 2, kAtomicMin = 3 };
enum AtomicType : uint32_t {
  kAtomicFloat = 1,
  kAtomicHalf = 2,
  kAtomicBrain = 3,
  kAtomicInt32 = 4,
  kAtomicInt16 = 5,
  kAtomicInt8 = 6,
};

template <typename T>
constexpr uint32_t atomic_type() {
  if constexpr (std::is_same_v<T, float>) return kAtomicFloat;
  if constexpr (std::is_same_v<T, ::half>) return kAtomicHalf;
  if constexpr (std::is_same_v<T, ::bfloat16_t>) return kAtomicBrain;
  if constexpr (std::is_same_v<T, int32_t>) return kAtomicInt32;
  if constexpr (std::is_same_v<T, int16_t>) return kAtomicInt16;
  if constexpr (std::is_same_v<T, int8_t>) return kAtomicInt8;
  return 0;
}

template <uint64_t bytes>
struct BitsOf;
template <>
struct BitsOf<1> {
  using type = uint8_t;
};
template <>
struct BitsOf<2> {
  using type = uint16_t;
};
template <>
struct BitsOf<4> {
  using type = uint32_t;
};
template <>
struct BitsOf<8> {
  using type = uint64_t;
};

// Replaces *target by change(old) atomically; returns the old value.
template <typename T, typename Change>
T atomic_update(T* target, Change change) {
  using Bits = typename BitsOf<sizeof(T)>::type;
  auto* word = reinterpret_cast<Bits*>(target);
  // acquire on failure too: the value read decides what is written
  Bits seen = __atomic_load_n(word, __ATOMIC_ACQUIRE);
  while (true) {
    const T old = __builtin_bit_cast(T, seen);
    const Bits wanted = __builtin_bit_cast(Bits, static_cast<T>(change(old)));
    if (__atomic_compare_exchange_n(word, &seen, wanted, true, __ATOMIC_SEQ_CST, __ATOMIC_ACQUIRE))
      return old;
  }
}

template <typename T>
void combine(T* target, const T* source, uint64_t bytes, uint32_t mode) {
  for (uint64_t i = 0; i < bytes / sizeof(T); ++i) {
    const T value = source[i];
    if (mode == kAtomicMax) {
      atomic_update(target + i, [value](T old) { return old < value ? value : old; });
    } else if (mode == kAtomicMin) {
      atomic_update(target + i, [value](T old) { return value < old ? value : old; });
    } else if constexpr (std::is_integral_v<T>) {
      __atomic_fetch_add(target + i, value, __ATOMIC_SEQ_CST);
    } else {
      atomic_update(target + i, [value](T old) { return old + value; });
    }
  }
}

inline void combine_typed(void* target, const void* source, uint64_t bytes, uint32_t mode,
                          uint32_t type) {
  switch (type) {
    case kAtomicFloat:
      return combine(static_cast<float*>(target), static_cast<const float*>(source), bytes, mode);
    case kAtomicHalf:
      return combine(static_cast<::half*>(target), static_cast<const ::half*>(source), bytes, mode);
    case kAtomicBrain:
      return combine(static_cast<::bfloat16_t*>(target), static_cast<const ::bfloat16_t*>(source),
                     bytes, mode);
    case kAtomicInt32:
      return combine(static_cast<int32_t*>(target), static_cast<const int32_t*>(source), bytes,
                     mode);
    case kAtomicInt16:
      return combine(static_cast<int16_t*>(target), static_cast<const int16_t*>(source), bytes,
                     mode);
    case kAtomicInt8:
      return combine(static_cast<int8_t*>(target), static_cast<const int8_t*>(source), bytes, mode);
  }
  fail("copy to global memory: unknown atomic type %u", type);
}

// One contiguous store from UB to GM under the core's atomic mode.
template <typename T>
void store_to_global(T* target, const T* source, uint64_t bytes) {
  const symm_core* current = symm_rt_core();
  if (__builtin_expect(current != nullptr && current->atomic_mode != kAtomicNone, 0)) {
    combine_typed(target, source, bytes, current->atomic_mode, current->atomic_type);
  } else {
    std::memcpy(static_cast<void*>(target), source, bytes);
  }
}

inline void set_atomic(uint32_t mode, uint32_t type, const char* call) {
  symm_core* current = core(call);
  current->atomic_mode = mode;
  current->atomic_type = type;
}

}  // namespace symm::kernel

namespace AscendC {

// Until SetAtomicNone, copies from UB to GM add (or take the maximum or minimum) element by
// element, as elements of T.
template <typename T>
inline void SetAtomicAdd() {
  static_assert(symm::kernel::atomic_type<T>() != 0,
                "SetAtomicAdd: int8, int16, int32, half, bfloat16 or float");
  symm::kernel::set_atomic(symm::kernel::kAtomicAdd, symm::kernel::atomic_type<T>(),
                           "SetAtomicAdd");
}
template <typename T>
inline void SetAtomicMax() {
  static_assert(symm::kernel::atomic_type<T>() != 0,
                "SetAtomicMax: int8, int16, int32, half, bfloat16 or float");
  symm::kernel::set_atomic(symm::kernel::kAtomicMax, symm::kernel::atomic_type<T>(),
                           "SetAtomicMax");
}
template <typename T>
inline void SetAtomicMin() {
  static_assert(symm::kernel::atomic_type<T>() != 0,
                "SetAtomicMin: int8, int16, int32, half, bfloat16 or float");
  symm::kernel::set_atomic(symm::kernel::kAtomicMin, symm::kernel::atomic_type<T>(),
                           "SetAtomicMin");
}
inline void SetAtomicNone() {
  symm::kernel::set_atomic(symm::kernel::kAtomicNone, 0, "SetAtomicNone");
}
inline void DisableDmaAtomic() { SetAtomicNone(); }

// Scalar atomics on global memory; the result is the old value. 32- and 64-bit integers and float.
template <typename T, typename V>
inline T AtomicAdd(__gm__ T* address, V value) {
  if constexpr (std::is_integral_v<T>) {
    return __atomic_fetch_add(address, static_cast<T>(value), __ATOMIC_SEQ_CST);
  } else {
    return symm::kernel::atomic_update(address,
                                       [value](T old) { return old + static_cast<T>(value); });
  }
}
template <typename T, typename V>
inline T AtomicExch(__gm__ T* address, V value) {
  return symm::kernel::atomic_update(address, [value](T) { return static_cast<T>(value); });
}
// Stores `value` if the old value equals `expected`.
template <typename T, typename E, typename V>
inline T AtomicCas(__gm__ T* address, E expected, V value) {
  return symm::kernel::atomic_update(address, [=](T old) {
    return old == static_cast<T>(expected) ? static_cast<T>(value) : old;
  });
}
template <typename T, typename V>
inline T AtomicMax(__gm__ T* address, V value) {
  const T other = static_cast<T>(value);
  return symm::kernel::atomic_update(address, [other](T old) { return old < other ? other : old; });
}
template <typename T, typename V>
inline T AtomicMin(__gm__ T* address, V value) {
  const T other = static_cast<T>(value);
  return symm::kernel::atomic_update(address, [other](T old) { return other < old ? other : old; });
}

}  // namespace AscendC
