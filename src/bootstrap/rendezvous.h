// Rendezvous: moves a job from one bootstrap (MPI, PMIx, PMI) to the config store. PE 0 makes a
// unique id, the first bootstrap carries it to all PEs, and everybody opens the store with it.
// Threads: the caller's.
#pragma once

#include <functional>

#include "base/status.h"
#include "bootstrap/plugin_abi.h"

namespace symm::bootstrap {

// Collective: `out` receives the bytes of all PEs in PE order.
using Exchange = std::function<Status(const void* in, size_t bytes, void* out)>;

// Collective over the exchange. Opens `store` in unique-id mode with pe, n_pes, time limits, TLS
// and events of `config`; mode, address, comm_args and listen_fd of it are not used. Returns the
// handle of the store, which the caller closes. A failure of PE 0 reaches all PEs.
Result<void*> open_store_through(const Exchange& exchange, const symm_bootstrap_table& store,
                                 const symm_bootstrap_config& config);

}  // namespace symm::bootstrap
