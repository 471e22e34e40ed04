// Teams by handle or number, for kernels and, in the same source file, for host threads: the
// simplified interface. All are our own; OpenSHMEM has no such calls.
#ifndef SHMEM_DEVICE_TEAM_EXT_H
#define SHMEM_DEVICE_TEAM_EXT_H

#include "device/gm2gm/shmem_device_cc.h"
#include "device/impl/barrier_inl.h"
#include "device/team/shmem_device_team.h"

// Number of members; -1 for an invalid team. Does not block.
inline int32_t aclshmemx_team_size(aclshmem_team_t team) { return aclshmem_team_n_pes(team); }
inline int32_t aclshmemx_team_size(const aclshmemx_team_t& team) {
  return aclshmemx_team_size(static_cast<aclshmem_team_t>(team.team_idx));
}

// Number of this PE inside the team, 0 .. size - 1; -1 when it is no member. Does not block.
inline int32_t aclshmemx_team_global_rank(aclshmem_team_t team) {
  return aclshmem_team_my_pe(team);
}
inline int32_t aclshmemx_team_global_rank(const aclshmemx_team_t& team) {
  return aclshmemx_team_global_rank(static_cast<aclshmem_team_t>(team.team_idx));
}

// Completes everything that this PE's launch has started, then meets all members: what any member
// put before it is visible after it. Every vector core of the launch on every member must call it.
// Blocks. On a host thread: the barrier of the team.
inline void aclshmemx_team_sync(aclshmem_team_t team) {
  if (!symm_dev::in_kernel()) return symm_host_aclshmem_barrier(team);
  symm_dev::team_barrier(team, true, "aclshmemx_team_sync");
}
inline void aclshmemx_team_sync(const aclshmemx_team_t& team) {
  aclshmemx_team_sync(static_cast<aclshmem_team_t>(team.team_idx));
}

#endif
