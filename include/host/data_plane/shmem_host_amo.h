// Atomics from the host on one naturally aligned element of the symmetric memory of pe: complete at
// the target on return, those that return a value with that value. Atomic with each other, with
// signals, with waits and tests and with the atomics of kernels of this host; not with puts and
// plain stores to the same element (which still never tear). Integers wrap around. They wake waits.
// Order with other operations comes from fence and quiet. A wrong PE, address or alignment is an
// error (aclshmemx_last_error): nothing changes, the value is 0. OpenSHMEM 1.5, Atomic Memory
// Operations. In kernels the same names are those of device/gm2gm/shmem_device_amo.h.
#ifndef SHMEM_HOST_AMO_H
#define SHMEM_HOST_AMO_H

#include <stddef.h>

#include "host/shmem_host_def.h"

extern "C" {

#ifndef SYMM_KERNEL_TU

/**
 * @brief aclshmem_TYPE_atomic_fetch returns the value at the symmetric address source on pe;
 * atomic_set stores value to dest; atomic_swap does both and returns the old value. All integer
 * types, float and double. The _nbi forms give the value to *fetch, which is valid after quiet and
 * must live until then.
 */
#define ACLSHMEM_DECLARE_AMO(NAME, TYPE)                                                        \
  ACLSHMEM_HOST_API TYPE aclshmem_##NAME##_atomic_fetch(const TYPE* source, int pe);            \
  ACLSHMEM_HOST_API void aclshmem_##NAME##_atomic_set(TYPE* dest, TYPE value, int pe);          \
  ACLSHMEM_HOST_API TYPE aclshmem_##NAME##_atomic_swap(TYPE* dest, TYPE value, int pe);         \
  ACLSHMEM_HOST_API void aclshmem_##NAME##_atomic_fetch_nbi(TYPE* fetch, const TYPE* source,    \
                                                            int pe);                            \
  ACLSHMEM_HOST_API void aclshmem_##NAME##_atomic_swap_nbi(TYPE* fetch, TYPE* dest, TYPE value, \
                                                           int pe)
SYMM_AMO_EXTENDED_TYPES(ACLSHMEM_DECLARE_AMO);
#undef ACLSHMEM_DECLARE_AMO

/**
 * @brief aclshmem_TYPE_atomic_add adds value, atomic_inc adds 1; atomic_fetch_add and
 * atomic_fetch_inc return the old value. atomic_compare_swap stores value if the element equals
 * cond and returns the old value. Integer types. _nbi as above.
 */
#define ACLSHMEM_DECLARE_AMO(NAME, TYPE)                                                          \
  ACLSHMEM_HOST_API void aclshmem_##NAME##_atomic_add(TYPE* dest, TYPE value, int pe);            \
  ACLSHMEM_HOST_API void aclshmem_##NAME##_atomic_inc(TYPE* dest, int pe);                        \
  ACLSHMEM_HOST_API TYPE aclshmem_##NAME##_atomic_fetch_add(TYPE* dest, TYPE value, int pe);      \
  ACLSHMEM_HOST_API TYPE aclshmem_##NAME##_atomic_fetch_inc(TYPE* dest, int pe);                  \
  ACLSHMEM_HOST_API TYPE aclshmem_##NAME##_atomic_compare_swap(TYPE* dest, TYPE cond, TYPE value, \
                                                               int pe);                           \
  ACLSHMEM_HOST_API void aclshmem_##NAME##_atomic_fetch_add_nbi(TYPE* fetch, TYPE* dest,          \
                                                                TYPE value, int pe);              \
  ACLSHMEM_HOST_API void aclshmem_##NAME##_atomic_fetch_inc_nbi(TYPE* fetch, TYPE* dest, int pe); \
  ACLSHMEM_HOST_API void aclshmem_##NAME##_atomic_compare_swap_nbi(TYPE* fetch, TYPE* dest,       \
                                                                   TYPE cond, TYPE value, int pe)
SYMM_AMO_TYPES(ACLSHMEM_DECLARE_AMO);
#undef ACLSHMEM_DECLARE_AMO

/** @brief aclshmem_TYPE_atomic_and, _or, _xor, their _fetch_ forms (the old value) and _nbi forms
 * as above. Unsigned and fixed-width integer types. */
#define ACLSHMEM_DECLARE_AMO_BITS(NAME, TYPE, VERB)                                             \
  ACLSHMEM_HOST_API void aclshmem_##NAME##_atomic_##VERB(TYPE* dest, TYPE value, int pe);       \
  ACLSHMEM_HOST_API TYPE aclshmem_##NAME##_atomic_fetch_##VERB(TYPE* dest, TYPE value, int pe); \
  ACLSHMEM_HOST_API void aclshmem_##NAME##_atomic_fetch_##VERB##_nbi(TYPE* fetch, TYPE* dest,   \
                                                                     TYPE value, int pe)
#define ACLSHMEM_DECLARE_AMO(NAME, TYPE)      \
  ACLSHMEM_DECLARE_AMO_BITS(NAME, TYPE, and); \
  ACLSHMEM_DECLARE_AMO_BITS(NAME, TYPE, or);  \
  ACLSHMEM_DECLARE_AMO_BITS(NAME, TYPE, xor)
SYMM_AMO_BITWISE_TYPES(ACLSHMEM_DECLARE_AMO);
#undef ACLSHMEM_DECLARE_AMO
#undef ACLSHMEM_DECLARE_AMO_BITS

#endif  // SYMM_KERNEL_TU

/** @brief Sums of float and double, which OpenSHMEM does not have: aclshmemx_TYPE_atomic_add and
 * _fetch_add (the old value). The sum depends on the order in which the adds arrive. */
#define ACLSHMEM_DECLARE_AMO(NAME, TYPE)                                                      \
  ACLSHMEM_HOST_API void aclshmemx_##NAME##_atomic_add(TYPE* dest, TYPE value, int pe);       \
  ACLSHMEM_HOST_API TYPE aclshmemx_##NAME##_atomic_fetch_add(TYPE* dest, TYPE value, int pe); \
  ACLSHMEM_HOST_API void aclshmemx_##NAME##_atomic_fetch_add_nbi(TYPE* fetch, TYPE* dest,     \
                                                                 TYPE value, int pe)
SYMM_AMO_FLOAT_TYPES(ACLSHMEM_DECLARE_AMO);
#undef ACLSHMEM_DECLARE_AMO

}  // extern "C"

#endif
