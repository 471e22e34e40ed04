// Transfers that can be completed one by one, and many transfers in one call. Units are BYTES
// unless the name has a type. Original; OpenSHMEM completes with quiet alone.
#ifndef SHMEM_HOST_REQUEST_H
#define SHMEM_HOST_REQUEST_H

#include <stddef.h>

#include "host/shmem_host_def.h"

extern "C" {

/** @brief Names one transfer of this PE until it was waited for; ACLSHMEMX_REQUEST_INVALID names
 * none. */
typedef uint64_t aclshmemx_request_t;
#define ACLSHMEMX_REQUEST_INVALID ((aclshmemx_request_t)0)

/** @brief One transfer of a batch: a put when dest is symmetric on pe, a get when source is. */
typedef struct aclshmemx_transfer_t {
  void* dest;
  const void* source;
  size_t bytes;
  int32_t pe;
} aclshmemx_transfer_t;

/** @brief As aclshmem_putmem_nbi, with a request for it. ACLSHMEMX_REQUEST_INVALID after an error
 * (aclshmemx_last_error). */
ACLSHMEM_HOST_API aclshmemx_request_t aclshmemx_putmem_nbi_request(void* dst, const void* src,
                                                                   size_t bytes, int32_t pe);
/** @brief As aclshmem_getmem_nbi, with a request for it. */
ACLSHMEM_HOST_API aclshmemx_request_t aclshmemx_getmem_nbi_request(void* dst, const void* src,
                                                                   size_t bytes, int32_t pe);

/** @brief The typed forms: nelems elements. */
#define ACLSHMEM_DECLARE_REQUEST(NAME, TYPE)                                \
  ACLSHMEM_HOST_API aclshmemx_request_t aclshmemx_##NAME##_put_nbi_request( \
      TYPE* dest, const TYPE* source, size_t nelems, int pe);               \
  ACLSHMEM_HOST_API aclshmemx_request_t aclshmemx_##NAME##_get_nbi_request( \
      TYPE* dest, const TYPE* source, size_t nelems, int pe)
SYMM_HOST_TYPES(ACLSHMEM_DECLARE_REQUEST);
#undef ACLSHMEM_DECLARE_REQUEST

/**
 * @brief *done becomes 1 when the transfer is complete, as after quiet: the buffers are free, a put
 * is visible on its PE; else 0. Does not block. 0, or ACLSHMEM_INVALID_PARAM for no request or a
 * null done. A request that is complete stays complete.
 */
ACLSHMEM_HOST_API int aclshmemx_request_test(aclshmemx_request_t request, int* done);
/** @brief Blocks until the transfer is complete. 0, or ACLSHMEM_INVALID_PARAM. */
ACLSHMEM_HOST_API int aclshmemx_request_wait(aclshmemx_request_t request);
/** @brief Blocks until all `count` transfers are complete; invalid entries are passed over. 0, or
 * ACLSHMEM_INVALID_PARAM for a null list. */
ACLSHMEM_HOST_API int aclshmemx_request_wait_all(const aclshmemx_request_t* requests, size_t count);

/**
 * @brief `count` puts in one call, in any order; sources may be reused on return. All are checked
 * first: with one wrong PE or range nothing moves, the message names its index, and the result is
 * ACLSHMEM_INVALID_PARAM; else 0.
 */
ACLSHMEM_HOST_API int aclshmemx_put_many(const aclshmemx_transfer_t* transfers, size_t count);
/** @brief The same for gets; complete on return. */
ACLSHMEM_HOST_API int aclshmemx_get_many(const aclshmemx_transfer_t* transfers, size_t count);

}  // extern "C"

#endif
