// Symmetric memory. The calls that allocate, free, make or register memory are collective over all
// PEs of the instance: every PE makes the same calls with the same arguments in the same order. A
// difference, or an argument that is wrong on one PE, is an error on all PEs that names both calls
// and where they are.
#ifndef SHMEM_HOST_HEAP_H
#define SHMEM_HOST_HEAP_H

#include "host/shmem_host_def.h"

#define shmem_malloc aclshmem_malloc
#define shmem_calloc aclshmem_calloc
#define shmem_align aclshmem_align
#define shmem_free aclshmem_free
#define shmem_realloc aclshmem_realloc
#define shmem_malloc_with_hints aclshmem_malloc_with_hints

/** Hints of aclshmem_malloc_with_hints: what the block is for; combine with |. */
#define ACLSHMEM_MALLOC_ATOMICS_REMOTE 1L
#define ACLSHMEM_MALLOC_SIGNAL_REMOTE 2L

/** State of a heap of this PE (ours); all in bytes but `blocks`. */
struct aclshmemx_heap_info_t {
  uint64_t capacity;
  uint64_t in_use;
  uint64_t most_in_use; /* since the heap exists */
  uint64_t largest_free;
  uint64_t blocks;
};

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

/** @brief As aclshmem_malloc at a multiple of `alignment`, a power of two of at least
 * sizeof(void*); else null on all PEs. */
ACLSHMEM_HOST_API void* aclshmem_align(size_t alignment, size_t size);

/**
 * @brief Changes the size of a block, in place if there is room (OpenSHMEM shmem_realloc).
 * Blocking; barriers at the start and at the end. The contents stay up to the smaller size;
 * an alignment from aclshmem_align does not. Null `ptr`: aclshmem_malloc. Size 0: aclshmem_free.
 * @return the block; null on all PEs when there is no room or the calls differ: then the old block
 * is as it was.
 */
ACLSHMEM_HOST_API void* aclshmem_realloc(void* ptr, size_t size);

/** @brief As aclshmem_malloc; `hints` say what the block is for (OpenSHMEM
 * shmem_malloc_with_hints). With any hint it has cache lines of its own. Null on all PEs for
 * unknown hints. */
ACLSHMEM_HOST_API void* aclshmem_malloc_with_hints(size_t size, long hints);

/**
 * @brief Frees a block. Blocking; barrier at the start, so that puts of all PEs before the call are
 * over. Null: nothing happens. An address that is no block is an error and changes nothing.
 */
ACLSHMEM_HOST_API void aclshmem_free(void* ptr);

/**
 * @brief The same calls for a kind of memory. The HOST_SIDE heap is as large as the device heap
 * and made by the first allocation from it. Puts, gets, signals, aclshmem_ptr and kernels take
 * addresses of both.
 */
ACLSHMEM_HOST_API void* aclshmemx_malloc(size_t size, aclshmem_mem_type_t mem_type = DEVICE_SIDE);
ACLSHMEM_HOST_API void* aclshmemx_calloc(size_t count, size_t size,
                                         aclshmem_mem_type_t mem_type = DEVICE_SIDE);
ACLSHMEM_HOST_API void* aclshmemx_align(size_t alignment, size_t size,
                                        aclshmem_mem_type_t mem_type = DEVICE_SIDE);
/** @brief Frees a block of that kind of memory, or of a heap of aclshmemx_create_heap whatever the
 * kind says. As aclshmem_free. */
ACLSHMEM_HOST_API void aclshmemx_free(void* ptr, aclshmem_mem_type_t mem_type = DEVICE_SIDE);

/** @brief Start of this PE's heap of that kind; null before init or when there is none. Local. */
ACLSHMEM_HOST_API void* aclshmemx_get_heap_base(aclshmem_mem_type_t mem_type = DEVICE_SIDE);

/** @brief Writes the state of this PE's heap of that kind (ours). Local. 0; -1 for null or when
 * there is no such heap; -5 before init. */
ACLSHMEM_HOST_API int aclshmemx_heap_info(aclshmemx_heap_info_t* info,
                                          aclshmem_mem_type_t mem_type = DEVICE_SIDE);

/**
 * @brief Makes a buffer of the program symmetric (ours): `size` bytes at `address`, whole pages of
 * private memory (aligned_alloc, mmap). The contents stay; from now on puts, gets, signals,
 * aclshmem_ptr and kernels take its addresses. Sizes must be equal on all PEs, addresses need not.
 * Collective, blocking. No other thread may write to it during the call.
 * @return 0; -1 for an address or size that is not whole pages, or symmetric already, and when the
 * calls differ; -8 without memory. On all PEs alike.
 */
ACLSHMEM_HOST_API int aclshmemx_buffer_register(void* address, size_t size);

/** @brief Makes a registered buffer private again, with its contents (ours). Pass its start.
 * Collective, blocking; finalize does the same for those that are left. 0; -1 when `address` is not
 * the start of a registered buffer. */
ACLSHMEM_HOST_API int aclshmemx_buffer_unregister(void* address);

}  // extern "C"

/** What a heap of the program is made with (design article). */
struct aclshmemx_heap_attr_t {
  uint64_t heap_size = 0;  // bytes per PE, rounded up to 2 MiB
  uint64_t alignment = 0;  // every block begins at a multiple; power of two up to 2 MiB; 0: 16
};

/** A heap that the program made. Plain data; copies name the same heap. */
struct aclshmemx_heap_t {
  uint64_t number = 0;  // 0: none
};

/**
 * @brief Makes one more symmetric heap (design article). Collective, blocking. Costs no memory
 * before it is touched.
 * @return 0 and *heap; -2 for null, a size of 0 or a wrong alignment; -8 without memory. On
 * all PEs alike.
 */
ACLSHMEM_HOST_API int32_t aclshmemx_create_heap(const aclshmemx_heap_attr_t* attributes,
                                                aclshmemx_heap_t* heap);

/** @brief Takes the memory of a heap away, also blocks that are left in it. Collective, blocking.
 * `flags` and `reserved` must be 0 and null. 0; -1 for an unknown heap. */
ACLSHMEM_HOST_API int32_t aclshmemx_destroy_heap(aclshmemx_heap_t heap, int flags, void* reserved);

/** @brief As aclshmem_malloc from a heap of the program; *block is null when it fails. 0 with null
 * for 0 bytes; -1 for an unknown heap or null `block`; -8 when there is no room. */
ACLSHMEM_HOST_API int32_t aclshmemx_malloc(aclshmemx_heap_t heap, size_t size, void** block);

/** @brief Writes the state of this PE's part of a heap of the program (ours). Local. */
ACLSHMEM_HOST_API int aclshmemx_heap_info(aclshmemx_heap_info_t* info, aclshmemx_heap_t heap);

#endif
