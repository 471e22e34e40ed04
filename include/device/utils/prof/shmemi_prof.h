// Kernel side: cycles per block and frame, on the PE that SHMEM_CYCLE_PROF_PE names. The host reads
// them with aclshmemx_get_prof and aclshmemx_show_prof. Frames 0..1023, blocks 0..63; others are
// not counted. Statements, any core.
#ifndef SHMEMI_PROF_H
#define SHMEMI_PROF_H

#include <time.h>

#include "device/impl/state_inl.h"
#include "device/shmem_def.h"

namespace symm_dev {

// Ticks as AscendC::GetSystemCycle counts them, without letting other cores run.
inline int64_t cycles() {
  timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  const int64_t nanoseconds = now.tv_sec * 1000000000ll + now.tv_nsec;
#if __NPU_ARCH__ == 3510
  return nanoseconds;
#else
  return nanoseconds / 20;
#endif
}

// Where this core counts, or null when it does not.
inline aclshmem_prof_block_t* prof_block(int64_t frame) {
  const symm_device_state* s = state("SHMEMI_PROF");
  if (s->base.profs == nullptr || s->base.profs->pe_id != s->base.mype) return nullptr;
  const int64_t block = core_index(symm_rt_core());
  if (block >= ACLSHMEM_CYCLE_PROF_MAX_BLOCK || frame < 0 || frame >= ACLSHMEM_CYCLE_PROF_FRAME_CNT)
    return nullptr;
  return &s->base.profs->block_prof[block];
}

// Every core has counters of its own, so plain additions do; the host reads them after the stream
// is done.
inline void prof_start(int64_t frame) {
  if (aclshmem_prof_block_t* block = prof_block(frame)) {
    full_fence();
    block->cycles[frame] -= cycles();
  }
}

inline void prof_end(int64_t frame) {
  if (aclshmem_prof_block_t* block = prof_block(frame)) {
    full_fence();
    block->cycles[frame] += cycles();
    block->ccount[frame] += 1;
  }
}

}  // namespace symm_dev

#define SHMEMI_PROF_START(pf_id) ::symm_dev::prof_start(static_cast<int64_t>(pf_id))
#define SHMEMI_PROF_END(pf_id) ::symm_dev::prof_end(static_cast<int64_t>(pf_id))

#endif
