/* The descriptor queues between kernels and the asynchronous engines (RDMA, SDMA, UDMA). Plain
 * data, lock-free.
 *
 * An engine has several queues: one per target PE for RDMA and UDMA (a queue pair), one per vector
 * core for SDMA (a channel). Producers (kernel cores) wait until the slot at `head` is free, take
 * it by moving `head`, fill it and publish it by storing `slot.turn`; nobody waits between taking
 * and publishing, so an unwound kernel cannot leave a hole. The engine takes slots in order,
 * executes them and counts them in `done`. A quiet waits until `done` reached the `head` it saw.
 * All fields marked atomic are accessed with the __atomic builtins. */
#ifndef SYMM_ENGINE_QUEUE_H
#define SYMM_ENGINE_QUEUE_H

#include <stdint.h>

#include "host_device/symm_wait_abi.h"

#ifdef __cplusplus
extern "C" {
#endif

enum {
  SYMM_DESC_COPY = 1,  /* copy bytes from source to target, both addresses as mapped here */
  SYMM_DESC_STORE = 2, /* store an integer of `width` bytes */
  SYMM_DESC_ADD =
      3, /* atomic add; this and those below: the old value goes to `result` if not null */
  SYMM_DESC_SWAP = 4,
  SYMM_DESC_CAS = 5, /* operand: new value, compare: expected */
  SYMM_DESC_AND = 6,
  SYMM_DESC_OR = 7,
  SYMM_DESC_XOR = 8,
  SYMM_DESC_FETCH = 9,
  SYMM_DESC_FADD = 10,    /* floating-point add, width 4 or 8; operand holds the bits */
  SYMM_DESC_HADD = 11,    /* the same for half, width 2 */
  SYMM_DESC_BADD = 12,    /* the same for bfloat16, width 2 */
  SYMM_DESC_NOTIFY = 13,  /* record the runtime notify in `target` */
  SYMM_DESC_PREFETCH = 14 /* bring `bytes` at `source` into the cache */
};

typedef struct symm_descriptor {
  uint64_t
      turn; /* atomic: ticket when free, ticket + 1 when filled, ticket + depth when consumed */
  uint32_t kind;  /* SYMM_DESC_* */
  uint32_t width; /* bytes of an atomic operand */
  void* target;
  const void* source;
  uint64_t bytes; /* of a copy */
  uint64_t operand;
  uint64_t compare;
  void* result;             /* `width` bytes */
  symm_event_count* events; /* notified after the target changed; null: nobody */
  uint64_t posted;          /* CLOCK_MONOTONIC in ns when the engine is paced, else 0 */
  uint64_t padding[6];
} symm_descriptor;

typedef struct symm_queue_pair {
  uint64_t head; /* atomic: slots given out */
  uint64_t padding0[7];
  uint64_t done;     /* atomic: descriptors completed; release by the engine, acquire by quiet */
  uint32_t draining; /* atomic: 1 while the engine or a helper executes slots of this queue */
  uint32_t padding1;
  uint64_t padding2[6];
  symm_descriptor* slots; /* depth entries, depth a power of two */
  uint64_t mask;          /* depth - 1 */
  int32_t index;          /* PE or channel */
  int32_t padding3;
  uint64_t padding4[5];
} symm_queue_pair;

typedef struct symm_engine {
  symm_queue_pair**
      pairs; /* n_queues entries, atomic; null until symm_engine_connect made the queue */
  int32_t n_queues;
  uint32_t kind;   /* aclshmem_transport_t bit */
  uint64_t* ready; /* atomic bit per queue: it has work. Producers set, the engine clears */
  symm_event_count doorbell; /* the engine sleeps here */
  symm_wait_domain* wait;
  uint32_t paced; /* 1: descriptors carry the time they were posted */
  uint32_t padding;
  void* owner; /* the engine object in libshmem.so */
} symm_engine;

/* In libshmem.so. Makes the queue on first use and starts the engine's thread. Null when the index
 * is out of range or the PE cannot be reached this way, or when memory is short. Any thread. */
symm_queue_pair* symm_engine_connect(symm_engine* engine, int index);

/* In libshmem.so. Called by a core that waits for completion: executes what is due on this queue if
 * nobody else does. Returns the number of descriptors completed by this call. */
int symm_engine_help(symm_engine* engine, int index);

/* In libshmem.so. Makes a queued descriptor forget its `result`, when the memory goes away before
 * the descriptor is done (a kernel that is unwound). Waits for the descriptor being executed, if
 * any. */
void symm_engine_forget(symm_engine* engine, int index, uint64_t ticket);

/* The queue, or null if it was never used (or cannot exist). */
static inline symm_queue_pair* symm_engine_pair(const symm_engine* engine, int index) {
  /* acquire: pairs with the release that published a freshly made queue */
  return __atomic_load_n(&engine->pairs[index], __ATOMIC_ACQUIRE);
}

/* Puts a descriptor (turn is ignored) on the queue and sets its ready bit. 0 when the queue is
 * full. The caller then wakes the engine if `doorbell.waiters` is not zero. taken: the slot's
 * ticket, for symm_engine_forget; may be null. */
static inline int symm_engine_try_push(symm_engine* engine, symm_queue_pair* pair,
                                       const symm_descriptor* what, uint64_t* taken) {
  uint64_t ticket = __atomic_load_n(&pair->head, __ATOMIC_RELAXED);
  symm_descriptor* slot;
  for (;;) {
    slot = &pair->slots[ticket & pair->mask];
    /* acquire: the engine's reads of the slot's previous content come before our writes */
    const uint64_t turn = __atomic_load_n(&slot->turn, __ATOMIC_ACQUIRE);
    if (turn == ticket) {
      /* relaxed: the slot's turn carries the ordering, head only hands out numbers */
      if (__atomic_compare_exchange_n(&pair->head, &ticket, ticket + 1, 0, __ATOMIC_RELAXED,
                                      __ATOMIC_RELAXED))
        break;
    } else if ((int64_t)(turn - ticket) < 0) {
      return 0; /* still holds the descriptor of the previous round */
    } else {
      ticket = __atomic_load_n(&pair->head, __ATOMIC_RELAXED);
    }
  }
  slot->kind = what->kind;
  slot->width = what->width;
  slot->target = what->target;
  slot->source = what->source;
  slot->bytes = what->bytes;
  slot->operand = what->operand;
  slot->compare = what->compare;
  slot->result = what->result;
  slot->events = what->events;
  slot->posted = what->posted;
  /* release: publishes the fields above, and everything the producer wrote before (the source of a
   * copy) */
  __atomic_store_n(&slot->turn, ticket + 1, __ATOMIC_RELEASE);
  /* seq_cst read-modify-write: it is the fence between "work is visible" and the caller's look at
   * doorbell.waiters */
  __atomic_fetch_or(&engine->ready[pair->index / 64], (uint64_t)1 << (pair->index % 64),
                    __ATOMIC_SEQ_CST);
  if (taken) *taken = ticket;
  return 1;
}

/* 1 when everything taken up to `ticket` (a value of head) is complete. */
static inline int symm_engine_is_done(const symm_queue_pair* pair, uint64_t ticket) {
  /* acquire: what the engine wrote for these descriptors is visible after this */
  return (int64_t)(__atomic_load_n(&pair->done, __ATOMIC_ACQUIRE) - ticket) >= 0;
}

#ifdef __cplusplus
}
#endif
#endif
