// Ordering and completion of what this PE issues from the host, and who can be reached. Transfers
// queued with the on_stream forms belong to their stream: quiet covers the default stream, other
// streams are synchronised or end with aclshmemx_quiet_on_stream. Kernels order their own side.
#ifndef SHMEM_HOST_MO_H
#define SHMEM_HOST_MO_H

#include <stddef.h>

#include "host/shmem_host_def.h"

extern "C" {

#ifndef SYMM_KERNEL_TU

/**
 * @brief Orders: puts, atomics, signals and stores to symmetric memory issued by this thread before
 * reach each PE before those issued after. Says nothing between two PEs and completes nothing; gets
 * and the values of _nbi atomics are not ordered. Does not block. OpenSHMEM shmem_fence.
 */
ACLSHMEM_HOST_API void aclshmem_fence(void);

/**
 * @brief Completes: everything this thread issued before, and what other threads issued and this
 * one knows of, is done and visible to all PEs; buffers of _nbi calls are free. Blocks for the
 * default stream and the queues of this PE, never for other PEs' programs. The target still needs a
 * wait, a test or a barrier to know. OpenSHMEM shmem_quiet.
 */
ACLSHMEM_HOST_API void aclshmem_quiet(void);

/** @brief aclshmem_quiet for operations to the listed world PEs alone; npes 0 does nothing and
 * ignores the list. Numbers may repeat. OpenSHMEM 1.6 shmem_pe_quiet. */
ACLSHMEM_HOST_API void aclshmem_pe_quiet(const int* target_pes, size_t npes);

#endif  // SYMM_KERNEL_TU

/** @brief aclshmem_fence for operations to the listed world PEs alone. Original. */
ACLSHMEM_HOST_API void aclshmemx_pe_fence(const int* target_pes, size_t npes);

/** @brief Local completion: the sources of _nbi puts may be reused. Says nothing about the targets.
 * Original. */
ACLSHMEM_HOST_API void aclshmemx_local_quiet(void);

/** @brief 1 when data calls of this PE reach pe, else 0, also before init. Local. OpenSHMEM
 * shmem_pe_accessible. */
ACLSHMEM_HOST_API int aclshmem_pe_accessible(int pe);

/** @brief 1 when addr is a symmetric address of this PE and its copy on pe can be reached by data
 * calls, else 0. Local. OpenSHMEM shmem_addr_accessible. */
ACLSHMEM_HOST_API int aclshmem_addr_accessible(const void* addr, int pe);

}  // extern "C"

#endif
