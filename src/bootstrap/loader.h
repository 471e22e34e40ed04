// Finds and loads a bootstrap plug-in by file name. Plug-ins stay loaded until the process ends:
// their threads and tables may outlive any single instance. Threads: any.
#pragma once

#include <string_view>

#include "base/status.h"
#include "bootstrap/plugin_abi.h"

namespace symm::bootstrap {

inline constexpr const char* kConfigStorePlugin = "aclshmem_bootstrap_config_store.so";
inline constexpr const char* kMpiPlugin = "aclshmem_bootstrap_mpi.so";
inline constexpr const char* kPmiPlugin = "aclshmem_bootstrap_pmi.so";
inline constexpr const char* kPmixPlugin = "aclshmem_bootstrap_pmix.so";

// Looks beside libshmem.so, then beside libshmem_utils.so, then where the dynamic loader looks
// (LD_LIBRARY_PATH); a name with a slash is taken as it is. kInvalidValue when it cannot be loaded,
// kInternal when the symbol is missing or the table has another ABI number; the text names the
// files tried. The table belongs to the plug-in.
Result<const symm_bootstrap_table*> load_plugin(std::string_view file);

}  // namespace symm::bootstrap
