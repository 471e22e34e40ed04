#include "capi/bootstrap_choice.h"

#include <cstring>
#include <mutex>
#include <string>
#include <string_view>

#include "base/config.h"
#include "bootstrap/loader.h"
#include "core/instance.h"

namespace symm::capi {
namespace {

constexpr uint32_t kMaxTlsText = 10 * 1024;

// What the setters were told; copied, so that the caller's strings may go.
struct TlsSettings {
  std::mutex mutex;
  bool chosen = false;
  bool enabled = true;
  std::string info;
  std::string key;
  std::string password;
  aclshmem_decrypt_handler decrypt = nullptr;
};

TlsSettings& settings() {
  static auto* one = new TlsSettings;
  return *one;
}

const char* or_null(const std::string& text) { return text.empty() ? nullptr : text.c_str(); }

// The strings stay with the settings, which live as long as the process.
symm_tls_options tls_options() {
  TlsSettings& all = settings();
  std::lock_guard lock(all.mutex);
  symm_tls_options tls{};
  tls.chosen_by_user = all.chosen ? 1 : 0;
  tls.enabled = (all.chosen ? all.enabled : config::flag("SHMEM_TLS")) ? 1 : 0;
  tls.info = or_null(all.info);
  tls.private_key = or_null(all.key);
  tls.key_password = or_null(all.password);
  tls.decrypt = reinterpret_cast<void*>(all.decrypt);
  return tls;
}

Status take_text(const char* text, uint32_t length, const char* what, std::string& out) {
  if (length > kMaxTlsText) {
    return SYMM_ERROR(kInvalidParam, "{} of {} bytes exceeds {}", what, length, kMaxTlsText);
  }
  if (text == nullptr && length > 0) {
    return SYMM_ERROR(kInvalidParam, "{}: length {} without a text", what, length);
  }
  // A length that counts the final NUL is common.
  out.assign(text == nullptr ? "" : text, text == nullptr ? 0 : ::strnlen(text, length));
  return {};
}

bool usable_address(std::string_view address) {
  return address.starts_with("tcp://") || address.starts_with("tcp6://");
}

bool holds_unique_id(const void* comm_args) {
  return comm_args != nullptr &&
         static_cast<const aclshmemx_uniqueid_t*>(comm_args)->version == ACLSHMEM_UNIQUEID_VERSION;
}

// Tells the PEs of the launcher why this one does not come, if the launcher says where they meet.
void refuse_to_launched(uint64_t id, const Status& why) {
  auto plugin = bootstrap::load_plugin(bootstrap::kConfigStorePlugin);
  auto env = bootstrap::detect_launch_env();
  if (!plugin.ok() || !env.ok() || env.value().address.empty()) return;
  InstanceOptions options;
  options.bootstrap = plugin.value();
  options.pe = env.value().pe;
  options.n_pes = env.value().n_pes;
  options.address = env.value().address;
  options.id = id;
  options.tls = tls_options();
  Instance::refuse(options, why);
}

}  // namespace

Status choose_bootstrap(uint32_t flags, const aclshmemx_init_attr_t& attributes,
                        InstanceOptions& options) {
  options.tls = tls_options();
  const char* plugin = bootstrap::kConfigStorePlugin;
  const std::string address(attributes.ip_port,
                            ::strnlen(attributes.ip_port, sizeof(attributes.ip_port)));
  if ((flags & ACLSHMEMX_INIT_WITH_UNIQUEID) != 0) {
    options.mode = ACLSHMEMX_INIT_WITH_UNIQUEID;
    if (!holds_unique_id(attributes.comm_args)) {
      return SYMM_ERROR(kInvalidParam,
                        "comm_args is not a unique id: make one with "
                        "aclshmemx_get_uniqueid and give its bytes to all PEs");
    }
  } else if ((flags & ACLSHMEMX_INIT_WITH_MPI) != 0) {
    options.mode = ACLSHMEMX_INIT_WITH_MPI;
    plugin = bootstrap::kMpiPlugin;
  } else if ((flags & ACLSHMEMX_INIT_WITH_DEFAULT) != 0) {
    options.mode = ACLSHMEMX_INIT_WITH_DEFAULT;
    if (usable_address(address)) {
      options.address = address;
      // Not read in this mode; examples pass a pointer that is no longer valid.
      options.comm_args = nullptr;
    } else if (address.empty() && holds_unique_id(attributes.comm_args)) {
      options.mode = ACLSHMEMX_INIT_WITH_UNIQUEID;
    } else {
      return SYMM_ERROR(kInvalidParam, "ip_port '{}' is not tcp://host:port or tcp6://[host]:port",
                        address);
    }
  } else {
    return SYMM_ERROR(kInvalidParam, "bootstrap flags {:#x} name no way to start", flags);
  }
  if (options.mode == ACLSHMEMX_INIT_WITH_UNIQUEID) {
    options.connect_timeout_s = DEFAULT_TIMEOUT;
    options.operation_timeout_s = DEFAULT_TIMEOUT;
  }
  SYMM_ASSIGN(options.bootstrap, bootstrap::load_plugin(plugin));
  return {};
}

bool names_a_job(const aclshmemx_init_attr_t& attributes) {
  return attributes.n_pes > 0 || attributes.my_pe > 0 || attributes.ip_port[0] != '\0' ||
         attributes.comm_args != nullptr;
}

Result<InstanceOptions> options_from_launcher(const aclshmemx_init_attr_t& attributes,
                                              bootstrap::LaunchStart& start) {
  SYMM_TRY(config::check_environment());
  aclshmemx_init_attr_t complete = attributes;
  if (complete.local_mem_size == 0) {
    const uint64_t size = config::size("SHMEM_SYMMETRIC_SIZE");
    complete.local_mem_size = (size + ACLSHMEM_PAGE_SIZE - 1) / ACLSHMEM_PAGE_SIZE *
                              static_cast<uint64_t>(ACLSHMEM_PAGE_SIZE);
  }
  // Everything that can be wrong with this PE alone, before the others are met.
  auto checked = options_from(complete, Numbers::kFromBootstrap);
  if (!checked.ok()) {
    refuse_to_launched(attributes.instance_id, checked.status());
    return std::move(checked.status());
  }
  InstanceOptions options = std::move(checked.value());
  options.tls = tls_options();
  SYMM_ASSIGN(options.bootstrap, bootstrap::load_plugin(bootstrap::kConfigStorePlugin));
  SYMM_ASSIGN(const bootstrap::LaunchEnv env, bootstrap::detect_launch_env());
  SYMM_ASSIGN(start, bootstrap::start_from_launcher(env, *options.bootstrap, options.tls,
                                                    options.connect_timeout_s));
  options.pe = start.pe;
  options.n_pes = start.n_pes;
  options.mode = start.mode;
  options.address = start.address;
  options.before_exit = start.before_exit;
  if (start.mode == bootstrap::kUniqueIdMode) options.comm_args = start.unique_id.data();
  return options;
}

Status make_unique_id(aclshmemx_uniqueid_t* id) {
  if (id == nullptr) return SYMM_ERROR(kInvalidParam, "the pointer to the unique id is null");
  SYMM_ASSIGN(const symm_bootstrap_table* table,
              bootstrap::load_plugin(bootstrap::kConfigStorePlugin));
  if (table->unique_id == nullptr) {
    return SYMM_ERROR(kNotSupported, "plug-in {} makes no unique ids", table->name);
  }
  const symm_tls_options tls = tls_options();
  char error[512] = "";
  const int code = table->unique_id(id, &tls, error, sizeof(error));
  if (code != 0) return Status(static_cast<Code>(code), error, __FILE__, __LINE__);
  return {};
}

Status set_tls(bool enable, const char* info, uint32_t length) {
  TlsSettings& all = settings();
  std::lock_guard lock(all.mutex);
  SYMM_TRY(take_text(info, length, "tls_info", all.info));
  all.chosen = true;
  all.enabled = enable;
  return {};
}

Status set_tls_key(const char* key, uint32_t key_length, const char* password,
                   uint32_t password_length, aclshmem_decrypt_handler decrypt) {
  TlsSettings& all = settings();
  std::lock_guard lock(all.mutex);
  SYMM_TRY(take_text(key, key_length, "tls_pk", all.key));
  SYMM_TRY(take_text(password, password_length, "tls_pk_pw", all.password));
  all.decrypt = decrypt;
  return {};
}

}  // namespace symm::capi
