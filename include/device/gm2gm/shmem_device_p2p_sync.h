// Kernel side: signals, and waiting for values that other PEs or cores write into own memory. Waits
// let the other cores run, return when the value is there and everything its writer ordered before
// it is visible (acquire), and end the kernel with a message when a PE is lost or the time limit
// (SHMEM_WAIT_TIMEOUT) is over. cmp is an aclshmem_cmp_op_type_t; for any other number waits return
// at once and tests say no. status: null, or per element non-zero to leave it out.
#ifndef SHMEM_DEVICE_P2P_SYNC_H
#define SHMEM_DEVICE_P2P_SYNC_H

#include "device/impl/host_dual.h"
#include "device/impl/p2p_inl.h"
#include "device/shmem_def.h"

SYMM_HOST(void, aclshmem_signal_wait_until, (int32_t * sig_addr, int cmp, int32_t cmp_val));

// Sets (ACLSHMEM_SIGNAL_SET) or adds to (ACLSHMEM_SIGNAL_ADD) the int32 signal at symmetric
// sig_addr on pe; other sig_op give no signal and are recorded
// (aclshmemx_last_error). When MTE reaches the PE (topo_list), the core stores it:
// behind its own copies and stores, but not behind transfers that are still on an engine's queue;
// call that engine's quiet first. Else it goes through the RDMA or UDMA queue, behind earlier
// requests there, and is complete after that engine's quiet. Original (OpenSHMEM has it only as
// part of put_signal). Kernels only.
inline void aclshmemx_signal_op(int32_t* sig_addr, int32_t signal, int sig_op, int pe) {
  symm_dev::signal(sig_addr, signal, sig_op, pe, "aclshmemx_signal_op");
}

// Blocks until cmp(*sig_addr, cmp_val); returns the value that satisfied it. sig_addr is own
// memory. OpenSHMEM shmem_signal_wait_until. On a host thread: the host function, then the value.
inline int32_t aclshmem_signal_wait_until(int32_t* sig_addr, int cmp, int32_t cmp_val) {
  if (symm_dev::in_kernel()) {
    return symm_dev::wait_value(sig_addr, cmp, cmp_val, "aclshmem_signal_wait_until");
  }
  symm_host_aclshmem_signal_wait_until(sig_addr, cmp, cmp_val);
  return symm_dev::load_acquire(sig_addr);
}

#define SYMM_DECLARE_HOST_P2P(NAME, TYPE)                                                          \
  SYMM_HOST(void, aclshmem_##NAME##_wait_until, (TYPE * ivar, int cmp, TYPE cmp_value));           \
  SYMM_HOST(void, aclshmem_##NAME##_wait, (TYPE * ivar, TYPE cmp_value));                          \
  SYMM_HOST(void, aclshmem_##NAME##_wait_until_all,                                                \
            (TYPE * ivars, size_t nelems, const int* status, int cmp, TYPE cmp_value));            \
  SYMM_HOST(void, aclshmem_##NAME##_wait_until_all_vector,                                         \
            (TYPE * ivars, size_t nelems, const int* status, int cmp, TYPE* cmp_values));          \
  SYMM_HOST(                                                                                       \
      void, aclshmem_##NAME##_wait_until_any,                                                      \
      (TYPE * ivars, size_t nelems, const int* status, int cmp, TYPE cmp_value, size_t* res_out)); \
  SYMM_HOST(void, aclshmem_##NAME##_wait_until_some,                                               \
            (TYPE * ivars, size_t nelems, size_t * indices, const int* status, int cmp,            \
             TYPE cmp_value, size_t* res_out));                                                    \
  SYMM_HOST(void, aclshmem_##NAME##_wait_until_any_vector,                                         \
            (TYPE * ivars, size_t nelems, const int* status, int cmp, TYPE* cmp_values,            \
             size_t* res_out));                                                                    \
  SYMM_HOST(void, aclshmem_##NAME##_wait_until_some_vector,                                        \
            (TYPE * ivars, size_t nelems, size_t * indices, const int* status, int cmp,            \
             TYPE* cmp_values, size_t* res_out));                                                  \
  SYMM_HOST(void, aclshmem_##NAME##_test, (TYPE * ivars, int cmp, TYPE cmp_value, int* res_out));  \
  SYMM_HOST(                                                                                       \
      void, aclshmem_##NAME##_test_any,                                                            \
      (TYPE * ivars, size_t nelems, const int* status, int cmp, TYPE cmp_value, size_t* res_out)); \
  SYMM_HOST(void, aclshmem_##NAME##_test_some,                                                     \
            (TYPE * ivars, size_t nelems, size_t * indices, const int* status, int cmp,            \
             TYPE cmp_value, size_t* res_out));                                                    \
  SYMM_HOST(                                                                                       \
      void, aclshmem_##NAME##_test_all_vector,                                                     \
      (TYPE * ivars, size_t nelems, const int* status, int cmp, TYPE* cmp_values, int* res_out));  \
  SYMM_HOST(void, aclshmem_##NAME##_test_any_vector,                                               \
            (TYPE * ivars, size_t nelems, const int* status, int cmp, TYPE* cmp_values,            \
             size_t* res_out));                                                                    \
  SYMM_HOST(void, aclshmem_##NAME##_test_some_vector,                                              \
            (TYPE * ivars, size_t nelems, size_t * indices, const int* status, int cmp,            \
             TYPE* cmp_values, size_t* res_out))
ACLSHMEM_P2P_SYNC_TYPE_FUNC(SYMM_DECLARE_HOST_P2P);
#undef SYMM_DECLARE_HOST_P2P

// void aclshmem_TYPE_wait_until(TYPE* ivar, int cmp, TYPE value): until cmp(*ivar, value).
// void aclshmem_TYPE_wait(TYPE* ivar, TYPE value): until *ivar != value.
// void aclshmem_TYPE_wait_until_all(TYPE* ivars, size_t nelems, const int* status, int cmp, TYPE
// value): until each element
//   has satisfied cmp, not necessarily all at the same moment. _all_vector: element i against
//   values[i].
// int aclshmem_TYPE_test(TYPE* ivar, int cmp, TYPE value): 1 if it holds now, else 0.
// OpenSHMEM shmem_TYPENAME_wait_until and so on. Host and kernel.
#define SYMM_DEFINE_P2P(NAME, TYPE)                                                             \
  inline void aclshmem_##NAME##_wait_until(TYPE* ivar, int cmp, TYPE cmp_value) {               \
    if (!symm_dev::in_kernel())                                                                 \
      return symm_host_aclshmem_##NAME##_wait_until(ivar, cmp, cmp_value);                      \
    symm_dev::wait_value<TYPE>(ivar, cmp, cmp_value, "aclshmem_" #NAME "_wait_until");          \
  }                                                                                             \
  inline void aclshmem_##NAME##_wait(TYPE* ivar, TYPE cmp_value) {                              \
    if (!symm_dev::in_kernel()) return symm_host_aclshmem_##NAME##_wait(ivar, cmp_value);       \
    symm_dev::wait_value<TYPE>(ivar, ACLSHMEM_CMP_NE, cmp_value, "aclshmem_" #NAME "_wait");    \
  }                                                                                             \
  inline void aclshmem_##NAME##_wait_until_all(TYPE* ivars, size_t nelems, const int* status,   \
                                               int cmp, TYPE cmp_value) {                       \
    if (!symm_dev::in_kernel()) {                                                               \
      return symm_host_aclshmem_##NAME##_wait_until_all(ivars, nelems, status, cmp, cmp_value); \
    }                                                                                           \
    symm_dev::wait_all<TYPE>(ivars, nelems, status, cmp, symm_dev::One<TYPE>{cmp_value},        \
                             "aclshmem_" #NAME "_wait_until_all");                              \
  }                                                                                             \
  inline void aclshmem_##NAME##_wait_until_all_vector(                                          \
      TYPE* ivars, size_t nelems, const int* status, int cmp, TYPE* cmp_values) {               \
    if (!symm_dev::in_kernel()) {                                                               \
      return symm_host_aclshmem_##NAME##_wait_until_all_vector(ivars, nelems, status, cmp,      \
                                                               cmp_values);                     \
    }                                                                                           \
    symm_dev::wait_all<TYPE>(ivars, nelems, status, cmp, cmp_values,                            \
                             "aclshmem_" #NAME "_wait_until_all_vector");                       \
  }                                                                                             \
  inline int aclshmem_##NAME##_test(TYPE* ivars, int cmp, TYPE cmp_value) {                     \
    symm_dev::polled();                                                                         \
    return symm_dev::test_value<TYPE>(ivars, cmp, cmp_value, "aclshmem_" #NAME "_test");        \
  }                                                                                             \
  inline void aclshmem_##NAME##_test(TYPE* ivars, int cmp, TYPE cmp_value, int* res_out) {      \
    if (!symm_dev::in_kernel())                                                                 \
      return symm_host_aclshmem_##NAME##_test(ivars, cmp, cmp_value, res_out);                  \
    *res_out = aclshmem_##NAME##_test(ivars, cmp, cmp_value);                                   \
  }
ACLSHMEM_P2P_SYNC_TYPE_FUNC(SYMM_DEFINE_P2P)
#undef SYMM_DEFINE_P2P

// size_t aclshmem_TYPE_wait_until_any(ivars, nelems, status, cmp, value): index of one that holds;
// SIZE_MAX for an empty set.
//   Repeated calls reach every element that holds.
// size_t aclshmem_TYPE_wait_until_some(ivars, nelems, indices, status, cmp, value): writes the
// indices of those that hold,
//   returns how many (at least 1); 0 for an empty set.
// _test_any, _test_some: the same without waiting; SIZE_MAX or 0 when none holds.
// int aclshmem_TYPE_test_all_vector(...): 1 when every element holds (1 for an empty set).
// _vector: element i against values[i]. The host functions deliver the result through a last
// pointer; those forms work in kernels too.
#define SYMM_P2P_ONE(NAME, TYPE, VERB, SUFFIX, CMP, WANTED)                                        \
  inline size_t aclshmem_##NAME##_##VERB##_any##SUFFIX(                                            \
      TYPE* ivars, size_t nelems, const int* status, int cmp, CMP cmp_value) {                     \
    return symm_dev::VERB##_any<TYPE>(ivars, nelems, status, cmp, WANTED,                          \
                                      "aclshmem_" #NAME "_" #VERB "_any" #SUFFIX);                 \
  }                                                                                                \
  inline size_t aclshmem_##NAME##_##VERB##_some##SUFFIX(                                           \
      TYPE* ivars, size_t nelems, size_t* indices, const int* status, int cmp, CMP cmp_value) {    \
    return symm_dev::VERB##_some<TYPE>(ivars, nelems, indices, status, cmp, WANTED,                \
                                       "aclshmem_" #NAME "_" #VERB "_some" #SUFFIX);               \
  }                                                                                                \
  inline void aclshmem_##NAME##_##VERB##_any##SUFFIX(                                              \
      TYPE* ivars, size_t nelems, const int* status, int cmp, CMP cmp_value, size_t* res_out) {    \
    if (!symm_dev::in_kernel()) {                                                                  \
      return symm_host_aclshmem_##NAME##_##VERB##_any##SUFFIX(ivars, nelems, status, cmp,          \
                                                              cmp_value, res_out);                 \
    }                                                                                              \
    *res_out = aclshmem_##NAME##_##VERB##_any##SUFFIX(ivars, nelems, status, cmp, cmp_value);      \
  }                                                                                                \
  inline void aclshmem_##NAME##_##VERB##_some##SUFFIX(TYPE* ivars, size_t nelems, size_t* indices, \
                                                      const int* status, int cmp, CMP cmp_value,   \
                                                      size_t* res_out) {                           \
    if (!symm_dev::in_kernel()) {                                                                  \
      return symm_host_aclshmem_##NAME##_##VERB##_some##SUFFIX(ivars, nelems, indices, status,     \
                                                               cmp, cmp_value, res_out);           \
    }                                                                                              \
    *res_out =                                                                                     \
        aclshmem_##NAME##_##VERB##_some##SUFFIX(ivars, nelems, indices, status, cmp, cmp_value);   \
  }
#define SYMM_DEFINE_P2P(NAME, TYPE)                                                              \
  SYMM_P2P_ONE(NAME, TYPE, wait_until, , TYPE, symm_dev::One<TYPE>{cmp_value})                   \
  SYMM_P2P_ONE(NAME, TYPE, wait_until, _vector, TYPE*, cmp_value)                                \
  SYMM_P2P_ONE(NAME, TYPE, test, , TYPE, symm_dev::One<TYPE>{cmp_value})                         \
  SYMM_P2P_ONE(NAME, TYPE, test, _vector, TYPE*, cmp_value)                                      \
  inline int aclshmem_##NAME##_test_all_vector(TYPE* ivars, size_t nelems, const int* status,    \
                                               int cmp, TYPE* cmp_values) {                      \
    return symm_dev::test_all<TYPE>(ivars, nelems, status, cmp, cmp_values,                      \
                                    "aclshmem_" #NAME "_test_all_vector");                       \
  }                                                                                              \
  inline void aclshmem_##NAME##_test_all_vector(TYPE* ivars, size_t nelems, const int* status,   \
                                                int cmp, TYPE* cmp_values, int* res_out) {       \
    if (!symm_dev::in_kernel()) {                                                                \
      return symm_host_aclshmem_##NAME##_test_all_vector(ivars, nelems, status, cmp, cmp_values, \
                                                         res_out);                               \
    }                                                                                            \
    *res_out = aclshmem_##NAME##_test_all_vector(ivars, nelems, status, cmp, cmp_values);        \
  }
ACLSHMEM_P2P_SYNC_TYPE_FUNC(SYMM_DEFINE_P2P)
#undef SYMM_DEFINE_P2P
#undef SYMM_P2P_ONE

#define shmemx_signal_op aclshmemx_signal_op
#define shmem_signal_wait_until aclshmem_signal_wait_until

#endif
