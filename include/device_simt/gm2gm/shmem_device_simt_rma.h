// SIMT: transfers between global memory of this PE and symmetric memory of pe by loads and stores
// of lanes. Units are elements in the typed forms, BITS/8 bytes in the sized forms, bytes in putmem
// and getmem. SIMT functions only. Scopes: without suffix every calling lane makes its own
// transfer; _block and _warp are made by all lanes of the core together, which all call with equal
// arguments and meet before and after. Blocking and _nbi forms are both done when they return;
// order them for other PEs with aclshmem_quiet after the SIMT function.
//   void aclshmem_TYPE_put(TYPE* dst, TYPE* src, size_t elem_size, int pe),
//   aclshmemx_TYPE_put_block, aclshmemx_TYPE_put_warp, the same with _nbi
//   (aclshmemx_TYPE_put_nbi_block), the same for get, aclshmem_putBITS and aclshmem_putmem in all
//   forms, void aclshmem_TYPE_p(TYPE* dst, TYPE value, int pe) and TYPE aclshmem_TYPE_g(TYPE* src,
//   int pe) by one lane.
#ifndef SHMEM_DEVICE_SIMT_RMA_H
#define SHMEM_DEVICE_SIMT_RMA_H

#include "device_simt/impl/simt_inl.h"

namespace simt {

#define SYMM_SIMT_TYPED(PREFIX, NAME, TYPE, VERB, SUFFIX, GROUP)                                  \
  inline void PREFIX##NAME##_##VERB##SUFFIX(TYPE* dst, TYPE* src, size_t elem_size, int32_t pe) { \
    symm_simt::VERB<GROUP>(dst, src, elem_size * sizeof(TYPE), sizeof(TYPE), pe,                  \
                           "simt::" #PREFIX #NAME "_" #VERB #SUFFIX);                             \
  }
#define SYMM_SIMT_VERB(NAME, TYPE, VERB)                                                 \
  SYMM_SIMT_TYPED(aclshmem_, NAME, TYPE, VERB, , ACLSHMEMI_THREADGROUP_THREAD)           \
  SYMM_SIMT_TYPED(aclshmemx_, NAME, TYPE, VERB, _block, ACLSHMEMI_THREADGROUP_BLOCK)     \
  SYMM_SIMT_TYPED(aclshmemx_, NAME, TYPE, VERB, _warp, ACLSHMEMI_THREADGROUP_WARP)       \
  SYMM_SIMT_TYPED(aclshmem_, NAME, TYPE, VERB, _nbi, ACLSHMEMI_THREADGROUP_THREAD)       \
  SYMM_SIMT_TYPED(aclshmemx_, NAME, TYPE, VERB, _nbi_block, ACLSHMEMI_THREADGROUP_BLOCK) \
  SYMM_SIMT_TYPED(aclshmemx_, NAME, TYPE, VERB, _nbi_warp, ACLSHMEMI_THREADGROUP_WARP)
#define SYMM_SIMT_DEFINE(NAME, TYPE)                                           \
  SYMM_SIMT_VERB(NAME, TYPE, put)                                              \
  SYMM_SIMT_VERB(NAME, TYPE, get)                                              \
  inline void aclshmem_##NAME##_p(TYPE* dst, const TYPE value, int pe) {       \
    symm_dev::put_element<TYPE>(dst, value, pe, "simt::aclshmem_" #NAME "_p"); \
  }                                                                            \
  inline TYPE aclshmem_##NAME##_g(TYPE* src, int32_t pe) {                     \
    return symm_dev::get_element<TYPE>(src, pe, "simt::aclshmem_" #NAME "_g"); \
  }
SYMM_SIMT_TYPES(SYMM_SIMT_DEFINE)
#undef SYMM_SIMT_DEFINE
#undef SYMM_SIMT_VERB
#undef SYMM_SIMT_TYPED

// The sized and byte forms. NAME is 8, 16, 32, 64, 128 or mem.
#define SYMM_SIMT_SIZED(PREFIX, NAME, UNIT, VERB, SUFFIX, GROUP)                            \
  inline void PREFIX##VERB##NAME##SUFFIX(void* dst, void* src, size_t nelems, int32_t pe) { \
    symm_simt::VERB<GROUP>(dst, src, nelems * (UNIT), UNIT, pe,                             \
                           "simt::" #PREFIX #VERB #NAME #SUFFIX);                           \
  }
#define SYMM_SIMT_VERB(NAME, UNIT, VERB)                                                 \
  SYMM_SIMT_SIZED(aclshmem_, NAME, UNIT, VERB, , ACLSHMEMI_THREADGROUP_THREAD)           \
  SYMM_SIMT_SIZED(aclshmemx_, NAME, UNIT, VERB, _block, ACLSHMEMI_THREADGROUP_BLOCK)     \
  SYMM_SIMT_SIZED(aclshmemx_, NAME, UNIT, VERB, _warp, ACLSHMEMI_THREADGROUP_WARP)       \
  SYMM_SIMT_SIZED(aclshmem_, NAME, UNIT, VERB, _nbi, ACLSHMEMI_THREADGROUP_THREAD)       \
  SYMM_SIMT_SIZED(aclshmemx_, NAME, UNIT, VERB, _nbi_block, ACLSHMEMI_THREADGROUP_BLOCK) \
  SYMM_SIMT_SIZED(aclshmemx_, NAME, UNIT, VERB, _nbi_warp, ACLSHMEMI_THREADGROUP_WARP)
#define SYMM_SIMT_BOTH(NAME, UNIT) \
  SYMM_SIMT_VERB(NAME, UNIT, put)  \
  SYMM_SIMT_VERB(NAME, UNIT, get)
SYMM_SIMT_BOTH(8, 1)
SYMM_SIMT_BOTH(16, 2)
SYMM_SIMT_BOTH(32, 4)
SYMM_SIMT_BOTH(64, 8)
SYMM_SIMT_BOTH(128, 16)
SYMM_SIMT_BOTH(mem, 1)
#undef SYMM_SIMT_BOTH
#undef SYMM_SIMT_VERB
#undef SYMM_SIMT_SIZED

}  // namespace simt

#endif
