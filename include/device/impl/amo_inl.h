// Internal to the kernel side: atomics on one element of a PE, by the core itself or through the
// queue of an engine.
#ifndef SYMM_DEVICE_AMO_INL_H
#define SYMM_DEVICE_AMO_INL_H

#include <type_traits>

#include "ascendc/atomic.h"
#include "device/impl/engine_inl.h"
#include "device/shmem_def.h"

namespace symm_dev {

// What `operation` makes of the old value.
template <typename T>
inline T combined(uint32_t operation, T old, T operand, T compare) {
  switch (operation) {
    case SYMM_DESC_ADD:
      return static_cast<T>(old + operand);
    case SYMM_DESC_SWAP:
      return operand;
    case SYMM_DESC_CAS:
      return old == compare ? operand : old;
    default:
      break;
  }
  if constexpr (std::is_integral_v<T>) {
    switch (operation) {
      case SYMM_DESC_AND:
        return static_cast<T>(old & operand);
      case SYMM_DESC_OR:
        return static_cast<T>(old | operand);
      case SYMM_DESC_XOR:
        return static_cast<T>(old ^ operand);
      default:
        break;
    }
  }
  return old;
}

// Returns the old value. Wakes the PE when the element may have changed.
template <typename T>
inline T mte_atomic(uint32_t operation, T* target, T operand, T compare, int pe, const char* call) {
  const symm_device_state* s = state(call);
  T* element = remote_as(s, target, 1, pe, call);
  if (operation == SYMM_DESC_FETCH) {
    polled();
    T value;
    __atomic_load(element, &value, __ATOMIC_SEQ_CST);
    return value;
  }
  T old;
  if constexpr (std::is_integral_v<T>) {
    // seq_cst: what all atomics of the model promise here
    if (operation == SYMM_DESC_ADD) {
      old = __atomic_fetch_add(element, operand, __ATOMIC_SEQ_CST);
      notify_pe(s, pe);
      return old;
    }
  }
  old = symm::kernel::atomic_update(
      element, [&](T seen) { return combined(operation, seen, operand, compare); });
  notify_pe(s, pe);
  return old;
}

// The descriptor kind for an addition of T.
template <typename T>
constexpr uint32_t add_kind() {
  if (std::is_integral_v<T>) return SYMM_DESC_ADD;
  if (std::is_same_v<T, half>) return SYMM_DESC_HADD;
  if (std::is_same_v<T, bfloat16_t>) return SYMM_DESC_BADD;
  return SYMM_DESC_FADD;
}

// Through an engine's queue, without waiting.
template <typename T>
inline void queue_atomic(uint32_t kind, uint32_t operation, T* target, T operand, int pe,
                         const char* call) {
  const uint32_t what = operation == SYMM_DESC_ADD ? add_kind<T>() : operation;
  engine_atomic<T>(kind, what, target, operand, T(), nullptr, pe, call);
}

// If a kernel is unwound while it waits (a lost PE), the engine must not write to the dead stack.
struct ForgetResult {
  symm_engine* engine;
  int index;
  uint64_t ticket;
  bool armed;
  ~ForgetResult() {
    if (armed) symm_engine_forget(engine, index, ticket);
  }
};

// Through an engine's queue; waits for everything queued to pe and returns the old value.
template <typename T>
inline T queue_fetch(uint32_t kind, uint32_t operation, T* target, T operand, T compare, int pe,
                     const char* call) {
  const uint32_t what = operation == SYMM_DESC_ADD ? add_kind<T>() : operation;
  const symm_device_state* s = state(call);
  T old;
  const uint64_t ticket = engine_atomic<T>(kind, what, target, operand, compare, &old, pe, call);
  ForgetResult guard{engine_of(s, kind), queue_of(kind, pe), ticket, true};
  quiet_engine(s, kind, pe, call);
  guard.armed = false;
  return old;
}

// MTE when the PE is mapped, else RDMA, else UDMA.
inline uint32_t atomic_engine(const symm_device_state* s, int pe, const char* call) {
  if (static_cast<uint32_t>(pe) >= static_cast<uint32_t>(s->base.npes)) bad_pe(s, pe, call);
  const uint8_t bits = s->base.topo_list[pe];
  for (uint32_t kind : {ACLSHMEM_TRANSPORT_MTE, ACLSHMEM_TRANSPORT_ROCE, ACLSHMEM_TRANSPORT_UDMA}) {
    if ((bits & kind) != 0) return kind;
  }
  trap("%s on PE %d: no engine for atomics reaches PE %d", call, s->base.mype, pe);
}

template <typename T>
inline void any_atomic(uint32_t operation, T* target, T operand, int pe, const char* call) {
  const uint32_t kind = atomic_engine(state(call), pe, call);
  if (kind == ACLSHMEM_TRANSPORT_MTE) {
    mte_atomic(operation, target, operand, T(), pe, call);
  } else {
    queue_atomic(kind, operation, target, operand, pe, call);
  }
}

template <typename T>
inline T any_fetch(uint32_t operation, T* target, T operand, T compare, int pe, const char* call) {
  const uint32_t kind = atomic_engine(state(call), pe, call);
  if (kind == ACLSHMEM_TRANSPORT_MTE)
    return mte_atomic(operation, target, operand, compare, pe, call);
  return queue_fetch(kind, operation, target, operand, compare, pe, call);
}

}  // namespace symm_dev
#endif
