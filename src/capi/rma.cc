// Remote memory access in bytes, and addresses.
#include "ops/rma.h"

#include "base/log.h"
#include "capi/edge.h"
#include "capi/globals.h"
#include "capi/rma_edge.h"
#include "host/data_plane/shmem_host_rma.h"

using symm::Instance;
using symm::Status;
namespace capi = symm::capi;
namespace ops = symm::ops;

void* aclshmem_ptr(void* ptr, int pe) {
  Instance* instance = symm::current();
  return instance != nullptr ? ops::peer_pointer(*instance, ptr, pe) : nullptr;
}

void capi::put_checked(const char* call, void* to, const void* from, size_t count, size_t unit,
                       int pe, bool non_blocking) {
  capi::with_instance(call, [=](Instance& instance) {
    uint64_t pending = 0;
    return ops::put_slow(instance, to, from, {count, unit}, pe, call,
                         non_blocking ? &pending : nullptr);
  });
}

void capi::get_checked(const char* call, void* to, const void* from, size_t count, size_t unit,
                       int pe, bool non_blocking) {
  capi::with_instance(call, [=](Instance& instance) {
    uint64_t pending = 0;
    return ops::get_slow(instance, to, from, {count, unit}, pe, call,
                         non_blocking ? &pending : nullptr);
  });
}

void aclshmem_putmem(void* dst, void* src, size_t elem_size, int32_t pe) {
  capi::put("aclshmem_putmem", dst, src, elem_size, 1, pe);
}

void aclshmem_getmem(void* dst, void* src, size_t elem_size, int32_t pe) {
  capi::get("aclshmem_getmem", dst, src, elem_size, 1, pe);
}

void aclshmem_putmem_nbi(void* dst, void* src, size_t elem_size, int32_t pe) {
  capi::put<capi::kNonBlocking>("aclshmem_putmem_nbi", dst, src, elem_size, 1, pe);
}

void aclshmem_getmem_nbi(void* dst, void* src, size_t elem_size, int32_t pe) {
  capi::get<capi::kNonBlocking>("aclshmem_getmem_nbi", dst, src, elem_size, 1, pe);
}

namespace {

constexpr uint32_t kMinimumStaging = 128;
constexpr uint64_t kUnifiedBufferBytes = 256 * 1024;

// Any numbers are taken, but nothing good comes from scratch beyond the unified buffer.
void warn_beyond_buffer(const char* call, uint64_t offset, uint32_t bytes) {
  if (offset <= kUnifiedBufferBytes && bytes <= kUnifiedBufferBytes - offset) return;
  SYMM_LOG(kWarn, "{}: {} bytes at offset {} lie beyond the unified buffer of {} bytes", call,
           bytes, offset, kUnifiedBufferBytes);
}

// Sets the scratch of one engine in the state that kernels see.
int set_scratch(const char* call, aclshmem_ub_config_t aclshmem_device_host_state_t::*which,
                aclshmem_ub_config_t value, uint32_t minimum) {
  return capi::with_instance(call, [=](Instance& instance) -> Status {
    if (value.ub_size < minimum) {
      return SYMM_ERROR(kInvalidValue, "{}: {} bytes of scratch are less than {}", call,
                        value.ub_size, minimum);
    }
    instance.device().get()->base.*which = value;
    capi::publish_globals(symm::current());
    return {};
  });
}

}  // namespace

int aclshmemx_set_mte_config(uint64_t offset, uint32_t ub_size, uint32_t sync_id) {
  warn_beyond_buffer("aclshmemx_set_mte_config", offset, ub_size);
  return set_scratch("aclshmemx_set_mte_config", &aclshmem_device_host_state_t::mte_config,
                     {static_cast<int64_t>(offset), ub_size, sync_id}, 0);
}

int aclshmemx_set_sdma_config(uint64_t offset, uint32_t ub_size, uint32_t sync_id) {
  return set_scratch("aclshmemx_set_sdma_config", &aclshmem_device_host_state_t::sdma_config,
                     {static_cast<int64_t>(offset), ub_size, sync_id}, 0);
}

int aclshmemx_set_rdma_config(uint64_t offset, uint32_t ub_size, uint32_t sync_id) {
  return set_scratch("aclshmemx_set_rdma_config", &aclshmem_device_host_state_t::rdma_config,
                     {static_cast<int64_t>(offset), ub_size, sync_id}, kMinimumStaging);
}

int aclshmemx_set_udma_config(uint64_t offset, uint32_t ub_size, uint32_t sync_id) {
  return set_scratch("aclshmemx_set_udma_config", &aclshmem_device_host_state_t::udma_config,
                     {static_cast<int64_t>(offset), ub_size, sync_id}, kMinimumStaging);
}
