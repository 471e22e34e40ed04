// Kernel side: the MTE engine between the unified buffer of this core and symmetric global memory
// of a PE. Counts are elements; copy_params counts elements in all four fields. Complete after
// aclshmemx_mte_quiet or aclshmem_quiet; sync_id is what the hardware needs and changes nothing
// here. A range that leaves the unified buffer copies nothing and is reported in the log. Original
// calls; kernels only.
#ifndef SHMEM_DEVICE_UB2GM_MTE_H
#define SHMEM_DEVICE_UB2GM_MTE_H

#include "device/impl/ub_inl.h"
#include "device/shmem_def.h"

// From symmetric src of pe to the unified buffer.
template <typename T>
inline void aclshmemx_mte_get_nbi(SYMM_UB T* dst, T* src, size_t elem_size, int pe, uint32_t) {
  symm_dev::ub_get(dst, src, elem_size, pe, "aclshmemx_mte_get_nbi");
}
template <typename T>
inline void aclshmemx_mte_get_nbi(SYMM_UB T* dst, T* src,
                                  const non_contiguous_copy_param& copy_params, int pe, uint32_t) {
  symm_dev::ub_get_rows(dst, src, copy_params, pe, "aclshmemx_mte_get_nbi");
}
template <typename T>
inline void aclshmemx_mte_get_nbi(AscendC::LocalTensor<T> dst, AscendC::GlobalTensor<T> src,
                                  size_t elem_size, int pe, uint32_t) {
  symm_dev::ub_get(symm_dev::host_pointer(dst), src.GetPhyAddr(), elem_size, pe,
                   "aclshmemx_mte_get_nbi");
}
template <typename T>
inline void aclshmemx_mte_get_nbi(AscendC::LocalTensor<T> dst, AscendC::GlobalTensor<T> src,
                                  const non_contiguous_copy_param& copy_params, int pe, uint32_t) {
  symm_dev::ub_get_rows(symm_dev::host_pointer(dst), src.GetPhyAddr(), copy_params, pe,
                        "aclshmemx_mte_get_nbi");
}

// From the unified buffer to symmetric dst of pe.
template <typename T>
inline void aclshmemx_mte_put_nbi(T* dst, SYMM_UB T* src, size_t elem_size, int pe, uint32_t) {
  symm_dev::ub_put(dst, src, elem_size, pe, "aclshmemx_mte_put_nbi");
}
template <typename T>
inline void aclshmemx_mte_put_nbi(T* dst, SYMM_UB T* src,
                                  const non_contiguous_copy_param& copy_params, int pe, uint32_t) {
  symm_dev::ub_put_rows(dst, src, copy_params, pe, "aclshmemx_mte_put_nbi");
}
template <typename T>
inline void aclshmemx_mte_put_nbi(AscendC::GlobalTensor<T> dst, AscendC::LocalTensor<T> src,
                                  size_t elem_size, int pe, uint32_t) {
  symm_dev::ub_put(dst.GetPhyAddr(), symm_dev::host_pointer(src), elem_size, pe,
                   "aclshmemx_mte_put_nbi");
}
template <typename T>
inline void aclshmemx_mte_put_nbi(AscendC::GlobalTensor<T> dst, AscendC::LocalTensor<T> src,
                                  const non_contiguous_copy_param& copy_params, int pe, uint32_t) {
  symm_dev::ub_put_rows(dst.GetPhyAddr(), symm_dev::host_pointer(src), copy_params, pe,
                        "aclshmemx_mte_put_nbi");
}

#endif
