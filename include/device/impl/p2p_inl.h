// Internal to the kernel side: signals, and waiting for or testing values in own memory.
#ifndef SYMM_DEVICE_P2P_INL_H
#define SYMM_DEVICE_P2P_INL_H

#include <type_traits>

#include "device/impl/engine_inl.h"

namespace symm_dev {

// False for a comparison that does not exist.
template <typename T>
inline bool compares(T value, int cmp, T wanted) {
  switch (cmp) {
    case ACLSHMEM_CMP_EQ:
      return value == wanted;
    case ACLSHMEM_CMP_NE:
      return value != wanted;
    case ACLSHMEM_CMP_GT:
      return value > wanted;
    case ACLSHMEM_CMP_GE:
      return value >= wanted;
    case ACLSHMEM_CMP_LT:
      return value < wanted;
    case ACLSHMEM_CMP_LE:
      return value <= wanted;
    default:
      return false;
  }
}

inline bool is_cmp(int cmp) { return cmp >= ACLSHMEM_CMP_EQ && cmp <= ACLSHMEM_CMP_LE; }

// acquire: what the writer ordered before the value is visible after it.
template <typename T>
inline T load_acquire(const T* address) {
  T value;
  __atomic_load(address, &value, __ATOMIC_ACQUIRE);
  return value;
}

// A comparison value for every element, or one each.
template <typename T>
struct One {
  T value;
  T operator[](size_t) const { return value; }
};

template <typename T, typename Wanted>
inline bool element_holds(const T* values, size_t i, int cmp, const Wanted& wanted) {
  return compares<T>(load_acquire(values + i), cmp, wanted[i]);
}

inline bool included(const int* status, size_t i) { return status == nullptr || status[i] == 0; }

inline bool any_included(size_t count, const int* status) {
  for (size_t i = 0; i < count; ++i) {
    if (included(status, i)) return true;
  }
  return false;
}

SYMM_COLD inline bool bad_cmp(const symm_device_state* s, int cmp, const char* call) {
  char text[240];
  snprintf(text, sizeof text,
           "%s on PE %d: there is no comparison %d, so the call does not wait; pass one of "
           "ACLSHMEM_CMP_EQ (%d) to ACLSHMEM_CMP_LE (%d)",
           call, s->base.mype, cmp, ACLSHMEM_CMP_EQ, ACLSHMEM_CMP_LE);
  if (s->report != nullptr) s->report(s->owner, ACLSHMEM_INVALID_PARAM, text);
  return false;
}

SYMM_COLD inline void bad_values(const symm_device_state* s, const void* values, size_t count,
                                 size_t size, const char* call) {
  if (reinterpret_cast<uintptr_t>(values) < kLowestAddress)
    bad_own(s, values, "the address of the values", call);
  trap(
      "%s on PE %d: %llu values of %llu bytes at %p; pass an aligned address and a count that fits",
      call, s->base.mype, static_cast<unsigned long long>(count),
      static_cast<unsigned long long>(size), values);
}

// The values of a wait or test are own memory, aligned for one load: else a trap. False, recorded
// as an error of the instance, for a comparison that does not exist.
template <typename T>
inline bool check_wait(const T* values, size_t count, int cmp, const char* call) {
  const uintptr_t at = reinterpret_cast<uintptr_t>(values);
  const bool usable =
      at >= kLowestAddress && at % sizeof(T) == 0 && count <= (UINTPTR_MAX - at) / sizeof(T);
  if (__builtin_expect(!usable && count != 0, 0))
    bad_values(state(call), values, count, sizeof(T), call);
  return __builtin_expect(is_cmp(cmp), 1) || bad_cmp(state(call), cmp, call);
}

template <typename T>
inline int64_t shown(T value) {
  return static_cast<int64_t>(value);
}

// Returns the value that satisfied the comparison; at once with the present value for an unknown
// one.
template <typename T>
inline T wait_value(const T* address, int cmp, T wanted, const char* call) {
  const bool known = check_wait(address, 1, cmp, call);
  T seen = load_acquire(address);
  if (!known || compares(seen, cmp, wanted)) return seen;
  const symm_device_state* s = state(call);
  auto holds = [&] {
    seen = load_acquire(address);
    return compares(seen, cmp, wanted);
  };
  wait_for(s, holds, WaitText{call, SYMM_WAIT_KIND_VALUE, -1, -1, address, shown(wanted), cmp});
  return seen;
}

template <typename T>
inline int test_value(const T* address, int cmp, T wanted, const char* call) {
  if (!check_wait(address, 1, cmp, call)) return 0;
  return compares(load_acquire(address), cmp, wanted) ? 1 : 0;
}

template <typename T, typename Wanted>
inline void wait_all(const T* values, size_t count, const int* status, int cmp,
                     const Wanted& wanted, const char* call) {
  if (!check_wait(values, count, cmp, call)) return;
  for (size_t i = 0; i < count; ++i) {
    if (included(status, i)) wait_value<T>(values + i, cmp, wanted[i], call);
  }
}

// One pass from `start`, round robin. SIZE_MAX when no element holds.
template <typename T, typename Wanted>
inline size_t find_any(const T* values, size_t count, const int* status, int cmp,
                       const Wanted& wanted, size_t start) {
  for (size_t k = 0; k < count; ++k) {
    const size_t i = start + k < count ? start + k : start + k - count;
    if (included(status, i) && element_holds(values, i, cmp, wanted)) return i;
  }
  return SIZE_MAX;
}

template <typename T, typename Wanted>
inline size_t find_some(const T* values, size_t count, size_t* indices, const int* status, int cmp,
                        const Wanted& wanted) {
  size_t found = 0;
  for (size_t i = 0; i < count; ++i) {
    if (included(status, i) && element_holds(values, i, cmp, wanted)) indices[found++] = i;
  }
  return found;
}

// Where the next wait or test for any starts, so that an element that always holds cannot hide the
// others.
inline size_t next_start(size_t count) {
  symm_core* core = symm_rt_core();
  if (core == nullptr) return 0;
  const uintptr_t turn = reinterpret_cast<uintptr_t>(core->user[kUserTurn]);
  core->user[kUserTurn] = reinterpret_cast<void*>(turn + 1);
  return count == 0 ? 0 : static_cast<size_t>(turn) % count;
}

template <typename T, typename Wanted>
inline size_t wait_until_any(const T* values, size_t count, const int* status, int cmp,
                             const Wanted& wanted, const char* call) {
  if (!check_wait(values, count, cmp, call) || !any_included(count, status)) return SIZE_MAX;
  const symm_device_state* s = state(call);
  const size_t start = next_start(count);
  size_t found = SIZE_MAX;
  auto holds = [&] {
    found = find_any(values, count, status, cmp, wanted, start);
    return found != SIZE_MAX;
  };
  wait_for(s, holds, WaitText{call, SYMM_WAIT_KIND_VALUE, -1, -1, values, shown(wanted[0]), cmp});
  return found;
}

inline void check_indices(const size_t* indices, const char* call) {
  if (__builtin_expect(indices == nullptr, 0))
    bad_own(state(call), indices, "the array of indices", call);
}

template <typename T, typename Wanted>
inline size_t wait_until_some(const T* values, size_t count, size_t* indices, const int* status,
                              int cmp, const Wanted& wanted, const char* call) {
  if (!check_wait(values, count, cmp, call) || !any_included(count, status)) return 0;
  check_indices(indices, call);
  const symm_device_state* s = state(call);
  size_t found = 0;
  auto holds = [&] {
    found = find_some(values, count, indices, status, cmp, wanted);
    return found != 0;
  };
  wait_for(s, holds, WaitText{call, SYMM_WAIT_KIND_VALUE, -1, -1, values, shown(wanted[0]), cmp});
  return found;
}

template <typename T, typename Wanted>
inline size_t test_any(const T* values, size_t count, const int* status, int cmp,
                       const Wanted& wanted, const char* call) {
  polled();
  if (!check_wait(values, count, cmp, call)) return SIZE_MAX;
  return find_any(values, count, status, cmp, wanted, next_start(count));
}

template <typename T, typename Wanted>
inline size_t test_some(const T* values, size_t count, size_t* indices, const int* status, int cmp,
                        const Wanted& wanted, const char* call) {
  polled();
  if (!check_wait(values, count, cmp, call)) return 0;
  if (count != 0) check_indices(indices, call);
  return find_some(values, count, indices, status, cmp, wanted);
}

template <typename T, typename Wanted>
inline int test_all(const T* values, size_t count, const int* status, int cmp, const Wanted& wanted,
                    const char* call) {
  polled();
  if (!check_wait(values, count, cmp, call)) return 0;
  for (size_t i = 0; i < count; ++i) {
    if (included(status, i) && !element_holds(values, i, cmp, wanted)) return 0;
  }
  return 1;
}

// Whether a signal goes through the queue of an engine, and which: only when the PE is not reached
// by MTE. It then stays behind earlier requests on that queue.
inline uint32_t signal_engine(const symm_device_state* s, int pe) {
  const uint8_t bits = s->base.topo_list[pe];
  if ((bits & ACLSHMEM_TRANSPORT_MTE) != 0) return 0;
  if ((bits & ACLSHMEM_TRANSPORT_ROCE) != 0) return ACLSHMEM_TRANSPORT_ROCE;
  return (bits & ACLSHMEM_TRANSPORT_UDMA) != 0 ? ACLSHMEM_TRANSPORT_UDMA : 0;
}

SYMM_COLD inline void bad_signal_op(const symm_device_state* s, int sig_op, const char* call) {
  char text[240];
  snprintf(text, sizeof text,
           "%s on PE %d: there is no signal operation %d, so no signal is given; pass "
           "ACLSHMEM_SIGNAL_SET (%d) or ACLSHMEM_SIGNAL_ADD (%d)",
           call, s->base.mype, sig_op, ACLSHMEM_SIGNAL_SET, ACLSHMEM_SIGNAL_ADD);
  if (s->report != nullptr) s->report(s->owner, ACLSHMEM_INVALID_PARAM, text);
}

// Sets or adds to the signal of pe: directly when MTE reaches it, else through RDMA or UDMA.
// Another sig_op gives no signal and is recorded as an error of the instance.
inline void signal(int32_t* address, int32_t value, int sig_op, int pe, const char* call) {
  const symm_device_state* s = state(call);
  if (__builtin_expect(sig_op != ACLSHMEM_SIGNAL_SET && sig_op != ACLSHMEM_SIGNAL_ADD, 0))
    return bad_signal_op(s, sig_op, call);
  int32_t* target = remote_as(s, address, 1, pe, call);
  if (const uint32_t kind = signal_engine(s, pe)) {
    const uint32_t operation = sig_op == ACLSHMEM_SIGNAL_SET ? SYMM_DESC_STORE : SYMM_DESC_ADD;
    engine_atomic<int32_t>(kind, operation, address, value, 0, nullptr, pe, call);
    return;
  }
  if (sig_op == ACLSHMEM_SIGNAL_SET) {
    // release: the waiter's acquire sees what this core stored before
    __atomic_store_n(target, value, __ATOMIC_RELEASE);
  } else {
    // acq_rel: several adders hand on what each of them stored before
    __atomic_fetch_add(target, value, __ATOMIC_ACQ_REL);
  }
  notify_pe(s, pe);
}

}  // namespace symm_dev
#endif
