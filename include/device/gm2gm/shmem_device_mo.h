// Kernel side: ordering and completion of this core's operations.
#ifndef SHMEM_DEVICE_MO_H
#define SHMEM_DEVICE_MO_H

#include "device/impl/engine_inl.h"
#include "device/shmem_def.h"

// Blocks until everything that the calling core started is complete: its copies, stores and
// atomics, and what it put on the queues of the RDMA, SDMA and UDMA engines. Other cores'
// operations are not covered, nor are operations of other instances. Compare aclshmemx_mte_quiet,
// which does not look at the queues. OpenSHMEM shmem_quiet.
inline void aclshmem_quiet() {
  symm_dev::polled();
  symm_dev::quiet_all(symm_dev::state("aclshmem_quiet"), "aclshmem_quiet");
}

// Orders everything this core started before against everything it starts later. Here the same as
// aclshmem_quiet. OpenSHMEM shmem_fence.
inline void aclshmem_fence() {
  symm_dev::polled();
  symm_dev::quiet_all(symm_dev::state("aclshmem_fence"), "aclshmem_fence");
}

#define shmem_quiet aclshmem_quiet
#define shmem_fence aclshmem_fence

#endif
