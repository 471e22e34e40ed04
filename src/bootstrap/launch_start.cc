#include "bootstrap/launch_start.h"

#include <cstring>

#include "base/log.h"
#include "base/scope_exit.h"
#include "bootstrap/loader.h"

namespace symm::bootstrap {
namespace {

Status share_over_plugin(const char* plugin, const symm_bootstrap_table& store,
                         const symm_tls_options& tls, double limit_s, LaunchStart& start) {
  SYMM_ASSIGN(const symm_bootstrap_table* table, load_plugin(plugin));
  symm_bootstrap_config config{};
  config.size = sizeof(config);
  config.pe = -1;
  config.connect_timeout_s = limit_s;
  config.operation_timeout_s = limit_s;
  config.listen_fd = -1;
  char error[512] = "";
  void* handle = nullptr;
  int code = table->open(&config, &handle, error, sizeof(error));
  if (code != 0) return Status(static_cast<Code>(code), error, __FILE__, __LINE__);
  ScopeExit close([&] { table->close(handle); });
  auto exchange = [&](const void* in, size_t bytes, void* out) -> Status {
    int result = table->allgather(handle, in, bytes, out, "unique id", error, sizeof(error));
    if (result == 0) return {};
    return Status(static_cast<Code>(result), error, __FILE__, __LINE__);
  };
  start.pe = config.pe;
  start.n_pes = config.n_pes;
  SYMM_ASSIGN(start.unique_id, share_unique_id(exchange, store, tls, start.pe, start.n_pes));
  return {};
}

// A launcher with PMI-1 takes a process that ends without a goodbye for a crash and reports a code
// of its own.
void abort_over_pmi(int status) {
  auto table = load_plugin(kPmiPlugin);
  char error[256] = "";
  if (!table.ok() || table.value()->global_exit(nullptr, status, error, sizeof(error)) != 0) {
    SYMM_LOG(kWarn, "the launcher was not told about the global exit: {}",
             table.ok() ? error : table.status().text());
  }
}

Status make_alone(const symm_bootstrap_table& store, const symm_tls_options& tls,
                  LaunchStart& start) {
  auto exchange = [](const void* in, size_t bytes, void* out) -> Status {
    std::memcpy(out, in, bytes);
    return {};
  };
  SYMM_ASSIGN(start.unique_id, share_unique_id(exchange, store, tls, 0, 1));
  return {};
}

}  // namespace

Result<LaunchStart> start_from_launcher(const LaunchEnv& env, const symm_bootstrap_table& store,
                                        const symm_tls_options& tls, double limit_s) {
  LaunchStart start;
  start.pe = env.pe;
  start.n_pes = env.n_pes;
  start.source = env.source;
  if (!env.address.empty()) {
    start.address = env.address;
    return start;
  }
  start.mode = kUniqueIdMode;
  if (env.n_pes == 1) {
    SYMM_TRY(make_alone(store, tls, start).with_context("one PE"));
    return start;
  }
  bool pmix = env.kind == LaunchKind::kPmix;
  SYMM_TRY(share_over_plugin(pmix ? kPmixPlugin : kPmiPlugin, store, tls, limit_s, start)
               .with_context(env.source));
  if (!pmix) start.before_exit = abort_over_pmi;
  return start;
}

}  // namespace symm::bootstrap
