/* The plain data that a waiting host thread and a waiting kernel core share: the event count that
 * writers notify, and the description of one wait. C, fixed layout; used by libshmem.so,
 * libascendcl.so and the kernel headers.
 *
 * Protocol of the event count (one per PE, in shared memory that every PE of the host maps):
 *   waiter: waiters += 1 (seq_cst); s = seq; check the condition again; futex_wait(&seq, s) with a
 * time limit; waiters -= 1 writer: make the value visible; seq_cst fence (an atomic
 * read-modify-write is one); if (waiters) { seq += 1; futex_wake } The fence on one side and the
 * read-modify-write on the other order "store value, load waiters" against "store waiters, load
 * value", so one of the two always sees the other. Stores that do not notify (raw stores through
 * aclshmem_ptr) are found by the time limit, 1 ms growing to 10 ms. */
#ifndef SYMM_WAIT_ABI_H
#define SYMM_WAIT_ABI_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct symm_event_count {
  uint32_t waiters; /* how many threads are about to sleep or asleep */
  uint32_t seq;     /* the futex word */
} symm_event_count;

enum {
  SYMM_WAIT_DONE = 0,
  SYMM_WAIT_TIMEOUT = -7,
  SYMM_WAIT_PEER_LOST = -12,
};

struct symm_wait;

/* One per instance, process-private; outlives every wait that names it. */
typedef struct symm_wait_domain {
  symm_event_count* events; /* what this PE sleeps on */
  const uint32_t*
      failure;       /* 0 while all is well; else a peer was lost or the job ends: waits return */
  uint32_t may_spin; /* 1: the PEs of this host fit the processors, spin before yielding */
  uint32_t report_after_ms; /* when to say who waits for what; 0: never */
  uint32_t timeout_ms;      /* default limit of a wait; 0: none */
  int32_t pe;               /* for messages */
  /* Writes what the wait is about and which PEs are missing; may be null. Any thread may
   * call it while the wait lasts. */
  void (*describe)(const struct symm_wait* wait, char* text, size_t size);
  /* Writes why `failure` is set. May be null. */
  void (*why)(const struct symm_wait_domain* domain, char* text, size_t size);
  void* owner; /* the instance, for describe and why */
} symm_wait_domain;

typedef struct symm_wait {
  int (*poll)(void* argument); /* non-zero when the wait is over; reads with acquire */
  void* argument;
  symm_wait_domain* domain; /* may be null: no peer can be lost, sleep by time only */
  const char* call;         /* name of the call for messages; static storage */
  uint64_t timeout_ms;      /* 0: the default of the domain */
  int32_t team;             /* team of a barrier or collective, -1 if none */
  int32_t peer;             /* PE waited for, -1 if unknown or many */
  const void* address;      /* word waited on, if one */
  int64_t wanted;           /* value wanted, or barrier number */
  int32_t compare;          /* aclshmem_cmp_op_type_t, -1 if none */
  int32_t kind;             /* SYMM_WAIT_KIND_* */
} symm_wait;

enum {
  SYMM_WAIT_KIND_VALUE = 0,   /* a word in memory */
  SYMM_WAIT_KIND_BARRIER = 1, /* other PEs of a team */
  SYMM_WAIT_KIND_QUEUE = 2,   /* completion of queued descriptors */
  SYMM_WAIT_KIND_CORES = 3,   /* other cores of the same launch */
  SYMM_WAIT_KIND_SPLIT = 4,   /* members of a new team */
};

#ifdef __cplusplus
}
#endif
#endif
