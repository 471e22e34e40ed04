// Kernel side: puts and gets between global memory of this PE and symmetric memory of another.
// Units are elements in the typed and tensor forms, BITS/8 bytes in the sized forms, bytes in
// putmem and getmem. Any core may call them. On a host thread the names that the host has too are
// the host functions.
//
// Engines: contiguous transfers take the first engine that reaches the PE in the order SDMA, UDMA,
// MTE, RDMA (topo_list); single elements, strided and copy_params forms are always done by the core
// (MTE). Blocking forms return when the data has arrived; _nbi forms are complete after
// aclshmem_quiet, a barrier, or the quiet of the engine that was used.
//
// Errors: a PE out of range, an address that is not symmetric, a range that leaves the heap, or a
// PE whose memory cannot be reached end the kernel with a message; the stream reports it.
#ifndef SHMEM_DEVICE_RMA_H
#define SHMEM_DEVICE_RMA_H

#include "device/impl/host_dual.h"
#include "device/impl/rma_inl.h"
#include "device/shmem_def.h"

#undef ACLSHMEM_TYPE_FUNC
#define ACLSHMEM_TYPE_FUNC(FUNC) SYMM_DEVICE_TYPES(FUNC)

#define SYMM_DECLARE_HOST_RMA(NAME, TYPE)                                                      \
  SYMM_HOST(void, aclshmem_##NAME##_put, (TYPE * dst, TYPE * src, size_t nelems, int pe));     \
  SYMM_HOST(void, aclshmem_##NAME##_get, (TYPE * dst, TYPE * src, size_t nelems, int pe));     \
  SYMM_HOST(void, aclshmem_##NAME##_put_nbi, (TYPE * dst, TYPE * src, size_t nelems, int pe)); \
  SYMM_HOST(void, aclshmem_##NAME##_get_nbi, (TYPE * dst, TYPE * src, size_t nelems, int pe)); \
  SYMM_HOST(                                                                                   \
      void, aclshmem_##NAME##_iput,                                                            \
      (TYPE * dst, TYPE * src, ptrdiff_t dstride, ptrdiff_t sstride, size_t nelems, int pe));  \
  SYMM_HOST(                                                                                   \
      void, aclshmem_##NAME##_iget,                                                            \
      (TYPE * dst, TYPE * src, ptrdiff_t dstride, ptrdiff_t sstride, size_t nelems, int pe));  \
  SYMM_HOST(void, aclshmem_##NAME##_p, (TYPE * dst, TYPE value, int pe));                      \
  SYMM_HOST(TYPE, aclshmem_##NAME##_g, (TYPE * src, int32_t pe))
SYMM_HOST_TYPES(SYMM_DECLARE_HOST_RMA);
#undef SYMM_DECLARE_HOST_RMA

// size_t counts whatever the width of the host symbol: the wider argument serves both.
#define SYMM_DECLARE_HOST_RMA(BITS)                                                               \
  SYMM_HOST(void, aclshmem_put##BITS, (void* dst, void* src, size_t nelems, int32_t pe));         \
  SYMM_HOST(void, aclshmem_get##BITS, (void* dst, void* src, size_t nelems, int32_t pe));         \
  SYMM_HOST(void, aclshmem_put##BITS##_nbi, (void* dst, void* src, size_t nelems, int32_t pe));   \
  SYMM_HOST(void, aclshmem_get##BITS##_nbi, (void* dst, void* src, size_t nelems, int32_t pe));   \
  SYMM_HOST(void, aclshmem_iput##BITS,                                                            \
            (void* dst, void* src, ptrdiff_t dstride, ptrdiff_t sstride, size_t nelems, int pe)); \
  SYMM_HOST(void, aclshmem_iget##BITS,                                                            \
            (void* dst, void* src, ptrdiff_t dstride, ptrdiff_t sstride, size_t nelems, int pe))
ACLSHMEM_SIZE_FUNC(SYMM_DECLARE_HOST_RMA);
#undef SYMM_DECLARE_HOST_RMA

SYMM_HOST(void, aclshmem_putmem, (void* dst, void* src, size_t bytes, int32_t pe));
SYMM_HOST(void, aclshmem_getmem, (void* dst, void* src, size_t bytes, int32_t pe));
SYMM_HOST(void, aclshmem_putmem_nbi, (void* dst, void* src, size_t bytes, int32_t pe));
SYMM_HOST(void, aclshmem_getmem_nbi, (void* dst, void* src, size_t bytes, int32_t pe));

// One function of the four contiguous ones: host way on a host thread, else the device way.
#define SYMM_DUAL_TRANSFER(NAME, TYPE, VERB)                                             \
  inline void aclshmem_##NAME##_##VERB(TYPE* dst, TYPE* src, size_t elem_size, int pe) { \
    if (!symm_dev::in_kernel())                                                          \
      return symm_host_aclshmem_##NAME##_##VERB(dst, src, elem_size, pe);                \
    symm_dev::VERB(dst, src, elem_size, pe, "aclshmem_" #NAME "_" #VERB);                \
  }

// void aclshmem_TYPE_put(TYPE* dst, TYPE* src, size_t elem_size, int pe), _put_nbi: local src to
// symmetric dst of pe. void aclshmem_TYPE_get(TYPE* dst, TYPE* src, size_t elem_size, int pe),
// _get_nbi: symmetric src of pe to local dst. void aclshmem_TYPE_p(TYPE* dst, TYPE value, int pe):
// one value, stored in one piece; complete after aclshmem_quiet;
//   wakes a PE that waits for it.
// TYPE aclshmem_TYPE_g(TYPE* src, int pe): one value, blocking.
// void aclshmem_TYPE_iput(TYPE* dst, TYPE* src, ptrdiff_t dst_stride, ptrdiff_t src_stride, size_t
// nelems, int pe), _iget:
//   element i moves from src[i * src_stride] to dst[i * dst_stride]; blocking. Strides are
//   positive.
// OpenSHMEM shmem_TYPENAME_put and so on; here for the 11 host types.
#define SYMM_DEFINE_RMA(NAME, TYPE)                                                              \
  SYMM_DUAL_TRANSFER(NAME, TYPE, put)                                                            \
  SYMM_DUAL_TRANSFER(NAME, TYPE, get)                                                            \
  SYMM_DUAL_TRANSFER(NAME, TYPE, put_nbi)                                                        \
  SYMM_DUAL_TRANSFER(NAME, TYPE, get_nbi)                                                        \
  inline void aclshmem_##NAME##_p(TYPE* dst, const TYPE value, int pe) {                         \
    if (!symm_dev::in_kernel()) return symm_host_aclshmem_##NAME##_p(dst, value, pe);            \
    symm_dev::put_element<TYPE>(dst, value, pe, "aclshmem_" #NAME "_p");                         \
  }                                                                                              \
  inline TYPE aclshmem_##NAME##_g(TYPE* src, int32_t pe) {                                       \
    if (!symm_dev::in_kernel()) return symm_host_aclshmem_##NAME##_g(src, pe);                   \
    return symm_dev::get_element<TYPE>(src, pe, "aclshmem_" #NAME "_g");                         \
  }                                                                                              \
  inline void aclshmem_##NAME##_iput(TYPE* dest, TYPE* source, ptrdiff_t dst, ptrdiff_t sst,     \
                                     size_t nelems, int pe) {                                    \
    if (!symm_dev::in_kernel())                                                                  \
      return symm_host_aclshmem_##NAME##_iput(dest, source, dst, sst, nelems, pe);               \
    symm_dev::iput(dest, source, dst, sst, nelems, sizeof(TYPE), pe, "aclshmem_" #NAME "_iput"); \
  }                                                                                              \
  inline void aclshmem_##NAME##_iget(TYPE* dest, TYPE* source, ptrdiff_t dst, ptrdiff_t sst,     \
                                     size_t nelems, int pe) {                                    \
    if (!symm_dev::in_kernel())                                                                  \
      return symm_host_aclshmem_##NAME##_iget(dest, source, dst, sst, nelems, pe);               \
    symm_dev::iget(dest, source, dst, sst, nelems, sizeof(TYPE), pe, "aclshmem_" #NAME "_iget"); \
  }
SYMM_HOST_TYPES(SYMM_DEFINE_RMA)
#undef SYMM_DEFINE_RMA

// The same for half and bfloat16, which the host does not have: kernels only.
#define SYMM_DEVICE_TRANSFER(NAME, TYPE, VERB)                                           \
  inline void aclshmem_##NAME##_##VERB(TYPE* dst, TYPE* src, size_t elem_size, int pe) { \
    symm_dev::VERB(dst, src, elem_size, pe, "aclshmem_" #NAME "_" #VERB);                \
  }
#define SYMM_DEFINE_RMA(NAME, TYPE)                                                              \
  SYMM_DEVICE_TRANSFER(NAME, TYPE, put)                                                          \
  SYMM_DEVICE_TRANSFER(NAME, TYPE, get)                                                          \
  SYMM_DEVICE_TRANSFER(NAME, TYPE, put_nbi)                                                      \
  SYMM_DEVICE_TRANSFER(NAME, TYPE, get_nbi)                                                      \
  inline void aclshmem_##NAME##_p(TYPE* dst, const TYPE value, int pe) {                         \
    symm_dev::put_element<TYPE>(dst, value, pe, "aclshmem_" #NAME "_p");                         \
  }                                                                                              \
  inline TYPE aclshmem_##NAME##_g(TYPE* src, int32_t pe) {                                       \
    return symm_dev::get_element<TYPE>(src, pe, "aclshmem_" #NAME "_g");                         \
  }                                                                                              \
  inline void aclshmem_##NAME##_iput(TYPE* dest, TYPE* source, ptrdiff_t dst, ptrdiff_t sst,     \
                                     size_t nelems, int pe) {                                    \
    symm_dev::iput(dest, source, dst, sst, nelems, sizeof(TYPE), pe, "aclshmem_" #NAME "_iput"); \
  }                                                                                              \
  inline void aclshmem_##NAME##_iget(TYPE* dest, TYPE* source, ptrdiff_t dst, ptrdiff_t sst,     \
                                     size_t nelems, int pe) {                                    \
    symm_dev::iget(dest, source, dst, sst, nelems, sizeof(TYPE), pe, "aclshmem_" #NAME "_iget"); \
  }
SYMM_DEFINE_RMA(half, half)
SYMM_DEFINE_RMA(bfloat16, bfloat16_t)
#undef SYMM_DEFINE_RMA

// aclshmem_TYPE_put_nbi and _get_nbi with rows (copy_params), on pointers and tensors, and
// contiguous on tensors. Kernels only. copy_params counts elements in all four fields.
#define SYMM_DEFINE_RMA(NAME, TYPE)                                                             \
  inline void aclshmem_##NAME##_put_nbi(TYPE* dst, TYPE* src,                                   \
                                        const non_contiguous_copy_param& copy_params, int pe) { \
    symm_dev::mte_put_rows(dst, src, copy_params, pe, "aclshmem_" #NAME "_put_nbi");            \
  }                                                                                             \
  inline void aclshmem_##NAME##_get_nbi(TYPE* dst, TYPE* src,                                   \
                                        const non_contiguous_copy_param& copy_params, int pe) { \
    symm_dev::mte_get_rows(dst, src, copy_params, pe, "aclshmem_" #NAME "_get_nbi");            \
  }                                                                                             \
  inline void aclshmem_##NAME##_put_nbi(AscendC::GlobalTensor<TYPE> dst,                        \
                                        AscendC::GlobalTensor<TYPE> src, size_t elem_size,      \
                                        int pe) {                                               \
    symm_dev::put_nbi(symm_dev::host_pointer(dst), symm_dev::host_pointer(src), elem_size, pe,  \
                      "aclshmem_" #NAME "_put_nbi");                                            \
  }                                                                                             \
  inline void aclshmem_##NAME##_get_nbi(AscendC::GlobalTensor<TYPE> dst,                        \
                                        AscendC::GlobalTensor<TYPE> src, size_t elem_size,      \
                                        int pe) {                                               \
    symm_dev::get_nbi(symm_dev::host_pointer(dst), symm_dev::host_pointer(src), elem_size, pe,  \
                      "aclshmem_" #NAME "_get_nbi");                                            \
  }                                                                                             \
  inline void aclshmem_##NAME##_put_nbi(AscendC::GlobalTensor<TYPE> dst,                        \
                                        AscendC::GlobalTensor<TYPE> src,                        \
                                        const non_contiguous_copy_param& copy_params, int pe) { \
    aclshmem_##NAME##_put_nbi(symm_dev::host_pointer(dst), symm_dev::host_pointer(src),         \
                              copy_params, pe);                                                 \
  }                                                                                             \
  inline void aclshmem_##NAME##_get_nbi(AscendC::GlobalTensor<TYPE> dst,                        \
                                        AscendC::GlobalTensor<TYPE> src,                        \
                                        const non_contiguous_copy_param& copy_params, int pe) { \
    aclshmem_##NAME##_get_nbi(symm_dev::host_pointer(dst), symm_dev::host_pointer(src),         \
                              copy_params, pe);                                                 \
  }
SYMM_DEVICE_TYPES(SYMM_DEFINE_RMA)
#undef SYMM_DEFINE_RMA
#undef SYMM_DEVICE_TRANSFER
#undef SYMM_DUAL_TRANSFER

#define SYMM_DUAL_BYTES(NAME, VERB, UNIT)                                                        \
  inline void aclshmem_##NAME(void* dst, void* src, size_t elem_size, int32_t pe) {              \
    if (!symm_dev::in_kernel()) return symm_host_aclshmem_##NAME(dst, src, elem_size, pe);       \
    symm_dev::VERB(static_cast<char*>(dst), static_cast<const char*>(src), elem_size*(UNIT), pe, \
                   "aclshmem_" #NAME);                                                           \
  }
#define SYMM_DUAL_STRIDED(NAME, VERB, UNIT)                                           \
  inline void aclshmem_##NAME(void* dest, void* source, ptrdiff_t dst, ptrdiff_t sst, \
                              size_t nelems, int pe) {                                \
    if (!symm_dev::in_kernel())                                                       \
      return symm_host_aclshmem_##NAME(dest, source, dst, sst, nelems, pe);           \
    symm_dev::VERB(dest, source, dst, sst, nelems, UNIT, pe, "aclshmem_" #NAME);      \
  }
// aclshmem_putBITS, getBITS, _nbi (units of BITS/8 bytes), iputBITS, igetBITS for 8, 16, 32, 64 and
// 128 bits.
#define SYMM_DEFINE_RMA(BITS)                         \
  SYMM_DUAL_BYTES(put##BITS, put, BITS / 8)           \
  SYMM_DUAL_BYTES(get##BITS, get, BITS / 8)           \
  SYMM_DUAL_BYTES(put##BITS##_nbi, put_nbi, BITS / 8) \
  SYMM_DUAL_BYTES(get##BITS##_nbi, get_nbi, BITS / 8) \
  SYMM_DUAL_STRIDED(iput##BITS, iput, BITS / 8)       \
  SYMM_DUAL_STRIDED(iget##BITS, iget, BITS / 8)
ACLSHMEM_SIZE_FUNC(SYMM_DEFINE_RMA)
#undef SYMM_DEFINE_RMA

// elem_size counts bytes.
SYMM_DUAL_BYTES(putmem, put, 1)
SYMM_DUAL_BYTES(getmem, get, 1)
SYMM_DUAL_BYTES(putmem_nbi, put_nbi, 1)
SYMM_DUAL_BYTES(getmem_nbi, get_nbi, 1)
#undef SYMM_DUAL_BYTES
#undef SYMM_DUAL_STRIDED

#include "device/impl/rma_aliases.h"
#endif
