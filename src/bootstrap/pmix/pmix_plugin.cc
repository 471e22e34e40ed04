// The table of aclshmem_bootstrap_pmix.so.
#include <atomic>
#include <memory>

#include "bootstrap/edge.h"
#include "bootstrap/pmix/kvs_group.h"
#include "bootstrap/pmix/kvs_table.h"
#include "bootstrap/pmix/pmix_client.h"

namespace symm::bootstrap {
namespace {

int pmix_open(symm_bootstrap_config* config, void** handle, char* error, size_t error_size) {
  // Only a number that no other group of this process has; nothing is ordered by it.
  static std::atomic<uint64_t> serials{0};
  return at_edge(error, error_size, [&]() -> Status {
    auto client = PmixClient::open();
    SYMM_TRY(std::move(client.status()));
    uint64_t serial = serials.fetch_add(1, std::memory_order_relaxed);
    auto group = KvsGroup::open(std::move(client).value(), serial, *config);
    SYMM_TRY(std::move(group.status()));
    *handle = std::move(group).value().release();
    return {};
  });
}

}  // namespace
}  // namespace symm::bootstrap

extern "C" __attribute__((visibility("default"))) const symm_bootstrap_table* symm_bootstrap_plugin(
    void) {
  static const symm_bootstrap_table table =
      symm::bootstrap::kvs_table("pmix", symm::bootstrap::pmix_open);
  return &table;
}
