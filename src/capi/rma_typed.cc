// The typed and sized families of puts and gets.
#include "capi/edge.h"
#include "capi/rma_edge.h"
#include "host/data_plane/shmem_host_rma.h"
#include "ops/rma.h"

using symm::Instance;
using symm::Status;
namespace capi = symm::capi;
namespace ops = symm::ops;
using capi::get;
using capi::put;

namespace {

void iput(const char* call, void* to, const void* from, ptrdiff_t to_stride, ptrdiff_t from_stride,
          size_t count, size_t size, int pe) {
  capi::with_instance(call, [=](Instance& instance) {
    return ops::iput(instance, to, from, to_stride, from_stride, count, size, pe, call);
  });
}

void iget(const char* call, void* to, const void* from, ptrdiff_t to_stride, ptrdiff_t from_stride,
          size_t count, size_t size, int pe) {
  capi::with_instance(call, [=](Instance& instance) {
    return ops::iget(instance, to, from, to_stride, from_stride, count, size, pe, call);
  });
}

}  // namespace

#define SYMM_DEFINE_TYPE_RMA(NAME, TYPE)                                                           \
  void aclshmem_##NAME##_put(TYPE* dest, TYPE* source, size_t nelems, int pe) {                    \
    put("aclshmem_" #NAME "_put", dest, source, nelems, sizeof(TYPE), pe);                         \
  }                                                                                                \
  void aclshmem_##NAME##_put_nbi(TYPE* dest, TYPE* source, size_t nelems, int pe) {                \
    put<capi::kNonBlocking>("aclshmem_" #NAME "_put_nbi", dest, source, nelems, sizeof(TYPE), pe); \
  }                                                                                                \
  void aclshmem_##NAME##_get(TYPE* dest, TYPE* source, size_t nelems, int pe) {                    \
    get("aclshmem_" #NAME "_get", dest, source, nelems, sizeof(TYPE), pe);                         \
  }                                                                                                \
  void aclshmem_##NAME##_get_nbi(TYPE* dest, TYPE* source, size_t nelems, int pe) {                \
    get<capi::kNonBlocking>("aclshmem_" #NAME "_get_nbi", dest, source, nelems, sizeof(TYPE), pe); \
  }                                                                                                \
  void aclshmem_##NAME##_iput(TYPE* dest, TYPE* source, ptrdiff_t dst, ptrdiff_t sst,              \
                              size_t nelems, int pe) {                                             \
    iput("aclshmem_" #NAME "_iput", dest, source, dst, sst, nelems, sizeof(TYPE), pe);             \
  }                                                                                                \
  void aclshmem_##NAME##_iget(TYPE* dest, TYPE* source, ptrdiff_t dst, ptrdiff_t sst,              \
                              size_t nelems, int pe) {                                             \
    iget("aclshmem_" #NAME "_iget", dest, source, dst, sst, nelems, sizeof(TYPE), pe);             \
  }                                                                                                \
  void aclshmem_##NAME##_p(TYPE* dst, const TYPE value, int pe) {                                  \
    capi::put_value<TYPE>("aclshmem_" #NAME "_p", dst, value, pe);                                 \
  }                                                                                                \
  TYPE aclshmem_##NAME##_g(TYPE* src, int32_t pe) {                                                \
    return capi::get_value<TYPE>("aclshmem_" #NAME "_g", src, pe);                                 \
  }                                                                                                \
  static_assert(sizeof(TYPE) <= 8)
SYMM_HOST_TYPES(SYMM_DEFINE_TYPE_RMA);

#define SYMM_DEFINE_SIZE_RMA(BITS)                                                                \
  void aclshmem_put##BITS(void* dst, void* src, size_t elem_size, int32_t pe) {                   \
    put("aclshmem_put" #BITS, dst, src, elem_size, BITS / 8, pe);                                 \
  }                                                                                               \
  void aclshmem_put##BITS##_nbi(void* dst, void* src, size_t elem_size, int32_t pe) {             \
    put<capi::kNonBlocking>("aclshmem_put" #BITS "_nbi", dst, src, elem_size, BITS / 8, pe);      \
  }                                                                                               \
  void aclshmem_get##BITS(void* dst, void* src, size_t elem_size, int32_t pe) {                   \
    get("aclshmem_get" #BITS, dst, src, elem_size, BITS / 8, pe);                                 \
  }                                                                                               \
  void aclshmem_get##BITS##_nbi(void* dst, void* src, size_t elem_size, int32_t pe) {             \
    get<capi::kNonBlocking>("aclshmem_get" #BITS "_nbi", dst, src, elem_size, BITS / 8, pe);      \
  }                                                                                               \
  void aclshmem_iput##BITS(void* dest, void* source, ptrdiff_t dst, ptrdiff_t sst, size_t nelems, \
                           int pe) {                                                              \
    iput("aclshmem_iput" #BITS, dest, source, dst, sst, nelems, BITS / 8, pe);                    \
  }                                                                                               \
  void aclshmem_iget##BITS(void* dest, void* source, ptrdiff_t dst, ptrdiff_t sst, size_t nelems, \
                           int pe) {                                                              \
    iget("aclshmem_iget" #BITS, dest, source, dst, sst, nelems, BITS / 8, pe);                    \
  }                                                                                               \
  static_assert(BITS % 8 == 0)
ACLSHMEM_SIZE_FUNC(SYMM_DEFINE_SIZE_RMA);
