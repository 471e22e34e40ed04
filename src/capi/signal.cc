// Puts with a signal.
#include "ops/signal.h"
#include "capi/edge.h"
#include "host/data_plane/shmem_host_so.h"

using symm::Instance;
namespace capi = symm::capi;
namespace ops = symm::ops;

namespace {

void put_signal(const char* call, void* to, const void* from, size_t count, size_t unit,
                void* signal, int32_t value, int op, int pe) {
  capi::with_instance(call, [=](Instance& instance) {
    return ops::put_signal(instance, to, from, {count, unit}, static_cast<int32_t*>(signal), value,
                           op, pe, call);
  });
}

}  // namespace

#define SYMM_DEFINE_TYPE_SIGNAL(NAME, TYPE)                                                        \
  void aclshmem_##NAME##_put_signal(TYPE* dst, TYPE* src, size_t elem_size, uint8_t* sig_addr,     \
                                    int32_t signal, int sig_op, int pe) {                          \
    put_signal("aclshmem_" #NAME "_put_signal", dst, src, elem_size, sizeof(TYPE), sig_addr,       \
               signal, sig_op, pe);                                                                \
  }                                                                                                \
  void aclshmem_##NAME##_put_signal_nbi(TYPE* dst, TYPE* src, size_t elem_size, uint8_t* sig_addr, \
                                        int32_t signal, int sig_op, int pe) {                      \
    put_signal("aclshmem_" #NAME "_put_signal_nbi", dst, src, elem_size, sizeof(TYPE), sig_addr,   \
               signal, sig_op, pe);                                                                \
  }                                                                                                \
  static_assert(sizeof(TYPE) <= 8)
SYMM_HOST_TYPES(SYMM_DEFINE_TYPE_SIGNAL);

#define SYMM_DEFINE_SIZE_SIGNAL(BITS)                                                            \
  void aclshmem_put##BITS##_signal(void* dst, void* src, size_t nelems, int32_t* sig_addr,       \
                                   int32_t signal, int sig_op, int pe) {                         \
    put_signal("aclshmem_put" #BITS "_signal", dst, src, nelems, BITS / 8, sig_addr, signal,     \
               sig_op, pe);                                                                      \
  }                                                                                              \
  void aclshmem_put##BITS##_signal_nbi(void* dst, void* src, size_t nelems, int32_t* sig_addr,   \
                                       int32_t signal, int sig_op, int pe) {                     \
    put_signal("aclshmem_put" #BITS "_signal_nbi", dst, src, nelems, BITS / 8, sig_addr, signal, \
               sig_op, pe);                                                                      \
  }                                                                                              \
  static_assert(BITS % 8 == 0)
ACLSHMEM_SIZE_FUNC(SYMM_DEFINE_SIZE_SIGNAL);

void aclshmemx_putmem_signal(void* dst, void* src, size_t elem_size, void* sig_addr, int32_t signal,
                             int sig_op, int pe) {
  put_signal("aclshmemx_putmem_signal", dst, src, elem_size, 1, sig_addr, signal, sig_op, pe);
}

void aclshmemx_putmem_signal_nbi(void* dst, void* src, size_t elem_size, void* sig_addr,
                                 int32_t signal, int sig_op, int pe) {
  put_signal("aclshmemx_putmem_signal_nbi", dst, src, elem_size, 1, sig_addr, signal, sig_op, pe);
}
