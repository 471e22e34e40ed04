// Ordering, completion, reachability.
#include "ops/order.h"

#include "capi/edge.h"
#include "host/data_plane/shmem_host_mo.h"
#include "ops/rma.h"

using symm::Instance;
namespace capi = symm::capi;
namespace ops = symm::ops;

namespace {

// A null list is no list, whatever its length says.
std::span<const int> list_of(const int* pes, size_t count) {
  return {pes, pes != nullptr ? count : 0};
}

}  // namespace

void aclshmem_fence(void) { ops::fence(); }

void aclshmem_quiet(void) {
  capi::with_instance("aclshmem_quiet",
                      [](Instance& instance) { return ops::quiet(instance, "aclshmem_quiet"); });
}

void aclshmem_pe_quiet(const int* target_pes, size_t npes) {
  capi::with_instance("aclshmem_pe_quiet", [=](Instance& instance) {
    return ops::quiet_to(instance, list_of(target_pes, npes), "aclshmem_pe_quiet");
  });
}

void aclshmemx_pe_fence(const int* target_pes, size_t npes) {
  capi::with_instance("aclshmemx_pe_fence", [=](Instance& instance) -> symm::Status {
    SYMM_TRY(ops::check_pes(instance, list_of(target_pes, npes), "aclshmemx_pe_fence"));
    ops::fence();
    return {};
  });
}

void aclshmemx_local_quiet(void) {
  capi::with_instance("aclshmemx_local_quiet", [](Instance& instance) {
    return ops::local_quiet(instance, "aclshmemx_local_quiet");
  });
}

int aclshmem_pe_accessible(int pe) {
  const Instance* instance = symm::current();
  return instance != nullptr && pe >= 0 && pe < instance->n_pes() ? 1 : 0;
}

int aclshmem_addr_accessible(const void* addr, int pe) {
  const Instance* instance = symm::current();
  if (instance == nullptr) return 0;
  return ops::peer_pointer(*instance, const_cast<void*>(addr), pe) != nullptr ? 1 : 0;
}
