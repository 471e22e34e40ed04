// Which bootstrap an init uses, and the TLS settings made before it.
#pragma once

#include <cstdint>

#include "base/status.h"
#include "bootstrap/launch_start.h"
#include "core/options.h"

namespace symm::capi {

// Completes the options for the flags: mode, plug-in, address, TLS. kInvalidParam for unknown flags
// or a missing address, kInvalidValue when the plug-in cannot be loaded.
Status choose_bootstrap(uint32_t flags, const aclshmemx_init_attr_t& attributes,
                        InstanceOptions& options);

// Whether the attributes say anything about PEs and addresses.
bool names_a_job(const aclshmemx_init_attr_t& attributes);

// Completes attributes that name no job from what the launcher says (own names first, then PMI,
// PMIx, torchrun, Open MPI, Slurm; one PE when there is none), and makes options of them. The
// options may point to start.
Result<InstanceOptions> options_from_launcher(const aclshmemx_init_attr_t& attributes,
                                              bootstrap::LaunchStart& start);

// Makes a unique id through the plug-in.
Status make_unique_id(aclshmemx_uniqueid_t* id);

// The settings of aclshmemx_set_conf_store_tls and aclshmemx_set_config_store_tls_key.
Status set_tls(bool enable, const char* info, uint32_t length);
Status set_tls_key(const char* key, uint32_t key_length, const char* password,
                   uint32_t password_length, aclshmem_decrypt_handler decrypt);

}  // namespace symm::capi
