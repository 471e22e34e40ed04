// SIMT: the MTE calls between global memories; elem_size counts elements. SIMT functions only.
// Scopes: without suffix every calling lane makes its own transfer; _block and _warp are made by
// all lanes of the core together, which all call with equal arguments and meet before and after.
// Blocking and _nbi forms are both done when they return; order them for other PEs with
// aclshmem_quiet after the SIMT function.
#ifndef SHMEM_DEVICE_SIMT_MTE_H
#define SHMEM_DEVICE_SIMT_MTE_H

#include "device/gm2gm/engine/shmem_device_mte.h"
#include "device_simt/impl/simt_inl.h"

namespace simt {

// Where symmetric address ptr lies for PE pe, as mapped here; null as for the function outside
// namespace simt.
inline void* aclshmem_ptr(void* ptr, int pe) { return ::aclshmem_ptr(ptr, pe); }

template <typename T>
inline void aclshmemx_mte_get_nbi(T* dst, T* src, size_t elem_size, int pe) {
  symm_simt::get<ACLSHMEMI_THREADGROUP_THREAD>(dst, src, elem_size * sizeof(T), sizeof(T), pe,
                                               "simt::aclshmemx_mte_get_nbi");
}
template <typename T>
inline void aclshmemx_mte_get_nbi_block(T* dst, T* src, size_t elem_size, int pe) {
  symm_simt::get<ACLSHMEMI_THREADGROUP_BLOCK>(dst, src, elem_size * sizeof(T), sizeof(T), pe,
                                              "simt::aclshmemx_mte_get_nbi_block");
}
template <typename T>
inline void aclshmemx_mte_get_nbi_warp(T* dst, T* src, size_t elem_size, int pe) {
  symm_simt::get<ACLSHMEMI_THREADGROUP_WARP>(dst, src, elem_size * sizeof(T), sizeof(T), pe,
                                             "simt::aclshmemx_mte_get_nbi_warp");
}
template <typename T>
inline void aclshmemx_mte_put_nbi(T* dst, T* src, size_t elem_size, int pe) {
  symm_simt::put<ACLSHMEMI_THREADGROUP_THREAD>(dst, src, elem_size * sizeof(T), sizeof(T), pe,
                                               "simt::aclshmemx_mte_put_nbi");
}
template <typename T>
inline void aclshmemx_mte_put_nbi_block(T* dst, T* src, size_t elem_size, int pe) {
  symm_simt::put<ACLSHMEMI_THREADGROUP_BLOCK>(dst, src, elem_size * sizeof(T), sizeof(T), pe,
                                              "simt::aclshmemx_mte_put_nbi_block");
}
template <typename T>
inline void aclshmemx_mte_put_nbi_warp(T* dst, T* src, size_t elem_size, int pe) {
  symm_simt::put<ACLSHMEMI_THREADGROUP_WARP>(dst, src, elem_size * sizeof(T), sizeof(T), pe,
                                             "simt::aclshmemx_mte_put_nbi_warp");
}

}  // namespace simt

#endif
