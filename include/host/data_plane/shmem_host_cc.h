// Barriers. They cover what this PE issued from the host, on the default stream and on the engines.
// Call them in the same order on all members of a team, one at a time per team, and not while a
// kernel uses a barrier of the same team.
#ifndef SHMEM_HOST_CC_H
#define SHMEM_HOST_CC_H

#include "acl/acl.h"
#include "host/shmem_host_def.h"

#define shmemx_barrier_on_stream aclshmemx_barrier_on_stream
#define shmemx_barrier_all_on_stream aclshmemx_barrier_all_on_stream

extern "C" {

#ifndef SYMM_KERNEL_TU
/**
 * @brief Blocks until every member of the team has called it; everything the members issued before
 * is complete and visible afterwards. Team -1: nothing happens. A lost member ends the wait with an
 * error (aclshmemx_last_error).
 */
ACLSHMEM_HOST_API void aclshmem_barrier(aclshmem_team_t team);
/** @brief aclshmem_barrier of all PEs. */
ACLSHMEM_HOST_API void aclshmem_barrier_all(void);
/** @brief Blocks like aclshmem_barrier but promises only that stores before it are visible. Ours
 * completes the same. */
ACLSHMEM_HOST_API void aclshmem_sync(aclshmem_team_t team);
/** @brief aclshmem_sync of all PEs. */
ACLSHMEM_HOST_API void aclshmem_sync_all(void);
#endif

/** @brief Queues the barrier on the stream (null: the default stream); later work on it waits for
 * all members. */
ACLSHMEM_HOST_API void aclshmemx_barrier_on_stream(aclshmem_team_t team, aclrtStream stream);
/** @brief aclshmemx_barrier_on_stream of all PEs. */
ACLSHMEM_HOST_API void aclshmemx_barrier_all_on_stream(aclrtStream stream);

}  // extern "C"

#endif
