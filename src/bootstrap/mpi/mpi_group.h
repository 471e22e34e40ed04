// MpiGroup: one handle of the MPI plug-in, a private duplicate of the user's communicator. Every
// step exchanges one small row first, so that all PEs see the same differences and nobody runs into
// a collective that the others did not mean. When the program finalizes MPI while the handle is
// open, the job moves to the config store, so the two may end in any order.
// Threads: one at a time; abort() from any.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "base/status.h"
#include "bootstrap/mpi/mpi_wait.h"
#include "bootstrap/plugin_abi.h"

namespace symm::bootstrap {

class MpiGroup {
 public:
  // Collective over the communicator in config.comm_args (MPI_Comm*, null is the world). Sets
  // config.pe and config.n_pes; when both were given (n_pes > 0, pe >= 0) and differ from rank and
  // size on any PE, fails on all with the table of differences.
  static Result<std::unique_ptr<MpiGroup>> open(symm_bootstrap_config& config);
  // Takes part in the comparison with a reason why this PE cannot, which all get, if MPI runs.
  static Status refuse(const symm_bootstrap_config& config, const char* why);
  ~MpiGroup();
  MpiGroup(const MpiGroup&) = delete;
  MpiGroup& operator=(const MpiGroup&) = delete;

  Status allgather(const void* in, size_t bytes, void* out, const char* what);
  Status barrier(const char* what);
  // Ends all processes of MPI_COMM_WORLD; does not return while MPI is alive.
  Status abort(int status);
  std::string info();
  Status job_key(uint8_t key[32]) const;
  // For the store that has taken over, if one has.
  void hurry();
  void in_forked_child();

 private:
  // The store that takes over at MPI_Finalize.
  struct Successor {
    const symm_bootstrap_table* table;
    void* handle;
  };

  explicit MpiGroup(const symm_bootstrap_config& config);
  Status connect(symm_bootstrap_config& config);
  Status duplicate(MPI_Comm from);
  Status compare_claims(const symm_bootstrap_config& config);
  Status hook_finalize();
  void unhook();
  static int on_finalize(MPI_Comm comm, int keyval, void* value, void* extra);
  Status hand_over();
  Status begin_step(uint32_t kind, const char* what, size_t bytes);
  Status gather(const void* in, size_t bytes, void* out, const char* what);
  MpiWait wait_on(MPI_Comm comm, int tag, double limit_s, const char* what) const;

  MPI_Comm comm_ = MPI_COMM_NULL;
  int keyval_ = MPI_KEYVAL_INVALID;
  bool acquired_ = false;
  bool closing_ = false;
  std::string trouble_;  // why this PE cannot take part
  std::string broken_;   // why no step can be made any more
  int pe_ = 0;
  int n_pes_ = 1;
  uint64_t steps_ = 0;
  uint8_t key_[32] = {};
  symm_bootstrap_config config_;  // time limits, events and TLS for the successor
  std::string tls_texts_[3];      // what the pointers of config_.tls point to
  std::optional<Successor> successor_;
};

}  // namespace symm::bootstrap
