// Transfers completed one by one, and batches.
#include "host/data_plane/shmem_host_request.h"

#include "base/fence.h"
#include "capi/rma_edge.h"
#include "ops/batch.h"
#include "ops/order.h"

using symm::Instance;
using symm::Status;
namespace capi = symm::capi;
namespace ops = symm::ops;

namespace {

// Mapped memory: a transfer is done when its call returns. Only SHMEM_CHECK=2 keeps a number for
// it.
constexpr aclshmemx_request_t kDone = UINT64_MAX;

aclshmemx_request_t put_request(const char* call, void* to, const void* from, size_t count,
                                size_t unit, int pe) {
  size_t bytes = 0;
  if (!__builtin_mul_overflow(count, unit, &bytes) &&
      ops::try_put(capi::fast_path(), to, from, bytes, pe)) {
    return kDone;
  }
  uint64_t pending = 0;
  const int code = capi::with_instance(call, [&](Instance& instance) {
    return ops::put_slow(instance, to, from, {count, unit}, pe, call, &pending);
  });
  if (code != 0) return ACLSHMEMX_REQUEST_INVALID;
  return pending != 0 ? pending : kDone;
}

aclshmemx_request_t get_request(const char* call, void* to, const void* from, size_t count,
                                size_t unit, int pe) {
  size_t bytes = 0;
  if (!__builtin_mul_overflow(count, unit, &bytes) &&
      ops::try_get(capi::fast_path(), to, from, bytes, pe)) {
    return kDone;
  }
  uint64_t pending = 0;
  const int code = capi::with_instance(call, [&](Instance& instance) {
    return ops::get_slow(instance, to, from, {count, unit}, pe, call, &pending);
  });
  if (code != 0) return ACLSHMEMX_REQUEST_INVALID;
  return pending != 0 ? pending : kDone;
}

Status complete(Instance& instance, const char* call, aclshmemx_request_t request) {
  if (request == ACLSHMEMX_REQUEST_INVALID) {
    return SYMM_ERROR(kInvalidParam, "{} on PE {}: the request names no transfer", call,
                      instance.pe());
  }
  // seq_cst: as quiet, the put is visible before anything that follows
  symm::full_fence();
  if (request == kDone || instance.check_level() != 2) return {};
  return instance.pending().complete_one(call, instance.pe(), request);
}

template <typename Copy>
int batch(const char* call, const aclshmemx_transfer_t* transfers, size_t count, Copy copy) {
  return capi::with_instance(call, [=](Instance& instance) -> Status {
    if (transfers == nullptr && count != 0) {
      return SYMM_ERROR(kInvalidParam, "{} on PE {}: the list of {} transfers is null", call,
                        instance.pe(), count);
    }
    return copy(instance, std::span(transfers, count));
  });
}

}  // namespace

aclshmemx_request_t aclshmemx_putmem_nbi_request(void* dst, const void* src, size_t bytes,
                                                 int32_t pe) {
  return put_request("aclshmemx_putmem_nbi_request", dst, src, bytes, 1, pe);
}

aclshmemx_request_t aclshmemx_getmem_nbi_request(void* dst, const void* src, size_t bytes,
                                                 int32_t pe) {
  return get_request("aclshmemx_getmem_nbi_request", dst, src, bytes, 1, pe);
}

#define SYMM_DEFINE_REQUEST(NAME, TYPE)                                                           \
  aclshmemx_request_t aclshmemx_##NAME##_put_nbi_request(TYPE* dest, const TYPE* source,          \
                                                         size_t nelems, int pe) {                 \
    return put_request("aclshmemx_" #NAME "_put_nbi_request", dest, source, nelems, sizeof(TYPE), \
                       pe);                                                                       \
  }                                                                                               \
  aclshmemx_request_t aclshmemx_##NAME##_get_nbi_request(TYPE* dest, const TYPE* source,          \
                                                         size_t nelems, int pe) {                 \
    return get_request("aclshmemx_" #NAME "_get_nbi_request", dest, source, nelems, sizeof(TYPE), \
                       pe);                                                                       \
  }                                                                                               \
  static_assert(sizeof(TYPE) <= 8)
SYMM_HOST_TYPES(SYMM_DEFINE_REQUEST);

int aclshmemx_request_test(aclshmemx_request_t request, int* done) {
  return capi::with_instance("aclshmemx_request_test", [=](Instance& instance) -> Status {
    if (done == nullptr) {
      return SYMM_ERROR(kInvalidParam, "aclshmemx_request_test on PE {}: done is null",
                        instance.pe());
    }
    *done = 0;
    SYMM_TRY(complete(instance, "aclshmemx_request_test", request));
    *done = 1;
    return {};
  });
}

int aclshmemx_request_wait(aclshmemx_request_t request) {
  return capi::with_instance("aclshmemx_request_wait", [=](Instance& instance) {
    return complete(instance, "aclshmemx_request_wait", request);
  });
}

int aclshmemx_request_wait_all(const aclshmemx_request_t* requests, size_t count) {
  constexpr const char* kCall = "aclshmemx_request_wait_all";
  return capi::with_instance(kCall, [=](Instance& instance) -> Status {
    if (requests == nullptr && count != 0) {
      return SYMM_ERROR(kInvalidParam, "{} on PE {}: the list of {} requests is null", kCall,
                        instance.pe(), count);
    }
    for (size_t i = 0; i < count; ++i) {
      if (requests[i] == ACLSHMEMX_REQUEST_INVALID) continue;
      SYMM_TRY(complete(instance, kCall, requests[i]));
    }
    return {};
  });
}

int aclshmemx_put_many(const aclshmemx_transfer_t* transfers, size_t count) {
  return batch("aclshmemx_put_many", transfers, count, [](Instance& instance, auto list) {
    return ops::put_many(instance, list, "aclshmemx_put_many");
  });
}

int aclshmemx_get_many(const aclshmemx_transfer_t* transfers, size_t count) {
  return batch("aclshmemx_get_many", transfers, count, [](Instance& instance, auto list) {
    return ops::get_many(instance, list, "aclshmemx_get_many");
  });
}
