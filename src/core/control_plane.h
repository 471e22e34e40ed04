// ControlPlane: one open bootstrap, in C++ clothes. All steps are collective and carry a name for
// messages. Threads: one at a time (guarded inside), global_exit any time. Closing says goodbye to
// the other PEs.
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <type_traits>
#include <vector>

#include "base/status.h"
#include "bootstrap/plugin_abi.h"
#include "os/sha256.h"

namespace symm {

class ControlPlane {
 public:
  // Collective. config.pe and config.n_pes may be changed by the plug-in.
  static Result<std::unique_ptr<ControlPlane>> open(const symm_bootstrap_table* table,
                                                    symm_bootstrap_config& config);
  ~ControlPlane() { close(); }
  ControlPlane(const ControlPlane&) = delete;
  ControlPlane& operator=(const ControlPlane&) = delete;

  Status allgather(const void* in, size_t bytes, void* out, const char* what);
  template <typename T>
  Result<std::vector<T>> allgather(const T& mine, const char* what) {
    static_assert(std::is_trivially_copyable_v<T>);
    std::vector<T> all(static_cast<size_t>(n_pes_));
    SYMM_TRY(allgather(&mine, sizeof(T), all.data(), what));
    return all;
  }
  Status barrier(const char* what);
  // Collective: fails on every PE when it failed on any, naming the first and its reason.
  Status agree(Status mine, const char* what);
  Status global_exit(int status);
  std::string info();
  // kNotSupported when the bootstrap has no TLS of its own.
  Result<symm_tls_status> tls_status();
  Result<os::Digest> job_key();
  // Not collective: tells the other PEs of the job that this one cannot take part, as far as they
  // can be reached within a few seconds.
  static void refuse(const symm_bootstrap_table* table, const symm_bootstrap_config& config,
                     const Status& why);
  // close() will not wait for the others: they were waited for already.
  void hurry();
  // In a child of fork, where the mutex may be held by a thread that is not there.
  void in_forked_child();
  // Idempotent. No event arrives after it.
  void close();

 private:
  Status is_open(const char* what) const;
  ControlPlane(const symm_bootstrap_table* table, void* handle, int n_pes)
      : table_(table), handle_(handle), n_pes_(n_pes) {}
  const symm_bootstrap_table* table_;
  void* handle_;
  int n_pes_;
  std::mutex mutex_;
};

}  // namespace symm
