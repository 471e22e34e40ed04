// Kernel side: barriers. In a kernel every vector core of the launch, on every member PE, calls
// them; on a host thread they are the host functions. Kernel and host barriers of one team use the
// same numbers: do not run both at once.
#ifndef SHMEM_DEVICE_CC_H
#define SHMEM_DEVICE_CC_H

#include "device/impl/barrier_inl.h"
#include "device/impl/host_dual.h"
#include "device/shmem_def.h"

SYMM_HOST(void, aclshmem_barrier, (aclshmem_team_t team));
SYMM_HOST(void, aclshmem_barrier_all, (void));
SYMM_HOST(void, aclshmem_sync, (aclshmem_team_t team));
SYMM_HOST(void, aclshmem_sync_all, (void));

// Kept for programs that call it first in a kernel; needs nothing here.
inline void util_set_ffts_config(uint64_t) {}

// Blocks until every core of every member is here. Earlier stores, copies, atomics and queued
// transfers of all of them are visible to all afterwards. Team -1: returns. OpenSHMEM: quiet and
// team sync.
inline void aclshmem_barrier(aclshmem_team_t team) {
  if (!symm_dev::in_kernel()) return symm_host_aclshmem_barrier(team);
  symm_dev::team_barrier(team, true, "aclshmem_barrier");
}

// aclshmem_barrier of the world team. OpenSHMEM shmem_barrier_all.
inline void aclshmem_barrier_all() {
  if (!symm_dev::in_kernel()) return symm_host_aclshmem_barrier_all();
  symm_dev::team_barrier(ACLSHMEM_TEAM_WORLD, true, "aclshmem_barrier_all");
}

// Barrier of the vector cores; the same as aclshmem_barrier here, where cube cores do not run.
// Kernels only.
inline void aclshmemx_barrier_vec(aclshmem_team_t team) {
  symm_dev::team_barrier(team, true, "aclshmemx_barrier_vec");
}

// aclshmemx_barrier_vec of the world team.
inline void aclshmemx_barrier_all_vec() {
  symm_dev::team_barrier(ACLSHMEM_TEAM_WORLD, true, "aclshmemx_barrier_all_vec");
}

// Like aclshmem_barrier, but completes nothing: only plain stores made before are visible
// afterwards, transfers on the queues of the engines may still be under way. OpenSHMEM
// shmem_team_sync.
inline void aclshmem_sync(aclshmem_team_t team) {
  if (!symm_dev::in_kernel()) return symm_host_aclshmem_sync(team);
  symm_dev::team_barrier(team, false, "aclshmem_sync");
}

// aclshmem_sync of the world team. OpenSHMEM shmem_sync_all.
inline void aclshmem_sync_all() {
  if (!symm_dev::in_kernel()) return symm_host_aclshmem_sync_all();
  symm_dev::team_barrier(ACLSHMEM_TEAM_WORLD, false, "aclshmem_sync_all");
}

#define shmemx_set_ffts_config util_set_ffts_config
#define shmem_barrier aclshmem_barrier
#define shmem_barrier_all aclshmem_barrier_all
#define shmemx_barrier_vec aclshmemx_barrier_vec
#define shmemx_barrier_all_vec aclshmemx_barrier_all_vec

#endif
