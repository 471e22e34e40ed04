// Puts with a signal, and signals. A signal is an int32_t in symmetric memory; who sees it sees the
// data of its put. sig_op: ACLSHMEM_SIGNAL_SET or ACLSHMEM_SIGNAL_ADD; another value gives no
// signal and is an error (aclshmemx_last_error).
#ifndef SHMEM_HOST_SO_H
#define SHMEM_HOST_SO_H

#include "acl/acl.h"
#include "host/data_plane/shmem_host_rma.h"
#include "host/shmem_host_def.h"

#define shmem_put_float_mem_signal aclshmem_float_put_signal
#define shmem_put_double_mem_signal aclshmem_double_put_signal
#define shmem_put_int8_mem_signal aclshmem_int8_put_signal
#define shmem_put_int16_mem_signal aclshmem_int16_put_signal
#define shmem_put_int32_mem_signal aclshmem_int32_put_signal
#define shmem_put_int64_mem_signal aclshmem_int64_put_signal
#define shmem_put_uint8_mem_signal aclshmem_uint8_put_signal
#define shmem_put_uint16_mem_signal aclshmem_uint16_put_signal
#define shmem_put_uint32_mem_signal aclshmem_uint32_put_signal
#define shmem_put_uint64_mem_signal aclshmem_uint64_put_signal
#define shmem_put_char_mem_signal aclshmem_char_put_signal
#define shmem_put_float_mem_signal_nbi aclshmem_float_put_signal_nbi
#define shmem_put_double_mem_signal_nbi aclshmem_double_put_signal_nbi
#define shmem_put_int8_mem_signal_nbi aclshmem_int8_put_signal_nbi
#define shmem_put_int16_mem_signal_nbi aclshmem_int16_put_signal_nbi
#define shmem_put_int32_mem_signal_nbi aclshmem_int32_put_signal_nbi
#define shmem_put_int64_mem_signal_nbi aclshmem_int64_put_signal_nbi
#define shmem_put_uint8_mem_signal_nbi aclshmem_uint8_put_signal_nbi
#define shmem_put_uint16_mem_signal_nbi aclshmem_uint16_put_signal_nbi
#define shmem_put_uint32_mem_signal_nbi aclshmem_uint32_put_signal_nbi
#define shmem_put_uint64_mem_signal_nbi aclshmem_uint64_put_signal_nbi
#define shmem_put_char_mem_signal_nbi aclshmem_char_put_signal_nbi
#define shmem_putmem_signal aclshmemx_putmem_signal
#define shmem_putmem_signal_nbi aclshmemx_putmem_signal_nbi
#define shmem_signal_op_on_stream aclshmemx_signal_op_on_stream

extern "C" {

#ifndef SYMM_KERNEL_TU

/** @brief aclshmem_TYPE_put_signal(_nbi): elem_size elements, then the signal; sig_addr points to
 * an int32_t. */
#define ACLSHMEM_DECLARE_TYPE_SIGNAL(NAME, TYPE)                                                  \
  ACLSHMEM_HOST_API void aclshmem_##NAME##_put_signal(TYPE* dst, TYPE* src, size_t elem_size,     \
                                                      uint8_t* sig_addr, int32_t signal,          \
                                                      int sig_op, int pe);                        \
  ACLSHMEM_HOST_API void aclshmem_##NAME##_put_signal_nbi(TYPE* dst, TYPE* src, size_t elem_size, \
                                                          uint8_t* sig_addr, int32_t signal,      \
                                                          int sig_op, int pe)
ACLSHMEM_TYPE_FUNC(ACLSHMEM_DECLARE_TYPE_SIGNAL);
#undef ACLSHMEM_DECLARE_TYPE_SIGNAL

/** @brief aclshmem_putBITS_signal(_nbi): nelems units of BITS/8 bytes, then the signal. */
#define ACLSHMEM_DECLARE_SIZE_SIGNAL(BITS)                                                         \
  ACLSHMEM_HOST_API void aclshmem_put##BITS##_signal(                                              \
      void* dst, void* src, size_t nelems, int32_t* sig_addr, int32_t signal, int sig_op, int pe); \
  ACLSHMEM_HOST_API void aclshmem_put##BITS##_signal_nbi(                                          \
      void* dst, void* src, size_t nelems, int32_t* sig_addr, int32_t signal, int sig_op, int pe)
ACLSHMEM_SIZE_FUNC(ACLSHMEM_DECLARE_SIZE_SIGNAL);
#undef ACLSHMEM_DECLARE_SIZE_SIGNAL

/** @brief elem_size BYTES, then the signal; sig_addr points to an int32_t. */
ACLSHMEM_HOST_API void aclshmemx_putmem_signal(void* dst, void* src, size_t elem_size,
                                               void* sig_addr, int32_t signal, int sig_op, int pe);
/** @brief As aclshmemx_putmem_signal; src must stay unchanged until quiet. */
ACLSHMEM_HOST_API void aclshmemx_putmem_signal_nbi(void* dst, void* src, size_t elem_size,
                                                   void* sig_addr, int32_t signal, int sig_op,
                                                   int pe);

#endif  // SYMM_KERNEL_TU

/** @brief Queues a signal on the stream (null: the default stream). The host does not block. */
ACLSHMEM_HOST_API void aclshmemx_signal_op_on_stream(int32_t* sig_addr, int32_t signal, int sig_op,
                                                     int pe, aclrtStream stream);

// Signals of 64 bits, as OpenSHMEM has them: sig_addr is an aligned uint64_t in symmetric memory
// that does not overlap the data.

/** @brief aclshmemx_TYPE_put_signal64(_nbi): nelems elements, then the signal, which is delivered
 * for no elements too. OpenSHMEM shmem_put_signal. */
#define ACLSHMEM_DECLARE_TYPE_SIGNAL(NAME, TYPE)                                                \
  ACLSHMEM_HOST_API void aclshmemx_##NAME##_put_signal64(TYPE* dest, const TYPE* source,        \
                                                         size_t nelems, uint64_t* sig_addr,     \
                                                         uint64_t signal, int sig_op, int pe);  \
  ACLSHMEM_HOST_API void aclshmemx_##NAME##_put_signal64_nbi(TYPE* dest, const TYPE* source,    \
                                                             size_t nelems, uint64_t* sig_addr, \
                                                             uint64_t signal, int sig_op, int pe)
SYMM_HOST_TYPES(ACLSHMEM_DECLARE_TYPE_SIGNAL);
#undef ACLSHMEM_DECLARE_TYPE_SIGNAL
/** @brief The same for BYTES. OpenSHMEM shmem_putmem_signal. */
ACLSHMEM_HOST_API void aclshmemx_putmem_signal64(void* dest, const void* source, size_t bytes,
                                                 uint64_t* sig_addr, uint64_t signal, int sig_op,
                                                 int pe);
/** @brief The same; source must stay unchanged until quiet. */
ACLSHMEM_HOST_API void aclshmemx_putmem_signal64_nbi(void* dest, const void* source, size_t bytes,
                                                     uint64_t* sig_addr, uint64_t signal,
                                                     int sig_op, int pe);

/** @brief Sets or adds to a signal on pe, after what this thread stored before. Does not block. */
ACLSHMEM_HOST_API void aclshmemx_signal64_op(uint64_t* sig_addr, uint64_t signal, int sig_op,
                                             int pe);
#ifndef SYMM_KERNEL_TU
/** @brief The same for a signal of 32 bits. */
ACLSHMEM_HOST_API void aclshmemx_signal_op(int32_t* sig_addr, int32_t signal, int sig_op, int pe);
#endif

/** @brief The value of a signal in this PE's memory; what was ordered before it is visible
 * afterwards. OpenSHMEM shmem_signal_fetch. */
ACLSHMEM_HOST_API uint64_t aclshmemx_signal64_fetch(const uint64_t* sig_addr);
/** @brief The same for a signal of 32 bits. */
ACLSHMEM_HOST_API int32_t aclshmemx_signal_fetch(const int32_t* sig_addr);

/** @brief Blocks until the signal in this PE's memory compares; the value that did, 0 after an
 * error. OpenSHMEM shmem_signal_wait_until. */
ACLSHMEM_HOST_API uint64_t aclshmemx_signal64_wait_until(uint64_t* sig_addr, int cmp,
                                                         uint64_t cmp_val);
/** @brief The same for at most timeout_ms milliseconds: 0 with the value in *value (may be null),
 * or ACLSHMEM_TIMEOUT_ERROR. */
ACLSHMEM_HOST_API int aclshmemx_signal64_wait_until_timed(uint64_t* sig_addr, int cmp,
                                                          uint64_t cmp_val, uint64_t timeout_ms,
                                                          uint64_t* value);
/** @brief The same for a signal of 32 bits. */
ACLSHMEM_HOST_API int aclshmemx_signal_wait_until_timed(int32_t* sig_addr, int cmp, int32_t cmp_val,
                                                        uint64_t timeout_ms, int32_t* value);

}  // extern "C"

#endif
