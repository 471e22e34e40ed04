// Kernel side: put with signal. The data goes to symmetric dst of pe, then the int32 signal at
// symmetric sig_addr of pe is set (ACLSHMEM_SIGNAL_SET) or added to (ACLSHMEM_SIGNAL_ADD); who sees
// the signal sees the data, also when elem_size is 0. The core copies itself (MTE), so both forms
// are done when they return; _nbi promises only the order of data and signal. Earlier puts by other
// ways are not covered: fence or quiet them first. Units: elements, BITS/8 bytes, or bytes
// (putmem). OpenSHMEM shmem_TYPENAME_put_signal with 32-bit signals. The host functions of the same
// names take the host way on a host thread.
#ifndef SHMEM_DEVICE_SO_H
#define SHMEM_DEVICE_SO_H

#include "device/impl/host_dual.h"
#include "device/impl/signal_inl.h"
#include "device/shmem_def.h"

SYMM_HOST(void, aclshmemx_putmem_signal,
          (void* dst, void* src, size_t bytes, void* sig_addr, int32_t signal, int sig_op, int pe));
SYMM_HOST(void, aclshmemx_putmem_signal_nbi,
          (void* dst, void* src, size_t bytes, void* sig_addr, int32_t signal, int sig_op, int pe));

// void aclshmem_TYPE_put_signal(TYPE* dst, TYPE* src, size_t elem_size, int32_t* sig_addr, int32_t
// signal, int sig_op, int pe), with copy_params (elements) in place of elem_size, on GlobalTensor,
// and _nbi of each.
#define SYMM_PUT_SIGNAL(NAME, TYPE, SUFFIX)                                                        \
  inline void aclshmem_##NAME##_put_signal##SUFFIX(TYPE* dst, TYPE* src, size_t elem_size,         \
                                                   int32_t* sig_addr, int32_t signal, int sig_op,  \
                                                   int pe) {                                       \
    symm_dev::put_signal(dst, src, elem_size, sig_addr, signal, sig_op, pe,                        \
                         "aclshmem_" #NAME "_put_signal" #SUFFIX);                                 \
  }                                                                                                \
  inline void aclshmem_##NAME##_put_signal##SUFFIX(                                                \
      TYPE* dst, TYPE* src, const non_contiguous_copy_param& copy_params, int32_t* sig_addr,       \
      int32_t signal, int sig_op, int pe) {                                                        \
    symm_dev::put_rows_signal(dst, src, copy_params, sig_addr, signal, sig_op, pe,                 \
                              "aclshmem_" #NAME "_put_signal" #SUFFIX);                            \
  }                                                                                                \
  inline void aclshmem_##NAME##_put_signal##SUFFIX(                                                \
      AscendC::GlobalTensor<TYPE> dst, AscendC::GlobalTensor<TYPE> src, size_t elem_size,          \
      int32_t* sig_addr, int32_t signal, int sig_op, int pe) {                                     \
    aclshmem_##NAME##_put_signal##SUFFIX(dst.GetPhyAddr(), src.GetPhyAddr(), elem_size, sig_addr,  \
                                         signal, sig_op, pe);                                      \
  }                                                                                                \
  inline void aclshmem_##NAME##_put_signal##SUFFIX(                                                \
      AscendC::GlobalTensor<TYPE> dst, AscendC::GlobalTensor<TYPE> src,                            \
      const non_contiguous_copy_param& copy_params, int32_t* sig_addr, int32_t signal, int sig_op, \
      int pe) {                                                                                    \
    aclshmem_##NAME##_put_signal##SUFFIX(dst.GetPhyAddr(), src.GetPhyAddr(), copy_params,          \
                                         sig_addr, signal, sig_op, pe);                            \
  }
#define SYMM_DEFINE_SO(NAME, TYPE) \
  SYMM_PUT_SIGNAL(NAME, TYPE, )    \
  SYMM_PUT_SIGNAL(NAME, TYPE, _nbi)
SYMM_DEVICE_TYPES(SYMM_DEFINE_SO)
#undef SYMM_DEFINE_SO
#undef SYMM_PUT_SIGNAL

// The host functions, whose signal is a byte pointer to an int32. In a kernel the same as above.
#define SYMM_PUT_SIGNAL(NAME, TYPE, SUFFIX)                                                        \
  SYMM_HOST(void, aclshmem_##NAME##_put_signal##SUFFIX,                                            \
            (TYPE * dst, TYPE * src, size_t elem_size, uint8_t * sig_addr, int32_t signal,         \
             int sig_op, int pe));                                                                 \
  inline void aclshmem_##NAME##_put_signal##SUFFIX(TYPE* dst, TYPE* src, size_t elem_size,         \
                                                   uint8_t* sig_addr, int32_t signal, int sig_op,  \
                                                   int pe) {                                       \
    if (!symm_dev::in_kernel()) {                                                                  \
      return symm_host_aclshmem_##NAME##_put_signal##SUFFIX(dst, src, elem_size, sig_addr, signal, \
                                                            sig_op, pe);                           \
    }                                                                                              \
    aclshmem_##NAME##_put_signal##SUFFIX(                                                          \
        dst, src, elem_size, reinterpret_cast<int32_t*>(sig_addr), signal, sig_op, pe);            \
  }
#define SYMM_DEFINE_SO(NAME, TYPE) \
  SYMM_PUT_SIGNAL(NAME, TYPE, )    \
  SYMM_PUT_SIGNAL(NAME, TYPE, _nbi)
SYMM_HOST_TYPES(SYMM_DEFINE_SO)
#undef SYMM_DEFINE_SO
#undef SYMM_PUT_SIGNAL

// void aclshmem_putBITS_signal(void* dst, void* src, size_t nelems, int32_t* sig_addr, int32_t
// signal, int sig_op, int pe) and _nbi, for 8, 16, 32, 64 and 128 bits.
#define SYMM_PUT_SIGNAL(BITS, SUFFIX)                                                            \
  SYMM_HOST(void, aclshmem_put##BITS##_signal##SUFFIX,                                           \
            (void* dst, void* src, size_t nelems, int32_t* sig_addr, int32_t signal, int sig_op, \
             int pe));                                                                           \
  inline void aclshmem_put##BITS##_signal##SUFFIX(void* dst, void* src, size_t nelems,           \
                                                  int32_t* sig_addr, int32_t signal, int sig_op, \
                                                  int pe) {                                      \
    if (!symm_dev::in_kernel()) {                                                                \
      return symm_host_aclshmem_put##BITS##_signal##SUFFIX(dst, src, nelems, sig_addr, signal,   \
                                                           sig_op, pe);                          \
    }                                                                                            \
    symm_dev::put_signal(static_cast<char*>(dst), static_cast<const char*>(src),                 \
                         nelems*(BITS / 8), sig_addr, signal, sig_op, pe,                        \
                         "aclshmem_put" #BITS "_signal" #SUFFIX);                                \
  }
#define SYMM_DEFINE_SO(BITS) \
  SYMM_PUT_SIGNAL(BITS, )    \
  SYMM_PUT_SIGNAL(BITS, _nbi)
ACLSHMEM_SIZE_FUNC(SYMM_DEFINE_SO)
#undef SYMM_DEFINE_SO
#undef SYMM_PUT_SIGNAL

// elem_size counts bytes. Kernels only.
inline void aclshmem_putmem_signal(void* dst, void* src, size_t elem_size, int32_t* sig_addr,
                                   int32_t signal, int sig_op, int pe) {
  symm_dev::put_signal(static_cast<char*>(dst), static_cast<const char*>(src), elem_size, sig_addr,
                       signal, sig_op, pe, "aclshmem_putmem_signal");
}
inline void aclshmem_putmem_signal_nbi(void* dst, void* src, size_t elem_size, int32_t* sig_addr,
                                       int32_t signal, int sig_op, int pe) {
  symm_dev::put_signal(static_cast<char*>(dst), static_cast<const char*>(src), elem_size, sig_addr,
                       signal, sig_op, pe, "aclshmem_putmem_signal_nbi");
}

// The host's names for the same; the signal is an int32.
inline void aclshmemx_putmem_signal(void* dst, void* src, size_t elem_size, void* sig_addr,
                                    int32_t signal, int sig_op, int pe) {
  if (!symm_dev::in_kernel()) {
    return symm_host_aclshmemx_putmem_signal(dst, src, elem_size, sig_addr, signal, sig_op, pe);
  }
  aclshmem_putmem_signal(dst, src, elem_size, static_cast<int32_t*>(sig_addr), signal, sig_op, pe);
}
inline void aclshmemx_putmem_signal_nbi(void* dst, void* src, size_t elem_size, void* sig_addr,
                                        int32_t signal, int sig_op, int pe) {
  if (!symm_dev::in_kernel()) {
    return symm_host_aclshmemx_putmem_signal_nbi(dst, src, elem_size, sig_addr, signal, sig_op, pe);
  }
  aclshmem_putmem_signal_nbi(dst, src, elem_size, static_cast<int32_t*>(sig_addr), signal, sig_op,
                             pe);
}

#include "device/impl/so_aliases.h"
#endif
