// Internal to the kernel side: pushing descriptors on the queues of the RDMA, SDMA and UDMA engines
// and waiting for them.
#ifndef SYMM_DEVICE_ENGINE_INL_H
#define SYMM_DEVICE_ENGINE_INL_H

#include <time.h>

#include "device/impl/copy_inl.h"

namespace symm_dev {

inline const char* engine_name(uint32_t kind) {
  return kind == ACLSHMEM_TRANSPORT_ROCE   ? "RDMA"
         : kind == ACLSHMEM_TRANSPORT_SDMA ? "SDMA"
                                           : "UDMA";
}

inline symm_engine* engine_of(const symm_device_state* s, uint32_t kind) {
  return kind == ACLSHMEM_TRANSPORT_ROCE   ? s->rdma
         : kind == ACLSHMEM_TRANSPORT_SDMA ? s->sdma
                                           : s->udma;
}

// SDMA queues belong to vector cores; the others to target PEs.
inline int queue_of(uint32_t kind, int pe) {
  if (kind != ACLSHMEM_TRANSPORT_SDMA) return pe;
  return static_cast<int>(core_index(symm_rt_core()) % SYMM_SDMA_CHANNELS);
}

[[noreturn]] SYMM_COLD inline void no_engine(const symm_device_state* s, uint32_t kind,
                                             const char* call) {
  trap("%s on PE %d: this instance has no %s engine; ask for it in option_attr.data_op_engine_type",
       call, s->base.mype, engine_name(kind));
}

// The queue for pe, made on first use.
inline symm_queue_pair* queue(const symm_device_state* s, symm_engine* engine, int index,
                              const char* call) {
  symm_queue_pair* pair = symm_engine_pair(engine, index);
  if (__builtin_expect(pair != nullptr, 1)) return pair;
  pair = symm_engine_connect(engine, index);
  if (pair == nullptr) {
    trap("%s on PE %d: no %s queue to PE %d can be made", call, s->base.mype,
         engine_name(engine->kind), index);
  }
  return pair;
}

// Pushes one descriptor for PE pe and returns its ticket. Waits, helping the engine, while the
// queue is full.
inline uint64_t push(const symm_device_state* s, uint32_t kind, int pe, symm_descriptor& what,
                     const char* call) {
  symm_engine* engine = engine_of(s, kind);
  if (__builtin_expect(engine == nullptr, 0)) no_engine(s, kind, call);
  if (static_cast<uint32_t>(pe) >= static_cast<uint32_t>(s->base.npes)) bad_pe(s, pe, call);
  const int index = queue_of(kind, pe);
  symm_queue_pair* pair = queue(s, engine, index, call);
  if (engine->paced != 0) {
    timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    what.posted =
        static_cast<uint64_t>(now.tv_sec) * 1000000000u + static_cast<uint64_t>(now.tv_nsec);
  }
  uint64_t ticket = 0;
  while (symm_engine_try_push(engine, pair, &what, &ticket) == 0) {
    auto room = [&] {
      symm_engine_help(engine, index);
      const uint64_t head = __atomic_load_n(&pair->head, __ATOMIC_RELAXED);
      return __atomic_load_n(&pair->slots[head & pair->mask].turn, __ATOMIC_ACQUIRE) == head;
    };
    wait_for(s, room, WaitText{call, SYMM_WAIT_KIND_QUEUE, -1, pe, nullptr, 0, -1});
  }
  // relaxed: the read-modify-write in try_push is the fence before this look
  if (__atomic_load_n(&engine->doorbell.waiters, __ATOMIC_RELAXED) != 0)
    symm_rt_notify(&engine->doorbell);
  symm_core* core = symm_rt_core();
  core->user[kUserEngines] = reinterpret_cast<void*>(
      reinterpret_cast<uintptr_t>(core->user[kUserEngines]) | static_cast<uintptr_t>(kind));
  return ticket;
}

// Waits until everything pushed on this queue before the call is complete.
inline void quiet_queue(const symm_device_state* s, symm_engine* engine, int index,
                        const char* call) {
  symm_queue_pair* pair = symm_engine_pair(engine, index);
  if (pair == nullptr) return;  // never used
  // relaxed: this core's own pushes are counted by program order
  const uint64_t ticket = __atomic_load_n(&pair->head, __ATOMIC_RELAXED);
  auto done = [&] {
    if (symm_engine_is_done(pair, ticket)) return true;
    symm_engine_help(engine, index);
    return symm_engine_is_done(pair, ticket) != 0;
  };
  wait_for(
      s, done,
      WaitText{call, SYMM_WAIT_KIND_QUEUE, -1, index, nullptr, static_cast<int64_t>(ticket), -1});
}

// Quiet of one engine towards one PE (SDMA: of this core's channel).
inline void quiet_engine(const symm_device_state* s, uint32_t kind, int pe, const char* call) {
  symm_engine* engine = engine_of(s, kind);
  if (engine == nullptr) return;
  if (kind != ACLSHMEM_TRANSPORT_SDMA &&
      static_cast<uint32_t>(pe) >= static_cast<uint32_t>(s->base.npes))
    bad_pe(s, pe, call);
  quiet_queue(s, engine, queue_of(kind, pe), call);
}

// Quiet of one engine towards every PE.
inline void quiet_whole_engine(const symm_device_state* s, uint32_t kind, const char* call) {
  symm_engine* engine = engine_of(s, kind);
  if (engine == nullptr) return;
  if (kind == ACLSHMEM_TRANSPORT_SDMA) {
    quiet_queue(s, engine, queue_of(kind, 0), call);
    return;
  }
  for (int pe = 0; pe < engine->n_queues; ++pe) quiet_queue(s, engine, pe, call);
}

// Everything this core started: its own copies and the engines it used.
inline void quiet_all(const symm_device_state* s, const char* call) {
  mte_quiet();
  symm_core* core = symm_rt_core();
  const uintptr_t used = reinterpret_cast<uintptr_t>(core->user[kUserEngines]);
  if (__builtin_expect(used == 0, 1)) return;
  for (uint32_t kind :
       {ACLSHMEM_TRANSPORT_ROCE, ACLSHMEM_TRANSPORT_SDMA, ACLSHMEM_TRANSPORT_UDMA}) {
    if ((used & kind) != 0) quiet_whole_engine(s, kind, call);
  }
  core->user[kUserEngines] = nullptr;
}

// Queued copy to pe; count in elements.
template <typename T>
inline void engine_put(uint32_t kind, T* target, const T* source, uint64_t count, int pe,
                       const char* call) {
  const symm_device_state* s = state(call);
  if (count == 0) return;
  symm_descriptor d{};
  d.kind = SYMM_DESC_COPY;
  d.target = remote_as(s, target, count, pe, call);
  d.source = own(s, source, "the source", call);
  d.bytes = count * sizeof(T);
  push(s, kind, pe, d, call);
}

// Queued copy from pe.
template <typename T>
inline void engine_get(uint32_t kind, T* target, const T* source, uint64_t count, int pe,
                       const char* call) {
  const symm_device_state* s = state(call);
  if (count == 0) return;
  symm_descriptor d{};
  d.kind = SYMM_DESC_COPY;
  d.target = own(s, target, "the destination", call);
  d.source = remote_as(s, source, count, pe, call);
  d.bytes = count * sizeof(T);
  push(s, kind, pe, d, call);
}

// Queued store or atomic on one element of pe. old: where the previous value goes, or null. Returns
// the ticket.
template <typename T>
inline uint64_t engine_atomic(uint32_t kind, uint32_t operation, T* target, T operand, T compare,
                              T* old, int pe, const char* call) {
  static_assert(sizeof(T) <= 8, "atomics work on at most 8 bytes");
  const symm_device_state* s = state(call);
  symm_descriptor d{};
  d.kind = operation;
  d.width = sizeof(T);
  d.target = remote_as(s, target, 1, pe, call);
  memcpy(&d.operand, &operand, sizeof(T));
  memcpy(&d.compare, &compare, sizeof(T));
  d.result = old;
  d.events = events_of(s, pe);
  return push(s, kind, pe, d, call);
}

}  // namespace symm_dev
#endif
