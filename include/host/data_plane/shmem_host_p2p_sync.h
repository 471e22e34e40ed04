// Waiting for and testing values in this PE's own memory. cmp is an aclshmem_cmp_op_type_t; another
// number is an error: waits return at once, tests give 0, "any" gives SIZE_MAX. Arrays: status null
// includes all elements, else a non-zero entry leaves its element out. The host blocks, after what
// was queued on the default stream; a lost PE ends a wait with an error (aclshmemx_last_error).
#ifndef SHMEM_HOST_P2P_SYNC_H
#define SHMEM_HOST_P2P_SYNC_H

#include <stddef.h>

#include "acl/acl.h"
#include "host/shmem_host_def.h"

#define shmemx_get_ffts_config util_get_ffts_config
#define shmem_handle_wait aclshmemx_handle_wait
#define shmem_signal_wait_until_on_stream aclshmemx_signal_wait_until_on_stream

extern "C" {

/** @brief A value that kernels with barriers take as an argument; 0 here. Local. */
ACLSHMEM_HOST_API uint64_t util_get_ffts_config(void);

/**
 * @brief Queues on the stream the completion of this PE's outstanding RDMA, then a barrier of
 * handle.team_id. The host does not block.
 */
ACLSHMEM_HOST_API void aclshmemx_handle_wait(aclshmem_handle_t handle, aclrtStream stream);

/** @brief Queues on the stream (null: the default stream) a wait for the signal in this PE's
 * memory. */
ACLSHMEM_HOST_API void aclshmemx_signal_wait_until_on_stream(int32_t* sig_addr, int cmp,
                                                             int32_t cmp_val, aclrtStream stream);

#ifndef SYMM_KERNEL_TU

/** @brief Blocks until the signal in this PE's memory compares. */
ACLSHMEM_HOST_API void aclshmem_signal_wait_until(int32_t* sig_addr, int cmp, int32_t cmp_val);

/**
 * @brief aclshmem_TYPE_wait_until: until *ivar compares with cmp_value. _wait: until *ivar differs
 * from cmp_value. _wait_until_all: until all included elements compare; at once when none is
 * included. _wait_until_any: until one does; its index to *res_out, SIZE_MAX when none is included.
 *        _wait_until_some: until at least one does; all such indices to indices, their number to
 * *res_out, 0 when none is included. The _vector forms compare element i with cmp_values[i].
 */
#define ACLSHMEM_DECLARE_WAIT(NAME, TYPE)                                                         \
  ACLSHMEM_HOST_API void aclshmem_##NAME##_wait_until(TYPE* ivar, int cmp, TYPE cmp_value);       \
  ACLSHMEM_HOST_API void aclshmem_##NAME##_wait(TYPE* ivar, TYPE cmp_value);                      \
  ACLSHMEM_HOST_API void aclshmem_##NAME##_wait_until_all(                                        \
      TYPE* ivars, size_t nelems, const int* status, int cmp, TYPE cmp_value);                    \
  ACLSHMEM_HOST_API void aclshmem_##NAME##_wait_until_any(                                        \
      TYPE* ivars, size_t nelems, const int* status, int cmp, TYPE cmp_value, size_t* res_out);   \
  ACLSHMEM_HOST_API void aclshmem_##NAME##_wait_until_some(                                       \
      TYPE* ivars, size_t nelems, size_t* indices, const int* status, int cmp, TYPE cmp_value,    \
      size_t* res_out);                                                                           \
  ACLSHMEM_HOST_API void aclshmem_##NAME##_wait_until_all_vector(                                 \
      TYPE* ivars, size_t nelems, const int* status, int cmp, TYPE* cmp_values);                  \
  ACLSHMEM_HOST_API void aclshmem_##NAME##_wait_until_any_vector(                                 \
      TYPE* ivars, size_t nelems, const int* status, int cmp, TYPE* cmp_values, size_t* res_out); \
  ACLSHMEM_HOST_API void aclshmem_##NAME##_wait_until_some_vector(                                \
      TYPE* ivars, size_t nelems, size_t* indices, const int* status, int cmp, TYPE* cmp_values,  \
      size_t* res_out)
ACLSHMEM_P2P_SYNC_TYPE_FUNC(ACLSHMEM_DECLARE_WAIT);
#undef ACLSHMEM_DECLARE_WAIT

/**
 * @brief One look, no waiting. aclshmem_TYPE_test: *res_out is 1 when *ivars compares, else 0.
 * _test_any: index of one that does, SIZE_MAX if none. _test_some: all indices and their number.
 * _test_all_vector: 1 when all included elements compare, also when none is included. The _vector
 * forms compare element i with cmp_values[i].
 */
#define ACLSHMEM_DECLARE_TEST(NAME, TYPE)                                                          \
  ACLSHMEM_HOST_API void aclshmem_##NAME##_test(TYPE* ivars, int cmp, TYPE cmp_value,              \
                                                int* res_out);                                     \
  ACLSHMEM_HOST_API void aclshmem_##NAME##_test_any(TYPE* ivars, size_t nelems, const int* status, \
                                                    int cmp, TYPE cmp_value, size_t* res_out);     \
  ACLSHMEM_HOST_API void aclshmem_##NAME##_test_some(TYPE* ivars, size_t nelems, size_t* indices,  \
                                                     const int* status, int cmp, TYPE cmp_value,   \
                                                     size_t* res_out);                             \
  ACLSHMEM_HOST_API void aclshmem_##NAME##_test_all_vector(                                        \
      TYPE* ivars, size_t nelems, const int* status, int cmp, TYPE* cmp_values, int* res_out);     \
  ACLSHMEM_HOST_API void aclshmem_##NAME##_test_any_vector(                                        \
      TYPE* ivars, size_t nelems, const int* status, int cmp, TYPE* cmp_values, size_t* res_out);  \
  ACLSHMEM_HOST_API void aclshmem_##NAME##_test_some_vector(                                       \
      TYPE* ivars, size_t nelems, size_t* indices, const int* status, int cmp, TYPE* cmp_values,   \
      size_t* res_out)
ACLSHMEM_P2P_SYNC_TYPE_FUNC(ACLSHMEM_DECLARE_TEST);
#undef ACLSHMEM_DECLARE_TEST

#endif  // SYMM_KERNEL_TU

/**
 * @brief The waits with a time limit: 0 when the condition held within timeout_ms milliseconds,
 * ACLSHMEM_TIMEOUT_ERROR (not recorded as an error) when not, another code after an error. A limit
 * of 0 looks once: a test. Results are as without a limit; after a time-out *res_out is SIZE_MAX
 * for any and 0 for some. SHMEM_WAIT_TIMEOUT does not apply. Original.
 */
#define ACLSHMEM_DECLARE_TIMED(NAME, TYPE)                                                       \
  ACLSHMEM_HOST_API int aclshmemx_##NAME##_wait_until_timed(TYPE* ivar, int cmp, TYPE cmp_value, \
                                                            uint64_t timeout_ms);                \
  ACLSHMEM_HOST_API int aclshmemx_##NAME##_wait_until_all_timed(                                 \
      TYPE* ivars, size_t nelems, const int* status, int cmp, TYPE cmp_value,                    \
      uint64_t timeout_ms);                                                                      \
  ACLSHMEM_HOST_API int aclshmemx_##NAME##_wait_until_any_timed(                                 \
      TYPE* ivars, size_t nelems, const int* status, int cmp, TYPE cmp_value, size_t* res_out,   \
      uint64_t timeout_ms);                                                                      \
  ACLSHMEM_HOST_API int aclshmemx_##NAME##_wait_until_some_timed(                                \
      TYPE* ivars, size_t nelems, size_t* indices, const int* status, int cmp, TYPE cmp_value,   \
      size_t* res_out, uint64_t timeout_ms);                                                     \
  ACLSHMEM_HOST_API int aclshmemx_##NAME##_wait_until_all_vector_timed(                          \
      TYPE* ivars, size_t nelems, const int* status, int cmp, const TYPE* cmp_values,            \
      uint64_t timeout_ms);                                                                      \
  ACLSHMEM_HOST_API int aclshmemx_##NAME##_wait_until_any_vector_timed(                          \
      TYPE* ivars, size_t nelems, const int* status, int cmp, const TYPE* cmp_values,            \
      size_t* res_out, uint64_t timeout_ms);                                                     \
  ACLSHMEM_HOST_API int aclshmemx_##NAME##_wait_until_some_vector_timed(                         \
      TYPE* ivars, size_t nelems, size_t* indices, const int* status, int cmp,                   \
      const TYPE* cmp_values, size_t* res_out, uint64_t timeout_ms)
ACLSHMEM_P2P_SYNC_TYPE_FUNC(ACLSHMEM_DECLARE_TIMED);
#undef ACLSHMEM_DECLARE_TIMED

}  // extern "C"

#endif
