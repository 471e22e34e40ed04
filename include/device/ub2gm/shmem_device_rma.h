// Kernel side: typed transfers between the unified buffer of this core and symmetric global memory
// of a PE, by the core itself (MTE). Counts are elements; copy_params counts elements in all four
// fields. Complete after aclshmem_quiet. A range that leaves the unified buffer copies nothing and
// is reported in the log. Kernels only.
//   void aclshmem_TYPE_get_nbi(__ubuf__ TYPE* dst, TYPE* src, size_t elem_size, int pe)
//   void aclshmem_TYPE_put_nbi(TYPE* dst, __ubuf__ TYPE* src, size_t elem_size, int pe)
// and the same with copy_params in place of elem_size, and on LocalTensor and GlobalTensor.
#ifndef SHMEM_DEVICE_UB2GM_RMA_H
#define SHMEM_DEVICE_UB2GM_RMA_H

#include "device/impl/ub_inl.h"
#include "device/shmem_def.h"

#define SYMM_DEFINE_UB_RMA(NAME, TYPE)                                                             \
  inline void aclshmem_##NAME##_get_nbi(SYMM_UB TYPE* dst, TYPE* src, size_t elem_size, int pe) {  \
    symm_dev::ub_get(dst, src, elem_size, pe, "aclshmem_" #NAME "_get_nbi");                       \
  }                                                                                                \
  inline void aclshmem_##NAME##_get_nbi(SYMM_UB TYPE* dst, TYPE* src,                              \
                                        const non_contiguous_copy_param& copy_params, int pe) {    \
    symm_dev::ub_get_rows(dst, src, copy_params, pe, "aclshmem_" #NAME "_get_nbi");                \
  }                                                                                                \
  inline void aclshmem_##NAME##_get_nbi(                                                           \
      AscendC::LocalTensor<TYPE> dst, AscendC::GlobalTensor<TYPE> src, size_t elem_size, int pe) { \
    symm_dev::ub_get(symm_dev::host_pointer(dst), src.GetPhyAddr(), elem_size, pe,                 \
                     "aclshmem_" #NAME "_get_nbi");                                                \
  }                                                                                                \
  inline void aclshmem_##NAME##_get_nbi(AscendC::LocalTensor<TYPE> dst,                            \
                                        AscendC::GlobalTensor<TYPE> src,                           \
                                        const non_contiguous_copy_param& copy_params, int pe) {    \
    symm_dev::ub_get_rows(symm_dev::host_pointer(dst), src.GetPhyAddr(), copy_params, pe,          \
                          "aclshmem_" #NAME "_get_nbi");                                           \
  }                                                                                                \
  inline void aclshmem_##NAME##_put_nbi(TYPE* dst, SYMM_UB TYPE* src, size_t elem_size, int pe) {  \
    symm_dev::ub_put(dst, src, elem_size, pe, "aclshmem_" #NAME "_put_nbi");                       \
  }                                                                                                \
  inline void aclshmem_##NAME##_put_nbi(TYPE* dst, SYMM_UB TYPE* src,                              \
                                        const non_contiguous_copy_param& copy_params, int pe) {    \
    symm_dev::ub_put_rows(dst, src, copy_params, pe, "aclshmem_" #NAME "_put_nbi");                \
  }                                                                                                \
  inline void aclshmem_##NAME##_put_nbi(                                                           \
      AscendC::GlobalTensor<TYPE> dst, AscendC::LocalTensor<TYPE> src, size_t elem_size, int pe) { \
    symm_dev::ub_put(dst.GetPhyAddr(), symm_dev::host_pointer(src), elem_size, pe,                 \
                     "aclshmem_" #NAME "_put_nbi");                                                \
  }                                                                                                \
  inline void aclshmem_##NAME##_put_nbi(AscendC::GlobalTensor<TYPE> dst,                           \
                                        AscendC::LocalTensor<TYPE> src,                            \
                                        const non_contiguous_copy_param& copy_params, int pe) {    \
    symm_dev::ub_put_rows(dst.GetPhyAddr(), symm_dev::host_pointer(src), copy_params, pe,          \
                          "aclshmem_" #NAME "_put_nbi");                                           \
  }
SYMM_DEVICE_TYPES(SYMM_DEFINE_UB_RMA)
#undef SYMM_DEFINE_UB_RMA

#endif
