// Atomics of host threads on one element. All are sequentially consistent: on the processors we
// know a read-modify-write is that anyway, and it is the fence that a look at the watchers needs.
// The names of the interface promise less (docs: fence orders them with other operations). Threads:
// any.
#pragma once

#include <cstddef>

#include "base/status.h"
#include "core/instance.h"

namespace symm::ops {

// Where the element lies as mapped here, with all checks: PE, range, alignment, and at
// SHMEM_CHECK=2 that no transfer uses it.
Result<std::byte*> atomic_target(Instance& instance, const void* address, size_t size, int pe,
                                 const char* call);

// Whether the value of a non-blocking fetch may go there. At SHMEM_CHECK=2 it is in use from now
// on.
Status check_result(Instance& instance, void* result, size_t bytes, int pe, const char* call);

template <typename T>
T amo_fetch(const T* element) {
  T value;
  // seq_cst: as all atomics here; on x86 a plain load
  __atomic_load(element, &value, __ATOMIC_SEQ_CST);
  return value;
}

template <typename T>
T amo_swap(T* element, T value) {
  T old;
  __atomic_exchange(element, &value, &old, __ATOMIC_SEQ_CST);
  return old;
}

template <typename T>
T amo_set(T* element, T value) {
  return amo_swap(element, value);
}

template <typename T>
T amo_add(T* element, T value) {
  return __atomic_fetch_add(element, value, __ATOMIC_SEQ_CST);
}

template <typename T>
T amo_increment(T* element) {
  return amo_add(element, T{1});
}

template <typename T>
T amo_and(T* element, T value) {
  return __atomic_fetch_and(element, value, __ATOMIC_SEQ_CST);
}

template <typename T>
T amo_or(T* element, T value) {
  return __atomic_fetch_or(element, value, __ATOMIC_SEQ_CST);
}

template <typename T>
T amo_xor(T* element, T value) {
  return __atomic_fetch_xor(element, value, __ATOMIC_SEQ_CST);
}

template <typename T>
T amo_compare_swap(T* element, T cond, T value) {
  // strong: a failure that the value does not explain would be a wrong answer
  __atomic_compare_exchange_n(element, &cond, value, false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);
  return cond;
}

// The comparison is of bits: a NaN does not keep it going round.
template <typename T>
T amo_add_float(T* element, T value) {
  // relaxed: a guess that the exchange checks
  T old;
  __atomic_load(element, &old, __ATOMIC_RELAXED);
  T sum = old + value;
  while (
      !__atomic_compare_exchange(element, &old, &sum, true, __ATOMIC_SEQ_CST, __ATOMIC_RELAXED)) {
    sum = old + value;
  }
  return old;
}

}  // namespace symm::ops
