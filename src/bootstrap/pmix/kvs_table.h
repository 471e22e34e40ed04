// The entries of a bootstrap table whose handle is a KvsGroup; a plug-in adds its own open.
#pragma once

#include "bootstrap/plugin_abi.h"

namespace symm::bootstrap {

using KvsOpen = int (*)(symm_bootstrap_config*, void**, char*, size_t);

symm_bootstrap_table kvs_table(const char* name, KvsOpen open);

}  // namespace symm::bootstrap
