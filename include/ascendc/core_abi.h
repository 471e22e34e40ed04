/* What a running kernel core and the runtime library share. C, fixed layout. The kernel language
 * headers and the kernel side of SHMEM see the runtime only through this file. */
#ifndef SYMM_CORE_ABI_H
#define SYMM_CORE_ABI_H

#include <stdint.h>

#include "host_device/symm_wait_abi.h"

#ifdef __cplusplus
extern "C" {
#endif
#pragma GCC visibility push(default)

/* One per core instance (block x vector core) of a launch. Read by kernel code, written by the
 * runtime, except where said otherwise. */
typedef struct symm_core {
  int64_t block;     /* 0 .. block_num-1 */
  int64_t block_num; /* first launch argument */
  int64_t sub_block; /* vector core within the block: 0, or 0..1 in a mix kernel */
  int64_t ratio;     /* vector cores per block of this kernel: 1 or 2; set by symm_rt_enter */
  uint8_t* ub;       /* arena of the unified buffer, 64-byte aligned */
  uint64_t ub_size;  /* bytes */
  uint64_t ub_used;  /* bump pointer of the live TPipe; written by the kernel language headers */
  void* state; /* what the launching library published, e.g. the SHMEM device state; may be null */
  uint64_t launch;      /* number of the launch in this process */
  uint32_t atomic_mode; /* written by SetAtomicAdd and the like */
  uint32_t atomic_type;
  void* user[8]; /* for the kernel side of SHMEM (selected instance, scratch); zero at entry */
  uint64_t language[64]; /* for the kernel language headers (flags, masks, pipe); zero at entry */
} symm_core;

/* The core that this thread runs, or null on a host thread. Constant within one kernel instance. */
symm_core* symm_rt_core(void);

/* Entry guard of every kernel, put in by the compiler wrapper: tells the runtime the kernel's name
 * and how many cube and vector cores a block has (mix kernels 1:2, vector kernels 0:1). Returns 1
 * if this instance shall run the body, 0 if the kernel has fewer vector cores per block than the
 * runtime started. On a host thread (kernel called like a function): an error, returns 0. */
int symm_rt_enter(const char* name, int aic, int aiv);

/* Blocks the calling core until wait->poll says so, letting the other cores run. Returns only when
 * satisfied: if a peer is lost or the time is over the kernel is unwound (a C++ exception that must
 * not be swallowed) and the launch ends with an error that the stream reports. On a host thread:
 * same waiting, returns the SYMM_WAIT_* code. */
int symm_rt_wait(const symm_wait* wait);

/* Lets the other cores of this worker run once. A full memory fence. Host threads: sched_yield. */
void symm_rt_yield(void);

/* Barrier over all vector cores of the launch; release/acquire. */
void symm_rt_sync_all(void);

/* Flags between the cores of the launch: include/ascendc/cross_core.h. mode 0, 1, 2 or 4; id below
 * 16. set does not block; wait blocks like symm_rt_wait. Both end the kernel with an error when
 * they can never work out. */
void symm_rt_cross_set(uint32_t mode, uint32_t id);
void symm_rt_cross_wait(uint32_t mode, uint32_t id);

/* Zeroed memory of the calling core, one per key, until the kernel ends; on a host thread until the
 * thread ends. *fresh is set to 1 for the call that made it, else to 0. */
void* symm_rt_core_local(const void* key, uint64_t bytes, int* fresh);

/* Ends the kernel with an error (text is copied). Unwinds, does not return. On a host thread: logs
 * and aborts. */
void symm_rt_trap(const char* text);

/* Wakes one event count after a value became visible; the fence is inside. */
void symm_rt_notify(symm_event_count* events);

/* Enqueues a kernel launch on a stream (null: default stream). run(closure) executes the kernel
 * once per core instance; it may run several times (graph replay). drop(closure) is called once
 * when no launch or graph needs it any more. state becomes symm_core.state. Returns an aclError. */
int symm_rt_launch(uint32_t blocks, void* stream, void (*run)(void* closure),
                   void (*drop)(void* closure), void* closure, void* state, const char* name);

/* The same with visit_arguments, which tells about the values that the kernel gets, so that the
 * runtime knows which memory a recorded launch refers to; it may be null. */
typedef void (*symm_visit_arguments)(void* closure, void (*visit)(void* context, uint64_t value),
                                     void* context);
int symm_rt_launch_with_arguments(uint32_t blocks, void* stream, void (*run)(void* closure),
                                  void (*drop)(void* closure), symm_visit_arguments visit_arguments,
                                  void* closure, void* state, const char* name);

/* Memory is about to be freed or unmapped: 0, after graphs that refer to it have become unusable;
 * or an error that names the graph task, when a capture records or a replay is queued or running,
 * and the memory has to stay. `call` is the freeing call. */
int symm_rt_release_memory(const void* memory, uint64_t bytes, const char* call);

/* Enqueues a task of the launching library on a stream, in order with its other work; recorded
 * while the stream is captured. run(argument) executes on the stream's own thread or on one that
 * waits for the stream, and returns 0 or an aclError that the stream reports; its text is what
 * run() gave to symm_rt_set_error. drop(argument), if not null, is called once when no stream or
 * graph needs the argument any more, also when this call fails. Returns an aclError. */
int symm_rt_host_task(void* stream, int (*run)(void* argument), void (*drop)(void* argument),
                      void* argument, const char* name);

/* Runs run(argument) once per lane, dims[0] x dims[1] x dims[2] lanes (at most 1024) of the calling
 * core, and returns when all have ended. Lanes are fibers of the core: they may wait for each
 * other. threadIdx and its siblings (simt_abi.h) name the running lane. Only in a kernel, not
 * inside a lane. */
void symm_rt_lanes(const uint32_t dims[3], void (*run)(void* argument), void* argument);
/* Barrier over the lanes of the core that have not ended; release/acquire. Outside lanes: nothing.
 */
void symm_rt_lane_barrier(void);
/* Zeroed memory shared by the lanes of the running symm_rt_lanes call, one per key; lives until
 * that call returns. */
void* symm_rt_lane_shared(const void* key, uint64_t bytes);

/* Vector cores of the chip that the runtime reports (option SHMEM_AIV_CORES). */
uint32_t symm_rt_vector_cores(void);

/* Converts `count` elements between IEEE half precision (its bits) and float, rounding to nearest
 * even. */
void symm_rt_half_to_float(const uint16_t* from, float* to, uint64_t count);
void symm_rt_float_to_half(const float* from, uint16_t* to, uint64_t count);

/* Sets the text that aclGetRecentErrMsg of this thread returns. */
void symm_rt_set_error(const char* text);

/* Records (sets) an aclrtNotify from any thread or core. Returns an aclError. */
int symm_rt_notify_record(void* notify);

/* 1 when the calling thread has a device, else 0; unlike aclrtGetDevice a question without an
 * error. */
int symm_rt_has_device(void);

/* How many PEs share this host: divides the processors among them. Called by the SHMEM library at
 * init; launches that start later use it. 0: unknown, the option SHMEM_LOCAL_PES or 1 counts. */
void symm_rt_set_local_pes(int32_t count);

/* hook(state, code, text) is called once for every launch with a state that fails, while its cores
 * still exist, on any thread or core; it must not block. One hook per process; null removes it. */
void symm_rt_set_failure_hook(void (*hook)(void* state, int code, const char* text));

/* Set by libshmem.so when it is loaded; kernels of a program without SHMEM run with a null state.
 */
void* symm_shmem_launch_state(void) __attribute__((weak));

#pragma GCC visibility pop
#ifdef __cplusplus
}
#endif
#endif
