// Kernel side: atomics on one naturally aligned symmetric element of pe, by the core itself when
// the PE is mapped (MTE), else through the RDMA or UDMA engine. Those that return a value are
// complete on return; the others after aclshmem_quiet or the quiet of the engine used. Atomic with
// each other, with signals and with waits and tests, from kernels and hosts; not with plain puts
// and stores. Integers wrap. OpenSHMEM shmem_TYPENAME_atomic_add and so on; add for half, bfloat16
// and float is an extension. Kernels only.
//   void aclshmem_TYPE_atomic_add(TYPE* dst, TYPE value, int pe), _inc(dst, pe), _and, _or, _xor,
//   _set(dst, value, pe) TYPE aclshmem_TYPE_atomic_fetch_add(TYPE* dst, TYPE value, int pe),
//   _fetch_inc, _fetch_and, _fetch_or, _fetch_xor,
//     _swap: the old value
//   TYPE aclshmem_TYPE_atomic_fetch(const TYPE* source, int pe)
//   TYPE aclshmem_TYPE_atomic_compare_swap(TYPE* dst, TYPE cond, TYPE value, int pe): stores value
//   if the old one equals cond
#ifndef SHMEM_DEVICE_AMO_H
#define SHMEM_DEVICE_AMO_H

#include "device/impl/amo_inl.h"
#include "device/shmem_def.h"

#define ACLSHMEM_TYPE_FUNC_ATOMIC_ADD(FUNC) \
  FUNC(int8, int8_t);                       \
  FUNC(int16, int16_t);                     \
  FUNC(bfloat16, bfloat16_t);               \
  FUNC(half, half)
#define ACLSHMEM_TYPE_FUNC_ATOMIC_ADD_910(FUNC) \
  FUNC(int32, int32_t);                         \
  FUNC(float, float)
#define ACLSHMEM_TYPE_FUNC_ATOMIC_ADD_EXT(FUNC) \
  FUNC(uint32, uint32_t);                       \
  FUNC(uint64, uint64_t);                       \
  FUNC(int64, int64_t)
#define ACLSHMEM_TYPE_FUNC_ATOMIC_ADD_950(FUNC) \
  FUNC(uint32, uint32_t);                       \
  FUNC(uint64, uint64_t);                       \
  FUNC(int32, int32_t);                         \
  FUNC(int64, int64_t)
#define ACLSHMEM_TYPE_FUNC_ATOMIC_LOGIC(FUNC) ACLSHMEM_TYPE_FUNC_ATOMIC_ADD_950(FUNC)

#define SYMM_AMO(NAME, TYPE, VERB, OPERATION)                                                  \
  inline void aclshmem_##NAME##_atomic_##VERB(TYPE* dst, TYPE value, int32_t pe) {             \
    symm_dev::any_atomic<TYPE>(OPERATION, dst, value, pe, "aclshmem_" #NAME "_atomic_" #VERB); \
  }
#define SYMM_FETCH_AMO(NAME, TYPE, VERB, OPERATION)                                 \
  inline TYPE aclshmem_##NAME##_atomic_##VERB(TYPE* dest, TYPE value, int32_t pe) { \
    return symm_dev::any_fetch<TYPE>(OPERATION, dest, value, TYPE(), pe,            \
                                     "aclshmem_" #NAME "_atomic_" #VERB);           \
  }

#define SYMM_DEFINE_AMO(NAME, TYPE) SYMM_AMO(NAME, TYPE, add, SYMM_DESC_ADD)
ACLSHMEM_TYPE_FUNC_ATOMIC_ADD(SYMM_DEFINE_AMO)
ACLSHMEM_TYPE_FUNC_ATOMIC_ADD_910(SYMM_DEFINE_AMO)
ACLSHMEM_TYPE_FUNC_ATOMIC_ADD_EXT(SYMM_DEFINE_AMO)
#undef SYMM_DEFINE_AMO

#define SYMM_DEFINE_AMO(NAME, TYPE)                                                               \
  inline void aclshmem_##NAME##_atomic_inc(TYPE* dst, int32_t pe) {                               \
    symm_dev::any_atomic<TYPE>(SYMM_DESC_ADD, dst, TYPE(1), pe, "aclshmem_" #NAME "_atomic_inc"); \
  }                                                                                               \
  inline TYPE aclshmem_##NAME##_atomic_fetch_inc(TYPE* dest, int32_t pe) {                        \
    return symm_dev::any_fetch<TYPE>(SYMM_DESC_ADD, dest, TYPE(1), TYPE(), pe,                    \
                                     "aclshmem_" #NAME "_atomic_fetch_inc");                      \
  }                                                                                               \
  inline TYPE aclshmem_##NAME##_atomic_fetch(const TYPE* source, int32_t pe) {                    \
    return symm_dev::any_fetch<TYPE>(SYMM_DESC_FETCH, const_cast<TYPE*>(source), TYPE(), TYPE(),  \
                                     pe, "aclshmem_" #NAME "_atomic_fetch");                      \
  }                                                                                               \
  inline TYPE aclshmem_##NAME##_atomic_compare_swap(TYPE* dest, TYPE cond, TYPE value,            \
                                                    int32_t pe) {                                 \
    return symm_dev::any_fetch<TYPE>(SYMM_DESC_CAS, dest, value, cond, pe,                        \
                                     "aclshmem_" #NAME "_atomic_compare_swap");                   \
  }                                                                                               \
  SYMM_FETCH_AMO(NAME, TYPE, fetch_add, SYMM_DESC_ADD)                                            \
  SYMM_AMO(NAME, TYPE, and, SYMM_DESC_AND)                                                        \
  SYMM_AMO(NAME, TYPE, or, SYMM_DESC_OR)                                                          \
  SYMM_AMO(NAME, TYPE, xor, SYMM_DESC_XOR)                                                        \
  SYMM_FETCH_AMO(NAME, TYPE, fetch_and, SYMM_DESC_AND)                                            \
  SYMM_FETCH_AMO(NAME, TYPE, fetch_or, SYMM_DESC_OR)                                              \
  SYMM_FETCH_AMO(NAME, TYPE, fetch_xor, SYMM_DESC_XOR)
ACLSHMEM_TYPE_FUNC_ATOMIC_LOGIC(SYMM_DEFINE_AMO)
#undef SYMM_DEFINE_AMO

#define SYMM_DEFINE_AMO(NAME, TYPE)         \
  SYMM_AMO(NAME, TYPE, set, SYMM_DESC_SWAP) \
  SYMM_FETCH_AMO(NAME, TYPE, swap, SYMM_DESC_SWAP)
ACLSHMEM_TYPE_FUNC_ATOMIC_LOGIC(SYMM_DEFINE_AMO)
SYMM_DEFINE_AMO(float, float)
#undef SYMM_DEFINE_AMO
#undef SYMM_AMO
#undef SYMM_FETCH_AMO

#define shmem_int8_atomic_add aclshmem_int8_atomic_add
#define shmem_int16_atomic_add aclshmem_int16_atomic_add
#define shmem_int32_atomic_add aclshmem_int32_atomic_add
#define shmem_half_atomic_add aclshmem_half_atomic_add
#define shmem_bfloat16_atomic_add aclshmem_bfloat16_atomic_add
#define shmem_float_atomic_add aclshmem_float_atomic_add

#endif
