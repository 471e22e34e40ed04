// LaunchStart: how this PE starts when the program gives no attributes. The numbers come from the
// launcher; the address too, or it is exchanged as a unique id over the launcher's PMI or PMIx, and
// from then on the config store carries everything. Threads: the caller's.
#pragma once

#include <string>

#include "base/status.h"
#include "bootstrap/launch_env.h"
#include "bootstrap/rendezvous.h"

namespace symm::bootstrap {

struct LaunchStart {
  int pe = 0;
  int n_pes = 1;
  uint32_t mode = kDefaultMode;  // or kUniqueIdMode
  std::string address;           // kDefaultMode
  UniqueIdBytes unique_id = {};  // kUniqueIdMode
  std::string source;            // for people
  // What to tell the launcher when a global exit ends the process, or null. Any thread.
  void (*before_exit)(int status) = nullptr;
};

// Collective over the PEs of the launcher when env has no address and more than one PE; a failure
// of PE 0 reaches all. `store` is the table of the config store. kInvalidValue when the plug-in
// for the launcher cannot be loaded, kSmem when PEs are missing for longer than limit_s.
Result<LaunchStart> start_from_launcher(const LaunchEnv& env, const symm_bootstrap_table& store,
                                        const symm_tls_options& tls, double limit_s);

}  // namespace symm::bootstrap
