// Which bootstrap an init uses, and the TLS settings made before it.
#pragma once

#include <cstdint>

#include "base/status.h"
#include "core/options.h"

namespace symm::capi {

// Completes the options for the flags: mode, plug-in, address, TLS. kInvalidParam for unknown flags
// or a missing address, kInvalidValue when the plug-in cannot be loaded.
Status choose_bootstrap(uint32_t flags, const aclshmemx_init_attr_t& attributes,
                        InstanceOptions& options);

// Makes a unique id through the plug-in.
Status make_unique_id(aclshmemx_uniqueid_t* id);

// The settings of aclshmemx_set_conf_store_tls and aclshmemx_set_config_store_tls_key.
Status set_tls(bool enable, const char* info, uint32_t length);
Status set_tls_key(const char* key, uint32_t key_length, const char* password,
                   uint32_t password_length, aclshmem_decrypt_handler decrypt);

}  // namespace symm::capi
