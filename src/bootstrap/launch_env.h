// LaunchEnv: what the launcher of this process says about the job, read from environment variables.
// A pure function over a getter: no I/O, no state, any thread. Sources in this order, the first one
// that is there decides; a source that is there but cannot be used is an error, never a job of one:
//   1. own names      SHMEM_PE, SHMEM_NPES, SHMEM_BOOTSTRAP (shmem-run)
//   2. PMI-1 by wire  PMI_FD, PMI_RANK, PMI_SIZE (MPICH hydra, srun --mpi=pmi2)
//   3. PMIx           PMIX_RANK, PMIX_NAMESPACE, PMIX_SERVER_URI* (mpirun, srun --mpi=pmix)
//   4. bare numbers   torchrun, Open MPI, PMI, Slurm; these need an address of PE 0
// Workers of torchrun (TORCHELASTIC_RUN_ID) skip 2 and 3: what they inherit there belongs to the
// launcher that started torchrun. With SHMEM_BOOTSTRAP set, 2 and 3 are not needed and skipped.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "base/status.h"

namespace symm::bootstrap {

enum class LaunchKind {
  kNone,  // nothing set: one PE
  kOwn,   // address given, or one PE
  kPmi1,  // exchange the address over PMI_FD
  kPmix,  // exchange the address over PMIx
  kBare,  // address given or derived, or one PE
};

struct LaunchEnv {
  LaunchKind kind = LaunchKind::kNone;
  int pe = 0;
  int n_pes = 1;        // 0 with kPmix when only the PMIx server knows
  int local_pes = 0;    // PEs on this host; 0 is unknown
  std::string address;  // tcp://host:port or tcp6://[host]:port; empty when it must be exchanged
  std::string source;   // for people: "shmem-run", "torchrun", ...
};

using GetVariable = std::function<std::optional<std::string>(const char* name)>;

// kInvalidValue: a number that does not parse or is out of range, rank not below size.
// kBootstrap: half of the variables, or more than one PE and no way to reach PE 0.
Result<LaunchEnv> detect_launch_env(const GetVariable& get);

// The same over the environment of this process.
Result<LaunchEnv> detect_launch_env();

// The address of PE 0 where only a host (name, IPv4 or IPv6 literal) is known.
std::string launch_address(const std::string& host, int port);

// The port that stands for `seed` when the launcher does not reserve one for us. torchrun's
// MASTER_PORT is held by torch's own store, so ours is another: 10240 + seed % 16384. It never
// equals the seed, neighbouring seeds differ, and it stays below the ports that the kernel hands
// out by itself (32768 and up).
int derived_port(uint64_t seed);

// The first host of a Slurm node list: "node[03-07,9],x" is "node03".
std::string first_slurm_host(const std::string& list);

}  // namespace symm::bootstrap
