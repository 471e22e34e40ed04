// The table of aclshmem_bootstrap_pmix.so.
#include <memory>
#include <mutex>

#include "bootstrap/edge.h"
#include "bootstrap/pmix/kvs_group.h"
#include "bootstrap/pmix/kvs_table.h"
#include "bootstrap/pmix/pmix_client.h"

namespace symm::bootstrap {
namespace {

// A process has one reference to PMIx, which ends with the process: after a last PMIx_Finalize an
// MPI_Init in the same process would find nothing any more.
struct Connection {
  std::mutex mutex;
  std::shared_ptr<PmixClient> client;
  uint64_t serial = 0;  // a number that no other group of this process has
};

Connection& connection() {
  static Connection one;
  return one;
}

Status connect(std::shared_ptr<KvsClient>& client, uint64_t& serial) {
  Connection& one = connection();
  std::lock_guard lock(one.mutex);
  if (one.client == nullptr) {
    auto opened = PmixClient::open();
    SYMM_TRY(std::move(opened.status()));
    one.client = opened.value();
  }
  client = one.client;
  serial = one.serial++;
  return {};
}

int pmix_open(symm_bootstrap_config* config, void** handle, char* error, size_t error_size) {
  return at_edge(error, error_size, [&]() -> Status {
    std::shared_ptr<KvsClient> client;
    uint64_t serial = 0;
    SYMM_TRY(connect(client, serial));
    auto group = KvsGroup::open(std::move(client), serial, *config);
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
