// ConfigStore: one PE's membership in a job through the store: in PE 0 also the server itself. What
// the plug-in's table calls; usable without the plug-in in tests. Threads: as the plug-in interface
// says: one at a time, global_exit any time.
#pragma once

#include <sys/types.h>

#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "base/status.h"
#include "bootstrap/plugin_abi.h"
#include "bootstrap/security.h"
#include "bootstrap/unique_id.h"
#include "net/address.h"
#include "net/secret.h"
#include "store/client.h"
#include "store/server.h"

namespace symm::bootstrap {

inline constexpr uint32_t kModeDefault = 1u << 0;
inline constexpr uint32_t kModeUniqueId = 1u << 3;

class ConfigStore {
 public:
  // Collective. The listening descriptor (config or unique id) belongs to the store when this
  // succeeds.
  static Result<std::unique_ptr<ConfigStore>> open(const symm_bootstrap_config& config);
  // Tells the other PEs of the job why this PE cannot take part, within a few seconds.
  static void refuse(const symm_bootstrap_config& config, const std::string& why);
  // Like close().
  ~ConfigStore();

  Status barrier(const std::string& what);
  Status allgather(const std::string& what, std::string_view in, void* out);
  Status global_exit(int status);
  std::string info() const;
  void tls_status(symm_tls_status& out) const;
  Status job_key(net::Key& out) const;
  // Says goodbye; PE 0 then waits until all others have done so, within a limit.
  void close();
  // The others were waited for already: close() does not do it again.
  void hurry() { hurry_ = true; }
  // In a child of fork: takes no lock.
  void in_forked_child();
  // In a child of fork the handle is only a memory image: it must be dropped, not closed.
  bool is_foreign_process() const;

 private:
  struct Target {
    net::Address address;
    std::optional<UniqueId> unique_id;
    store::Hello hello;
  };
  explicit ConfigStore(const symm_bootstrap_config& config);
  Status start();
  static Result<Target> find_target(const symm_bootstrap_config& config);
  Status find_keys(std::string_view unique_id_secret);
  Result<net::Listeners> find_listeners(Deadline deadline);
  Status busy_port(Status failure);
  Status check_maker() const;
  store::Session::Options session_options() const;
  Status start_server(Deadline deadline, const std::string& trouble);
  Result<std::unique_ptr<store::Server>> start_listening(const store::Session::Options& session,
                                                         Deadline deadline);
  Status hold_port(Deadline deadline);
  void stop_server(std::chrono::milliseconds limit);
  Status connect(Deadline deadline);
  void report_tls_conflict(store::TlsConflict conflict);
  void send_trouble(const store::ConnectOptions& options) const;
  store::ConnectOptions connect_options(double timeout_s) const;
  void on_event(store::Client::Event event, int value, const std::string& text) const;
  Status check_process() const;
  std::chrono::milliseconds operation_limit() const;
  // How long PE 0 keeps the store for those that have not said goodbye.
  std::chrono::milliseconds close_limit() const;

  const symm_bootstrap_config config_;  // its pointers are used only during open
  const pid_t pid_;
  const uint64_t token_;  // tells this PE's attempts from another process with the same number
  Target target_;
  Security security_;
  net::Listeners held_;  // of a job of one PE: the port is taken, nobody is served
  net::Key key_{};
  bool hurry_ = false;
  std::shared_ptr<store::OpenFds> member_fds_;
  std::shared_ptr<store::OpenFds> listening_fds_;
  std::shared_ptr<store::Server> server_;  // shared with other instances at the same address
  std::unique_ptr<store::Client> client_;
};

}  // namespace symm::bootstrap
