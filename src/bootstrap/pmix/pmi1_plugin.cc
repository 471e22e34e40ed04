// The table of aclshmem_bootstrap_pmi.so.
#include <memory>
#include <mutex>

#include "base/config.h"
#include "bootstrap/edge.h"
#include "bootstrap/launch_env.h"
#include "bootstrap/pmix/kvs_group.h"
#include "bootstrap/pmix/kvs_table.h"
#include "bootstrap/pmix/pmi1_client.h"

namespace symm::bootstrap {
namespace {

// A process has one connection, says hello once and goodbye once, when it ends: the server takes
// nothing after a goodbye.
struct Connection {
  std::mutex mutex;
  std::shared_ptr<Pmi1Client> client;
  uint64_t serial = 0;
};

Connection& connection() {
  static Connection one;
  return one;
}

Status connect(double limit_s, std::shared_ptr<KvsClient>& client, uint64_t& serial) {
  Connection& one = connection();
  std::lock_guard lock(one.mutex);
  if (one.client == nullptr) {
    SYMM_ASSIGN(LaunchEnv env, detect_launch_env());
    if (env.kind != LaunchKind::kPmi1) {
      return SYMM_ERROR(kBootstrap,
                        "PMI-1 is not what started this process ({}): PMI_FD, PMI_RANK "
                        "and PMI_SIZE must be set",
                        env.source);
    }
    auto fd = config::parse_integer(config::raw("PMI_FD").value_or(""), 0, INT32_MAX);
    SYMM_TRY(std::move(fd.status()));
    auto opened = Pmi1Client::open(static_cast<int>(fd.value()), env.pe, env.n_pes,
                                   Deadline::after_seconds(limit_s));
    SYMM_TRY(std::move(opened.status()));
    one.client = opened.value();
  }
  client = one.client;
  serial = one.serial++;
  return {};
}

int pmi_open(symm_bootstrap_config* config, void** handle, char* error, size_t error_size) {
  return at_edge(error, error_size, [&]() -> Status {
    std::shared_ptr<KvsClient> client;
    uint64_t serial = 0;
    SYMM_TRY(connect(config->connect_timeout_s, client, serial));
    auto group = KvsGroup::open(std::move(client), serial, *config);
    SYMM_TRY(std::move(group.status()));
    *handle = std::move(group).value().release();
    return {};
  });
}

// Without a handle: the job of this process, as far as it has a connection.
int pmi_global_exit(void* handle, int status, char* error, size_t error_size) {
  return at_edge(error, error_size, [&]() -> Status {
    if (handle != nullptr) return static_cast<KvsGroup*>(handle)->abort(status);
    Connection& one = connection();
    std::lock_guard lock(one.mutex);
    if (one.client != nullptr) return one.client->abort(status);
    return SYMM_ERROR(kBootstrap, "there is no connection to a PMI server");
  });
}

symm_bootstrap_table make_table() {
  symm_bootstrap_table table = kvs_table("pmi", pmi_open);
  table.global_exit = pmi_global_exit;
  return table;
}

}  // namespace
}  // namespace symm::bootstrap

extern "C" __attribute__((visibility("default"))) const symm_bootstrap_table* symm_bootstrap_plugin(
    void) {
  static const symm_bootstrap_table table = symm::bootstrap::make_table();
  return &table;
}
