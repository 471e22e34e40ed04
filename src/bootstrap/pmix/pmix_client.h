// PmixClient: OpenPMIx (Open MPI's mpirun, PRRTE, srun --mpi=pmix). Threads: any; PMIx runs a
// thread of its own, whose callbacks end in a shared Completion. Ownership: one reference to PMIx,
// which counts them; an MPI in the same process has its own.
#pragma once

#include <pmix.h>

#include <memory>
#include <string>

#include "bootstrap/pmix/kvs_client.h"

namespace symm::bootstrap {

class PmixClient : public KvsClient {
 public:
  static Result<std::shared_ptr<PmixClient>> open();
  ~PmixClient() override;

  int pe() const override { return static_cast<int>(self_.rank); }
  int n_pes() const override { return n_pes_; }
  size_t value_limit() const override;
  Status put(const std::string& key, const std::string& value) override;
  Status fence(Deadline deadline) override;
  Result<std::string> get(int pe, const std::string& key, Deadline deadline) override;
  std::string missing(const std::string& key) override;
  Status abort(int status) override;
  std::string describe() const override;

 private:
  PmixClient() = default;
  pmix_proc_t of(int pe) const;

  pmix_proc_t self_ = {};
  int n_pes_ = 0;
};

}  // namespace symm::bootstrap
