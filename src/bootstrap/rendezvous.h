// Rendezvous: moves a job from one bootstrap (MPI, PMIx, PMI) to the config store. PE 0 makes a
// unique id, the first bootstrap carries it to all PEs, and everybody opens the store with it.
// Threads: the caller's.
#pragma once

#include <array>
#include <cstdint>
#include <functional>

#include "base/status.h"
#include "bootstrap/plugin_abi.h"

namespace symm::bootstrap {

// The public header that defines these belongs to the layers above.
inline constexpr uint32_t kDefaultMode = 1U << 0;
inline constexpr uint32_t kUniqueIdMode = 1U << 3;
using UniqueIdBytes = std::array<uint8_t, 136>;

// Collective: `out` receives the bytes of all PEs in PE order.
using Exchange = std::function<Status(const void* in, size_t bytes, void* out)>;

// PE 0 makes a unique id of `store`, all get its bytes. Collective over the exchange; a failure of
// PE 0 reaches all PEs. The id holds a listening socket of PE 0, so it must be opened there.
Result<UniqueIdBytes> share_unique_id(const Exchange& exchange, const symm_bootstrap_table& store,
                                      const symm_tls_options& tls, int pe, int n_pes);

// share_unique_id, then opens `store` with it: pe, n_pes, time limits, TLS and events are those of
// `config`; mode, address, comm_args and listen_fd of it are not used. Returns the handle of the
// store, which the caller closes.
Result<void*> open_store_through(const Exchange& exchange, const symm_bootstrap_table& store,
                                 const symm_bootstrap_config& config);

}  // namespace symm::bootstrap
