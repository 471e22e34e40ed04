// SIMT: transfers between the unified buffer of this core and symmetric memory of pe. Units are
// elements in the typed forms, BITS/8 bytes in the sized forms, bytes in putmem and getmem. SIMT
// functions only. Scopes: without suffix every calling lane makes its own transfer; _block and
// _warp are made by all lanes of the core together, which all call with equal arguments and meet
// before and after. Blocking and _nbi forms are both done when they return; order them for other
// PEs with aclshmem_quiet after the SIMT function.
//   void aclshmem_TYPE_put(TYPE* dst, __ubuf__ TYPE* src, size_t elem_size, int pe) and
//   aclshmem_TYPE_get(__ubuf__ TYPE* dst, TYPE* src, ...), in the same forms as between global
//   memories.
#ifndef SHMEM_DEVICE_SIMT_UB2GM_RMA_H
#define SHMEM_DEVICE_SIMT_UB2GM_RMA_H

#include "device_simt/impl/simt_inl.h"

namespace simt {

#define SYMM_SIMT_TYPED(PREFIX, NAME, TYPE, SUFFIX, GROUP)                               \
  inline void PREFIX##NAME##_put##SUFFIX(TYPE* dst, SYMM_UB TYPE* src, size_t elem_size, \
                                         int32_t pe) {                                   \
    symm_simt::put<GROUP>(dst, src, elem_size * sizeof(TYPE), sizeof(TYPE), pe,          \
                          "simt::" #PREFIX #NAME "_put" #SUFFIX);                        \
  }                                                                                      \
  inline void PREFIX##NAME##_get##SUFFIX(SYMM_UB TYPE* dst, TYPE* src, size_t elem_size, \
                                         int32_t pe) {                                   \
    symm_simt::get<GROUP>(dst, src, elem_size * sizeof(TYPE), sizeof(TYPE), pe,          \
                          "simt::" #PREFIX #NAME "_get" #SUFFIX);                        \
  }
#define SYMM_SIMT_DEFINE(NAME, TYPE)                                               \
  SYMM_SIMT_TYPED(aclshmem_, NAME, TYPE, , ACLSHMEMI_THREADGROUP_THREAD)           \
  SYMM_SIMT_TYPED(aclshmemx_, NAME, TYPE, _block, ACLSHMEMI_THREADGROUP_BLOCK)     \
  SYMM_SIMT_TYPED(aclshmemx_, NAME, TYPE, _warp, ACLSHMEMI_THREADGROUP_WARP)       \
  SYMM_SIMT_TYPED(aclshmem_, NAME, TYPE, _nbi, ACLSHMEMI_THREADGROUP_THREAD)       \
  SYMM_SIMT_TYPED(aclshmemx_, NAME, TYPE, _nbi_block, ACLSHMEMI_THREADGROUP_BLOCK) \
  SYMM_SIMT_TYPED(aclshmemx_, NAME, TYPE, _nbi_warp, ACLSHMEMI_THREADGROUP_WARP)
SYMM_SIMT_TYPES(SYMM_SIMT_DEFINE)
#undef SYMM_SIMT_DEFINE
#undef SYMM_SIMT_TYPED

#define SYMM_SIMT_SIZED(PREFIX, NAME, UNIT, SUFFIX, GROUP)                                         \
  inline void PREFIX##put##NAME##SUFFIX(void* dst, SYMM_UB void* src, size_t nelems, int32_t pe) { \
    symm_simt::put<GROUP>(dst, src, nelems * (UNIT), UNIT, pe,                                     \
                          "simt::" #PREFIX "put" #NAME #SUFFIX);                                   \
  }                                                                                                \
  inline void PREFIX##get##NAME##SUFFIX(SYMM_UB void* dst, void* src, size_t nelems, int32_t pe) { \
    symm_simt::get<GROUP>(dst, src, nelems * (UNIT), UNIT, pe,                                     \
                          "simt::" #PREFIX "get" #NAME #SUFFIX);                                   \
  }
#define SYMM_SIMT_BOTH(NAME, UNIT)                                                 \
  SYMM_SIMT_SIZED(aclshmem_, NAME, UNIT, , ACLSHMEMI_THREADGROUP_THREAD)           \
  SYMM_SIMT_SIZED(aclshmemx_, NAME, UNIT, _block, ACLSHMEMI_THREADGROUP_BLOCK)     \
  SYMM_SIMT_SIZED(aclshmemx_, NAME, UNIT, _warp, ACLSHMEMI_THREADGROUP_WARP)       \
  SYMM_SIMT_SIZED(aclshmem_, NAME, UNIT, _nbi, ACLSHMEMI_THREADGROUP_THREAD)       \
  SYMM_SIMT_SIZED(aclshmemx_, NAME, UNIT, _nbi_block, ACLSHMEMI_THREADGROUP_BLOCK) \
  SYMM_SIMT_SIZED(aclshmemx_, NAME, UNIT, _nbi_warp, ACLSHMEMI_THREADGROUP_WARP)
SYMM_SIMT_BOTH(8, 1)
SYMM_SIMT_BOTH(16, 2)
SYMM_SIMT_BOTH(32, 4)
SYMM_SIMT_BOTH(64, 8)
SYMM_SIMT_BOTH(128, 16)
SYMM_SIMT_BOTH(mem, 1)
#undef SYMM_SIMT_BOTH
#undef SYMM_SIMT_SIZED

}  // namespace simt

#endif
