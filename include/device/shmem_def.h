// What every kernel-side header of SHMEM needs: the kernel language, the shared types, and the
// macros and constants that programs use. Kernel translation units only.
#ifndef SHMEM_DEVICE_DEF_H
#define SHMEM_DEVICE_DEF_H

#include "kernel_operator.h"

#include "host_device/shmem_common_types.h"

// Marks a helper function of a kernel.
#ifndef ACLSHMEM_DEVICE
#define ACLSHMEM_DEVICE __attribute__((always_inline)) __aicore__ __inline__
#endif
// Marks a kernel whose blocks have one cube and two vector cores, and one with a single vector core
// per block.
#ifndef ACLSHMEM_GLOBAL
#define ACLSHMEM_GLOBAL __global__ __aicore__
#endif
#ifndef ACLSHMEM_GLOBAL_VECTOR
#define ACLSHMEM_GLOBAL_VECTOR [[bisheng::core_ratio(0, 1)]] __global__ __aicore__
#endif

#define ACLSHMEM_INTERNAL_UB_BUF_START_ADDR (188 * 1024)
#define UB_ALIGN_SIZE 32
#define UB_ALIGN_SIZE_64 64
#define ACLSHMEM_NUM_CQE_PER_POLL_CQ 100
#define ACLSHMEM_DATA_CACHE_LINE_SIZE 64

// Bytes of the unified buffer that the range checks of the ub2gm calls assume.
constexpr uint64_t ub_limit = 192 * 1024;

// Rows of a strided copy; all four fields count elements.
struct non_contiguous_copy_param {
  uint32_t repeat;  // rows
  uint32_t length;  // elements per row
  uint32_t src_ld;  // from the start of one source row to the next
  uint32_t dst_ld;  // the same in the destination
};

#ifdef USE_SIMT
#include "device_simt/shmem_simt_common_types.h"
#include "simt_api/asc_simt.h"
#endif

#endif
