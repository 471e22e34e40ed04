// Symmetric memory. The calls that allocate or free are collective over all PEs of the instance:
// every PE makes the same calls with the same arguments in the same order. A difference is an error
// on all PEs.
#ifndef SHMEM_HOST_HEAP_H
#define SHMEM_HOST_HEAP_H

#include "host/shmem_host_def.h"

#define shmem_malloc aclshmem_malloc
#define shmem_calloc aclshmem_calloc
#define shmem_align aclshmem_align
#define shmem_free aclshmem_free

extern "C" {

/**
 * @brief Allocates `size` bytes (rounded up to 16) at the same offset on all PEs. Blocking; barrier
 * at the end, so that the block may be used remotely at once.
 * @return the block on this PE; null on all PEs when there is no room or the calls differ; null
 * without a barrier for 0 bytes and before init.
 */
ACLSHMEM_HOST_API void* aclshmem_malloc(size_t size);

/** @brief As aclshmem_malloc for nmemb * size bytes, zero on all PEs when the call returns. Null if
 * the product overflows. */
ACLSHMEM_HOST_API void* aclshmem_calloc(size_t nmemb, size_t size);

/** @brief As aclshmem_malloc at a multiple of `alignment`, a power of two; else null without a
 * barrier. */
ACLSHMEM_HOST_API void* aclshmem_align(size_t alignment, size_t size);

/**
 * @brief Frees a block. Blocking; barrier at the start, so that puts of all PEs before the call are
 * over. Null: nothing happens. An address that is no block is an error and changes nothing.
 */
ACLSHMEM_HOST_API void aclshmem_free(void* ptr);

/**
 * @brief The same calls for a kind of memory. There is one kind here, the device side; HOST_SIDE
 * gives null.
 */
ACLSHMEM_HOST_API void* aclshmemx_malloc(size_t size, aclshmem_mem_type_t mem_type = DEVICE_SIDE);
ACLSHMEM_HOST_API void* aclshmemx_calloc(size_t count, size_t size,
                                         aclshmem_mem_type_t mem_type = DEVICE_SIDE);
ACLSHMEM_HOST_API void* aclshmemx_align(size_t alignment, size_t size,
                                        aclshmem_mem_type_t mem_type = DEVICE_SIDE);
ACLSHMEM_HOST_API void aclshmemx_free(void* ptr, aclshmem_mem_type_t mem_type = DEVICE_SIDE);

/** @brief Start of this PE's heap of that kind; null before init or when there is none. Local. */
ACLSHMEM_HOST_API void* aclshmemx_get_heap_base(aclshmem_mem_type_t mem_type = DEVICE_SIDE);

}  // extern "C"

#endif
