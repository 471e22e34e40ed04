/* What kernels see of an instance: plain data. The public state block comes first, so a pointer to
 * this struct is also a pointer to aclshmem_device_host_state_t; ours follows. Written by
 * libshmem.so (core/device_state), read by kernels. */
#ifndef SYMM_DEVICE_STATE_H
#define SYMM_DEVICE_STATE_H

#include "host_device/shmem_common_types.h"
#include "host_device/symm_engine_queue.h"
#include "host_device/symm_wait_abi.h"

#ifdef __cplusplus
extern "C" {
#endif

enum { SYMM_TEAM_SYNC_ROUNDS = 14 }; /* log2(ACLSHMEM_MAX_PES) */
enum { SYMM_SDMA_CHANNELS = 48 };    /* ACLSHMEM_MAX_AIV_PER_NPU */

/* One flag on a cache line of its own. */
typedef struct symm_sync_flag {
  uint64_t value;
  uint64_t padding[7];
} symm_sync_flag;

/* Where a PE meets the other members of one team; in its control area, at an index of its own
 * choice, which the members tell each other with cards. A dissemination barrier: in round r, member
 * m writes SYMM_ARRIVAL(number of the barrier, kind of call) into flags[r] of member (m + 2^r) mod
 * size and waits until the number in its own flags[r] is at least its own. Numbers only grow while
 * the team lives; the place is cleared before the next team gets it. */
typedef struct symm_team_sync {
  symm_sync_flag flags[SYMM_TEAM_SYNC_ROUNDS];
  uint64_t entered; /* barriers this PE has entered on the team; read by the others to name who is
                       missing */
  uint64_t left;    /* barriers this PE has left; smaller than entered while it is inside */
  uint64_t
      scratch; /* where this PE stages the data of a collective in a kernel: offset in its heap */
  uint64_t mismatch;      /* atomic: SYMM_MISMATCH of a member that saw two kinds of call meet */
  uint64_t failed_splits; /* atomic: calls on this team that were to split it and failed here */
  int64_t split_value[2]; /* colour and key of this PE in a split by colour */
  uint64_t padding;
} symm_team_sync;

/* What a flag holds. Calls of different kinds that meet end with an error on every member. */
#define SYMM_ARRIVAL(number, kind) (((uint64_t)(number) << 8) | (uint64_t)(kind))
enum {
  SYMM_CALL_BARRIER = 0, /* barriers and syncs, of host threads, streams and kernels */
  SYMM_CALL_SPLIT = 1,
  SYMM_CALL_MEMORY = 2, /* the library's own barrier; the calls are compared behind it */
  SYMM_CALL_ALLREDUCE = 3,
  SYMM_CALL_ALLGATHER = 4,
  SYMM_CALL_BROADCAST = 5,
  SYMM_CALL_REDUCE_SCATTER = 6,
  SYMM_CALL_ALLTOALL = 7,
  SYMM_CALLS = 8,
};

/* Number of the barrier (24 bits), then kind and PE of two calls that met. */
#define SYMM_MISMATCH(number, kind_a, pe_a, kind_b, pe_b)                               \
  (((uint64_t)(number) << 40) | ((uint64_t)(kind_a) << 34) | ((uint64_t)(pe_a) << 20) | \
   ((uint64_t)(kind_b) << 14) | (uint64_t)(pe_b))

/* Whether a mismatch word is about barrier `number`. Numbers begin with 1, so 0 is no mismatch. */
static inline int symm_mismatch_is(uint64_t word, uint64_t number) {
  return word != 0 && (word >> 40) == (number & 0xffffff);
}

static inline const char* symm_call_name(uint64_t kind) {
  static const char* const names[SYMM_CALLS] = {
      "a barrier or sync", "a split by colour", "a memory call",    "an allreduce",
      "an allgather",      "a broadcast",       "a reduce_scatter", "an alltoall"};
  return kind < SYMM_CALLS ? names[kind] : "an unknown call";
}

/* How the members of a new team find each other: one card per place in the table above, in the
 * control area of the PE. The first member numbers its teams; the others look for its card by the
 * hash of the member list and take over the number. id is written last and cleared first. */
typedef struct symm_team_card {
  uint64_t id;      /* atomic: SYMM_TEAM_ID, 0: no card */
  uint64_t key;     /* atomic: hash of the members in order */
  uint32_t state;   /* atomic: SYMM_CARD_* */
  uint32_t culprit; /* with SYMM_CARD_FAILED: the PE that could not make the team */
  int32_t code;     /* with SYMM_CARD_FAILED */
  uint32_t padding;
} symm_team_card;
enum {
  SYMM_CARD_POSTED = 1, /* the PE has a place for the team and looks for the others */
  SYMM_CARD_READY = 2,  /* it has seen the cards of all members */
  SYMM_CARD_FAILED = 3,
};
#define SYMM_TEAM_ID(leader, serial) (((uint64_t)(leader) << 48) | (uint64_t)(serial))

enum { SYMM_DEPARTED_EXIT = 1, SYMM_DEPARTED_FINALIZED = 2, SYMM_DEPARTED_GLOBAL_EXIT = 3 };

/* First page of the control area of a PE, mapped by every PE of the host. */
typedef struct symm_control_page {
  symm_event_count events; /* what this PE sleeps on */
  uint32_t pid;
  int32_t pe;
  uint32_t departed;   /* atomic: SYMM_DEPARTED_*, how this PE left the job; 0 while it is here */
  uint32_t departures; /* atomic: counted up by every PE that leaves; waiters look closer when it
                          moves */
  int32_t exit_status; /* with SYMM_DEPARTED_GLOBAL_EXIT: of the whole job */
  uint32_t lost;       /* atomic: 1 + the PE whose loss made this PE give up, 0 if none */
  uint64_t padding0[4];
  /* Which values this PE's threads wait for, as hints for writers that do not always notify (small
   * puts): offsets in the heap, empty slots 0..0. A writer that finds no watcher, or none at its
   * address, makes no call; a hint missed in a race costs the waiter its time limit, nothing else.
   * All atomic, relaxed. */
  uint32_t watchers;
  uint32_t watchers_elsewhere; /* those beyond the slots */
  struct symm_watch {
    uint64_t begin;
    uint64_t end;
  } watch[3];
  uint64_t padding2;
  /* What the PE is doing, for other PEs' messages: name of the call it waits in, or empty. */
  char doing[128];
  /* The last collective memory call, for the symmetry check: two records, used in turn. */
  struct symm_agreement {
    uint64_t number;
    uint64_t kind;
    uint64_t value[4];
    char site[80];
  } agreement[2];
  uint32_t cards_used; /* atomic: cards from here on have never been posted */
  uint32_t split_for;  /* atomic: 1 + the PE this PE waits for in a split, 0: none */
  uint64_t split_key;  /* atomic: key of the team it is making there */
  /* The barrier in which this PE's host thread is blocked; number 0: in none. Atomic, as are the
   * next four; for finding calls that can never match. */
  uint64_t blocked_number;
  uint32_t blocked_slot;
  uint32_t blocked_all;       /* 1: all PEs of the job take part in it */
  uint64_t collective_thread; /* which thread makes collective calls; all ones: several */
  uint32_t mismatch;          /* 0, 1 while the text is written, 2: a mismatch was found */
  uint32_t padding3;
  char mismatch_text[384];
} symm_control_page;

struct symm_device_state;

typedef struct symm_device_state {
  aclshmem_device_host_state_t base; /* must stay first */
  uint32_t abi;                      /* SYMM_DEVICE_STATE_ABI */
  uint32_t core_barriers_per_team;
  symm_wait_domain* wait;
  /* Per PE, n_pes entries: start of the device heap as mapped here, or null when not mapped. */
  void* const* peer_heap;
  /* Per PE: start of the team sync area and control page as mapped here, or null. */
  symm_team_sync* const* peer_sync;
  symm_control_page* const* peer_control;
  uint64_t heap_limit; /* bytes of a heap that symmetric addresses may name; base.heap_size counts
                          the library's own part behind them too */
  void* host_heap;     /* own HOST_SIDE heap, or null */
  void* const* peer_host_heap;
  uint64_t host_heap_limit;
  /* Per team: number of the next barrier; shared by host and device barriers. */
  uint64_t* team_epoch;
  symm_engine* rdma; /* queue per PE; any of the three may be null */
  symm_engine* sdma; /* queue per vector core: SYMM_SDMA_CHANNELS */
  symm_engine* udma; /* queue per PE */
  /* Records an error of a kernel call (sticky in the instance) and returns it. */
  int (*report)(void* owner, int code, const char* text);
  void* owner;
  uint64_t instance_id;
  /* The state of another instance of this process, or null; for aclshmemx_instance_ctx_set in
   * kernels. May be null. */
  struct symm_device_state* (*find_instance)(uint64_t instance_id);
  /* Per team, by member: the index of its entry in the member's table of team syncs; the own one
   * is the team's number. An entry that is null (atomic): not all members have met yet, see
   * team_ready. Null: the team's number everywhere. */
  const uint32_t* const* team_slots;
  /* Runtime notifies that aclshmemx_sdma_notify_record records, one per vector core; null when
   * there are none. */
  void* const* notifies;
  /* Staging memory of the collectives in kernels, in the library's part of every heap: offset of
   * the first piece, bytes of a piece, pieces (at most 31), and which pieces of this PE are in use
   * (atomic bits, in memory of this process). */
  uint64_t scratch;
  uint64_t scratch_bytes;
  uint32_t scratch_pieces;
  uint32_t* scratch_taken;
  /* Where an address of a heap or buffer that the program made or registered lies on a PE; null
   * when it lies in none. May be null. Slow. */
  void* (*find_space)(void* owner, const void* address, uint64_t bytes, int pe);
  /* Looks whether all members of the team have met: 1 yes, 0 not yet, -1 it cannot be, with the
   * reason. Does not block. */
  int (*team_ready)(void* owner, int team, char* text, size_t size);
} symm_device_state;

enum { SYMM_DEVICE_STATE_ABI = 2 };

#ifdef __cplusplus
}
#endif
#endif
