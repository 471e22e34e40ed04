// KvsGroup: the steps of a bootstrap table over a KvsClient. Meant for the exchange of a unique id
// and for small jobs: every PE reads the values of every other PE. A launcher knows one fence for
// the whole process, so the steps of all groups must come in the same order on all PEs. Threads:
// one at a time; abort() from any.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "base/status.h"
#include "bootstrap/plugin_abi.h"
#include "bootstrap/pmix/kvs_client.h"

namespace symm::bootstrap {

class KvsGroup {
 public:
  // Collective. Sets config.pe and config.n_pes; values that were given (n_pes > 0, pe >= 0) are
  // compared with those of the launcher on every PE, and a difference fails on all. `serial`
  // counts the groups of this process, so that no two use the same keys.
  static Result<std::unique_ptr<KvsGroup>> open(std::shared_ptr<KvsClient> client, uint64_t serial,
                                                symm_bootstrap_config& config);

  Status allgather(const void* in, size_t bytes, void* out, const char* what);
  Status barrier(const char* what);
  Status abort(int status) { return client_->abort(status); }
  std::string info() const { return client_->describe(); }
  Status job_key(uint8_t key[32]) const;

 private:
  KvsGroup(std::shared_ptr<KvsClient> client, uint64_t serial, double limit_s)
      : client_(std::move(client)), serial_(serial), limit_s_(limit_s) {}
  Status compare_claims(const symm_bootstrap_config& config);
  Status step(uint32_t kind, const void* in, size_t bytes, void* out, const char* what);
  Status put_row(const std::string& row);
  Result<std::string> get_row(int pe, size_t bytes, Deadline deadline);
  std::string key(size_t part) const;

  std::shared_ptr<KvsClient> client_;
  uint64_t serial_;
  double limit_s_;
  uint64_t steps_ = 0;
  uint8_t key_[32] = {};
  std::string broken_;
};

}  // namespace symm::bootstrap
