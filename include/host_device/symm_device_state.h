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

/* Where the members of one team meet; in the control area of every PE, at the same index on all
 * members. A dissemination barrier: in round r, member m writes its barrier number into flags[r] of
 * member (m + 2^r) mod size and waits until its own flags[r] is at least that number. Numbers only
 * grow, so nothing is ever reset. */
typedef struct symm_team_sync {
  symm_sync_flag flags[SYMM_TEAM_SYNC_ROUNDS];
  uint64_t entered; /* barriers this PE has entered on the team; read by the others to name who is
                       missing */
  uint64_t left;    /* barriers this PE has left */
  uint64_t
      scratch; /* where this PE stages the data of a collective in a kernel: offset in its heap */
  uint64_t padding[5];
} symm_team_sync;

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
  /* Per team: index of its entry in the team sync areas and in team_epoch, the same on all members.
   * Null: the team's own number. */
  const uint32_t* team_slot;
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
} symm_device_state;

enum { SYMM_DEVICE_STATE_ABI = 1 };

#ifdef __cplusplus
}
#endif
#endif
