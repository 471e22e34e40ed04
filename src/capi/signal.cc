// Puts with a signal.
#include "ops/signal.h"

#include <string_view>

#include "capi/edge.h"
#include "host/data_plane/shmem_host_so.h"

using symm::Instance;
namespace capi = symm::capi;
namespace ops = symm::ops;

namespace {

template <typename Word>
void put_signal(const char* call, void* to, const void* from, size_t count, size_t unit,
                Word* signal, Word value, int op, int pe, bool non_blocking) {
  capi::with_instance(call, [=](Instance& instance) {
    uint64_t pending = 0;
    return ops::put_signal(instance, to, from, {count, unit}, signal, value, op, pe, call,
                           non_blocking ? &pending : nullptr);
  });
}

void put_signal(const char* call, void* to, const void* from, size_t count, size_t unit,
                void* signal, int32_t value, int op, int pe) {
  const size_t length = std::char_traits<char>::length(call);
  const bool non_blocking = std::string_view(call, length).ends_with("_nbi");
  put_signal(call, to, from, count, unit, static_cast<int32_t*>(signal), value, op, pe,
             non_blocking);
}

template <typename Word>
void signal_op(const char* call, Word* signal, Word value, int op, int pe) {
  capi::with_instance(
      call, [=](Instance& instance) { return ops::signal(instance, signal, value, op, pe, call); });
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

#define SYMM_DEFINE_SIGNAL64(NAME, TYPE)                                                          \
  void aclshmemx_##NAME##_put_signal64(TYPE* dest, const TYPE* source, size_t nelems,             \
                                       uint64_t* sig_addr, uint64_t signal, int sig_op, int pe) { \
    put_signal("aclshmemx_" #NAME "_put_signal64", dest, source, nelems, sizeof(TYPE), sig_addr,  \
               signal, sig_op, pe, false);                                                        \
  }                                                                                               \
  void aclshmemx_##NAME##_put_signal64_nbi(TYPE* dest, const TYPE* source, size_t nelems,         \
                                           uint64_t* sig_addr, uint64_t signal, int sig_op,       \
                                           int pe) {                                              \
    put_signal("aclshmemx_" #NAME "_put_signal64_nbi", dest, source, nelems, sizeof(TYPE),        \
               sig_addr, signal, sig_op, pe, true);                                               \
  }                                                                                               \
  static_assert(sizeof(TYPE) <= 8)
SYMM_HOST_TYPES(SYMM_DEFINE_SIGNAL64);

void aclshmemx_putmem_signal64(void* dest, const void* source, size_t bytes, uint64_t* sig_addr,
                               uint64_t signal, int sig_op, int pe) {
  put_signal("aclshmemx_putmem_signal64", dest, source, bytes, 1, sig_addr, signal, sig_op, pe,
             false);
}

void aclshmemx_putmem_signal64_nbi(void* dest, const void* source, size_t bytes, uint64_t* sig_addr,
                                   uint64_t signal, int sig_op, int pe) {
  put_signal("aclshmemx_putmem_signal64_nbi", dest, source, bytes, 1, sig_addr, signal, sig_op, pe,
             true);
}

void aclshmemx_signal64_op(uint64_t* sig_addr, uint64_t signal, int sig_op, int pe) {
  signal_op("aclshmemx_signal64_op", sig_addr, signal, sig_op, pe);
}

void aclshmemx_signal_op(int32_t* sig_addr, int32_t signal, int sig_op, int pe) {
  signal_op("aclshmemx_signal_op", sig_addr, signal, sig_op, pe);
}
