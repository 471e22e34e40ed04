// Remote memory access from the host. Units: typed forms count elements, BITS forms count units of
// BITS/8 bytes, mem forms count bytes. The remote address is the caller's own symmetric address;
// the local one may be any memory. Nothing moves for a count of zero. A wrong PE or range is an
// error and moves nothing.
//
// Host forms act at once: they do not wait for work that is queued on a stream, not even on the
// default stream. Synchronise the stream first, or use the on_stream forms, where the order
// matters. Blocking and _nbi forms differ in what they promise, not in what they do here: order and
// completion come from fence, quiet, signals and barriers. Naturally aligned 1, 2, 4 and 8 bytes
// never tear and wake waits.
#ifndef SHMEM_HOST_RMA_H
#define SHMEM_HOST_RMA_H

#include <stddef.h>

#include "acl/acl.h"
#include "host/shmem_host_def.h"

#undef ACLSHMEM_TYPE_FUNC
#define ACLSHMEM_TYPE_FUNC(FUNC) SYMM_HOST_TYPES(FUNC)

enum aclshmem_block_mode_t {
  NO_NBI = 0,
  NBI = 1,
};

#define shmem_ptr aclshmem_ptr
#define shmem_putmem aclshmem_putmem
#define shmem_getmem aclshmem_getmem
#define shmem_putmem_nbi aclshmem_putmem_nbi
#define shmem_getmem_nbi aclshmem_getmem_nbi
#define shmemx_getmem_on_stream aclshmemx_getmem_on_stream
#define shmemx_putmem_on_stream aclshmemx_putmem_on_stream
#define shmemx_quiet_on_stream aclshmemx_quiet_on_stream
#define shmem_mte_set_ub_params aclshmemx_set_mte_config
#define shmem_rdma_set_ub_params aclshmemx_set_rdma_config

#define shmem_put_float_mem aclshmem_float_put
#define shmem_put_double_mem aclshmem_double_put
#define shmem_put_int8_mem aclshmem_int8_put
#define shmem_put_int16_mem aclshmem_int16_put
#define shmem_put_int32_mem aclshmem_int32_put
#define shmem_put_int64_mem aclshmem_int64_put
#define shmem_put_uint8_mem aclshmem_uint8_put
#define shmem_put_uint16_mem aclshmem_uint16_put
#define shmem_put_uint32_mem aclshmem_uint32_put
#define shmem_put_uint64_mem aclshmem_uint64_put
#define shmem_put_char_mem aclshmem_char_put
#define shmem_put_float_mem_nbi aclshmem_float_put_nbi
#define shmem_put_double_mem_nbi aclshmem_double_put_nbi
#define shmem_put_int8_mem_nbi aclshmem_int8_put_nbi
#define shmem_put_int16_mem_nbi aclshmem_int16_put_nbi
#define shmem_put_int32_mem_nbi aclshmem_int32_put_nbi
#define shmem_put_int64_mem_nbi aclshmem_int64_put_nbi
#define shmem_put_uint8_mem_nbi aclshmem_uint8_put_nbi
#define shmem_put_uint16_mem_nbi aclshmem_uint16_put_nbi
#define shmem_put_uint32_mem_nbi aclshmem_uint32_put_nbi
#define shmem_put_uint64_mem_nbi aclshmem_uint64_put_nbi
#define shmem_put_char_mem_nbi aclshmem_char_put_nbi
#define shmem_get_float_mem aclshmem_float_get
#define shmem_get_double_mem aclshmem_double_get
#define shmem_get_int8_mem aclshmem_int8_get
#define shmem_get_int16_mem aclshmem_int16_get
#define shmem_get_int32_mem aclshmem_int32_get
#define shmem_get_int64_mem aclshmem_int64_get
#define shmem_get_uint8_mem aclshmem_uint8_get
#define shmem_get_uint16_mem aclshmem_uint16_get
#define shmem_get_uint32_mem aclshmem_uint32_get
#define shmem_get_uint64_mem aclshmem_uint64_get
#define shmem_get_char_mem aclshmem_char_get
#define shmem_get_float_mem_nbi aclshmem_float_get_nbi
#define shmem_get_double_mem_nbi aclshmem_double_get_nbi
#define shmem_get_int8_mem_nbi aclshmem_int8_get_nbi
#define shmem_get_int16_mem_nbi aclshmem_int16_get_nbi
#define shmem_get_int32_mem_nbi aclshmem_int32_get_nbi
#define shmem_get_int64_mem_nbi aclshmem_int64_get_nbi
#define shmem_get_uint8_mem_nbi aclshmem_uint8_get_nbi
#define shmem_get_uint16_mem_nbi aclshmem_uint16_get_nbi
#define shmem_get_uint32_mem_nbi aclshmem_uint32_get_nbi
#define shmem_get_uint64_mem_nbi aclshmem_uint64_get_nbi
#define shmem_get_char_mem_nbi aclshmem_char_get_nbi
#define shmem_float_p aclshmem_float_p
#define shmem_double_p aclshmem_double_p
#define shmem_int8_p aclshmem_int8_p
#define shmem_int16_p aclshmem_int16_p
#define shmem_int32_p aclshmem_int32_p
#define shmem_int64_p aclshmem_int64_p
#define shmem_uint8_p aclshmem_uint8_p
#define shmem_uint16_p aclshmem_uint16_p
#define shmem_uint32_p aclshmem_uint32_p
#define shmem_uint64_p aclshmem_uint64_p
#define shmem_char_p aclshmem_char_p
#define shmem_float_g aclshmem_float_g
#define shmem_double_g aclshmem_double_g
#define shmem_int8_g aclshmem_int8_g
#define shmem_int16_g aclshmem_int16_g
#define shmem_int32_g aclshmem_int32_g
#define shmem_int64_g aclshmem_int64_g
#define shmem_uint8_g aclshmem_uint8_g
#define shmem_uint16_g aclshmem_uint16_g
#define shmem_uint32_g aclshmem_uint32_g
#define shmem_uint64_g aclshmem_uint64_g
#define shmem_char_g aclshmem_char_g

extern "C" {

#ifndef SYMM_KERNEL_TU

/**
 * @brief Address in this process of PE pe's copy of the symmetric object at ptr, for loads and
 * stores only. Local. Null when pe is none, the address is not symmetric, or the PE's memory is not
 * mapped here.
 */
ACLSHMEM_HOST_API void* aclshmem_ptr(void* ptr, int pe);

/** @brief Puts elem_size BYTES from src to the symmetric address dst on pe. */
ACLSHMEM_HOST_API void aclshmem_putmem(void* dst, void* src, size_t elem_size, int32_t pe);
/** @brief Gets elem_size BYTES from the symmetric address src on pe into dst; complete on return.
 */
ACLSHMEM_HOST_API void aclshmem_getmem(void* dst, void* src, size_t elem_size, int32_t pe);
/** @brief As aclshmem_putmem; src must stay unchanged until quiet. */
ACLSHMEM_HOST_API void aclshmem_putmem_nbi(void* dst, void* src, size_t elem_size, int32_t pe);
/** @brief As aclshmem_getmem; dst is valid after quiet. */
ACLSHMEM_HOST_API void aclshmem_getmem_nbi(void* dst, void* src, size_t elem_size, int32_t pe);

/**
 * @brief aclshmem_TYPE_put / _get and _nbi: nelems elements between local memory and the symmetric
 * address on pe. aclshmem_TYPE_iput / _iget: element i goes from source[i * sst] to dest[i * dst];
 * strides in elements, at least 1. aclshmem_TYPE_p: one value to the symmetric address dst on pe.
 * aclshmem_TYPE_g: returns the value at the symmetric address src on pe, zero when pe or address is
 * wrong.
 */
#define ACLSHMEM_DECLARE_TYPE_RMA(NAME, TYPE)                                                    \
  ACLSHMEM_HOST_API void aclshmem_##NAME##_put(TYPE* dest, TYPE* source, size_t nelems, int pe); \
  ACLSHMEM_HOST_API void aclshmem_##NAME##_put_nbi(TYPE* dest, TYPE* source, size_t nelems,      \
                                                   int pe);                                      \
  ACLSHMEM_HOST_API void aclshmem_##NAME##_get(TYPE* dest, TYPE* source, size_t nelems, int pe); \
  ACLSHMEM_HOST_API void aclshmem_##NAME##_get_nbi(TYPE* dest, TYPE* source, size_t nelems,      \
                                                   int pe);                                      \
  ACLSHMEM_HOST_API void aclshmem_##NAME##_iput(TYPE* dest, TYPE* source, ptrdiff_t dst,         \
                                                ptrdiff_t sst, size_t nelems, int pe);           \
  ACLSHMEM_HOST_API void aclshmem_##NAME##_iget(TYPE* dest, TYPE* source, ptrdiff_t dst,         \
                                                ptrdiff_t sst, size_t nelems, int pe);           \
  ACLSHMEM_HOST_API void aclshmem_##NAME##_p(TYPE* dst, const TYPE value, int pe);               \
  ACLSHMEM_HOST_API TYPE aclshmem_##NAME##_g(TYPE* src, int32_t pe)
ACLSHMEM_TYPE_FUNC(ACLSHMEM_DECLARE_TYPE_RMA);
#undef ACLSHMEM_DECLARE_TYPE_RMA

/** @brief The same for units of BITS/8 bytes; counts and strides in units. */
#define ACLSHMEM_DECLARE_SIZE_RMA(BITS)                                                          \
  ACLSHMEM_HOST_API void aclshmem_put##BITS(void* dst, void* src, size_t elem_size, int32_t pe); \
  ACLSHMEM_HOST_API void aclshmem_put##BITS##_nbi(void* dst, void* src, size_t elem_size,        \
                                                  int32_t pe);                                   \
  ACLSHMEM_HOST_API void aclshmem_get##BITS(void* dst, void* src, size_t elem_size, int32_t pe); \
  ACLSHMEM_HOST_API void aclshmem_get##BITS##_nbi(void* dst, void* src, size_t elem_size,        \
                                                  int32_t pe);                                   \
  ACLSHMEM_HOST_API void aclshmem_iput##BITS(void* dest, void* source, ptrdiff_t dst,            \
                                             ptrdiff_t sst, size_t nelems, int pe);              \
  ACLSHMEM_HOST_API void aclshmem_iget##BITS(void* dest, void* source, ptrdiff_t dst,            \
                                             ptrdiff_t sst, size_t nelems, int pe)
ACLSHMEM_SIZE_FUNC(ACLSHMEM_DECLARE_SIZE_RMA);
#undef ACLSHMEM_DECLARE_SIZE_RMA

/**
 * @brief Default scratch of an engine in the unified buffer for the kernels launched afterwards:
 * offset and size in bytes, event id. 0; -5 before init; RDMA and UDMA: -2 when ub_size is under
 * 128.
 */
ACLSHMEM_HOST_API int aclshmemx_set_mte_config(uint64_t offset, uint32_t ub_size, uint32_t sync_id);
ACLSHMEM_HOST_API int aclshmemx_set_sdma_config(uint64_t offset, uint32_t ub_size,
                                                uint32_t sync_id);
ACLSHMEM_HOST_API int aclshmemx_set_udma_config(uint64_t offset, uint32_t ub_size,
                                                uint32_t sync_id);

ACLSHMEM_HOST_API int aclshmemx_set_rdma_config(uint64_t offset, uint32_t ub_size,
                                                uint32_t sync_id);

#endif  // SYMM_KERNEL_TU

/** @brief Queues a put of elem_size BYTES on the stream (null: the default stream). The host does
 * not block. */
ACLSHMEM_HOST_API void aclshmemx_putmem_on_stream(void* dst, void* src, size_t elem_size,
                                                  int32_t pe, aclrtStream stream);
/** @brief Queues a get of elem_size BYTES on the stream (null: the default stream). The host does
 * not block. */
ACLSHMEM_HOST_API void aclshmemx_getmem_on_stream(void* dst, void* src, size_t elem_size,
                                                  int32_t pe, aclrtStream stream);
/** @brief Queues on the stream (null: the default stream) the completion of what was queued there
 * before and on engines. */
ACLSHMEM_HOST_API void aclshmemx_quiet_on_stream(aclrtStream stream);

}  // extern "C"

#endif
