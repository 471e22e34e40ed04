/* The descriptor queues between kernels and the asynchronous engines (RDMA, SDMA, UDMA). Plain data, lock-free.
 *
 * One queue pair per target PE. Producers (kernel cores) take a ticket from `head`, wait until the slot of that ticket is
 * free, fill it and publish it by storing `slot.turn`. The engine takes slots in ticket order, executes them and counts
 * them in `done`. The quiet of a core waits until `done` reached the `head` it saw. */
#ifndef SYMM_ENGINE_QUEUE_H
#define SYMM_ENGINE_QUEUE_H

#include <stdint.h>

#include "host_device/symm_wait_abi.h"

#ifdef __cplusplus
extern "C" {
#endif

enum {
  SYMM_DESC_COPY = 1,       /* copy bytes from source to target, both addresses as mapped here */
  SYMM_DESC_STORE = 2,      /* store an integer of `width` bytes */
  SYMM_DESC_ADD = 3,        /* atomic add; fetched value goes to `result` if not null */
  SYMM_DESC_SWAP = 4,
  SYMM_DESC_CAS = 5,        /* operand: new value, compare: expected */
  SYMM_DESC_AND = 6,
  SYMM_DESC_OR = 7,
  SYMM_DESC_XOR = 8,
  SYMM_DESC_FETCH = 9,
  SYMM_DESC_FADD = 10       /* floating-point add, width 4 or 8 */
};

typedef struct symm_descriptor {
  uint64_t turn;            /* atomic: ticket when free, ticket + 1 when filled, ticket + depth when consumed */
  uint32_t kind;            /* SYMM_DESC_* */
  uint32_t width;           /* bytes of an atomic operand */
  void* target;
  const void* source;
  uint64_t bytes;           /* of a copy */
  uint64_t operand;
  uint64_t compare;
  void* result;
} symm_descriptor;

typedef struct symm_queue_pair {
  uint64_t head;            /* atomic: tickets given out */
  uint64_t padding0[7];
  uint64_t done;            /* atomic: descriptors completed; release by the engine, acquire by quiet */
  uint32_t draining;        /* atomic: 1 while the engine or a helper executes slots of this queue */
  uint32_t padding1;
  uint64_t padding2[6];
  symm_descriptor* slots;   /* depth entries, depth a power of two */
  uint64_t mask;            /* depth - 1 */
  symm_event_count* target_events; /* of the PE the queue leads to: notified after stores and atomics */
  int32_t pe;
  int32_t padding3;
  uint64_t padding4[4];
} symm_queue_pair;

typedef struct symm_engine {
  symm_queue_pair* const* pairs; /* per PE; null when the PE cannot be reached this way */
  int32_t n_pes;
  uint32_t kind;                 /* aclshmem_transport_t bit */
  /* Bit per PE: the queue has work. Producers set (release), the engine clears (acquire). */
  uint64_t* ready;
  symm_event_count doorbell;     /* the engine sleeps here */
  symm_wait_domain* wait;
  void* owner;                   /* the engine object in libshmem.so */
} symm_engine;

/* In libshmem.so. Called by a core that waits for completion: executes what is due on this queue if nobody else does.
 * Returns the number of descriptors completed by this call. */
int symm_engine_help(symm_engine* engine, int pe);

#ifdef __cplusplus
}
#endif
#endif
