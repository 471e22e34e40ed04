// Start, end, instances, information.
#include "host/init/shmem_host_init.h"

#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "base/config.h"
#include "base/log.h"
#include "base/version.h"
#include "capi/bootstrap_choice.h"
#include "capi/edge.h"
#include "capi/globals.h"
#include "capi/instance_port.h"

namespace symm::capi {
namespace {

Status check_new(const aclshmemx_init_attr_t& attributes) {
  const Instance* live = find_instance(attributes.instance_id);
  if (live == nullptr) return {};
  std::string differences;
  auto compare = [&](const char* name, auto running, auto wanted, auto unset) {
    if (running == wanted || wanted == unset) return;
    differences += fmt::format("{}{} {} there, {} now", differences.empty() ? " (" : ", ", name,
                               running, wanted);
  };
  compare("my_pe", live->pe(), attributes.my_pe, -1);
  compare("n_pes", live->n_pes(), attributes.n_pes, 0);
  compare("local_mem_size", live->options().heap_bytes, attributes.local_mem_size, uint64_t{0});
  if (!differences.empty()) differences += ")";
  return SYMM_ERROR(kInternal,
                    "instance {} is already initialised{}; it runs on unchanged: finalize it first "
                    "or take another instance_id",
                    attributes.instance_id, differences);
}

// What is wrong with this PE alone ends init on all: they would wait for it.
void refuse_to_others(uint32_t flags, const aclshmemx_init_attr_t& attributes, const Status& why) {
  InstanceOptions options;
  options.pe = attributes.my_pe;
  options.n_pes = attributes.n_pes;
  options.comm_args = attributes.comm_args;
  options.id = attributes.instance_id;
  if (attributes.option_attr.sockFd > 0) options.listen_fd = attributes.option_attr.sockFd;
  Status chosen = choose_bootstrap(flags, attributes, options);
  if (chosen.ok()) Instance::refuse(options, why);
}

Status open_with(const InstanceOptions& options) {
  SYMM_ASSIGN(std::unique_ptr<Instance> instance, Instance::open(options));
  add_instance(std::move(instance));
  publish_globals(current());
  return {};
}

// Unique-id mode wins when several flags are given.
bool numbers_from_mpi(uint32_t flags) {
  return (flags & ACLSHMEMX_INIT_WITH_MPI) != 0 && (flags & ACLSHMEMX_INIT_WITH_UNIQUEID) == 0;
}

Status open_instance(uint32_t flags, aclshmemx_init_attr_t* attributes) {
  if (attributes == nullptr) return SYMM_ERROR(kInvalidParam, "the attributes are null");
  SYMM_TRY(check_new(*attributes));
  SYMM_TRY(place_instance(flags, *attributes));
  const Numbers numbers =
      numbers_from_mpi(flags) ? Numbers::kFromBootstrap : Numbers::kFromAttributes;
  auto checked = options_from(*attributes, numbers);
  if (!checked.ok()) {
    refuse_to_others(flags, *attributes, checked.status());
    return std::move(checked.status());
  }
  InstanceOptions options = std::move(checked.value());
  SYMM_TRY(choose_bootstrap(flags, *attributes, options));
  return open_with(options);
}

// The form of the design article. Attributes that name a job count as they do in default mode.
Status open_without_flags(aclshmemx_init_attr_t* attributes, int flags, const void* reserved) {
  if (flags != 0 || reserved != nullptr) {
    return SYMM_ERROR(kInvalidParam, "the second argument is {} and the third {}, both must be 0",
                      flags, fmt::ptr(reserved));
  }
  if (attributes != nullptr && names_a_job(*attributes)) {
    return open_instance(ACLSHMEMX_INIT_WITH_DEFAULT, attributes);
  }
  const aclshmemx_init_attr_t given = attributes != nullptr ? *attributes : aclshmemx_init_attr_t{};
  SYMM_TRY(check_new(given));
  bootstrap::LaunchStart start;
  SYMM_ASSIGN(const InstanceOptions options, options_from_launcher(given, start));
  return open_with(options);
}

Status close_instance(uint64_t id) {
  std::unique_ptr<Instance> instance = remove_instance(id);
  if (!instance) return SYMM_ERROR(kInternal, "there is no instance {}", id);
  Status status = instance->close();
  instance.reset();
  publish_globals(current());
  return status;
}

// Log level at the start of init and of the making of unique ids, unless the environment says
// otherwise.
void quiet_log() { (void)log::set_level(static_cast<int>(log::Level::kError)); }

void copy_text(std::string_view from, char* to, size_t size) {
  if (to == nullptr || size == 0) return;
  const size_t count = std::min(from.size(), size - 1);
  std::memcpy(to, from.data(), count);
  to[count] = '\0';
}

void copy_tls_status(const symm_tls_status& from, aclshmemx_tls_status_t& to) {
  to.enabled = from.enabled != 0;
  copy_text(from.version, to.version, sizeof(to.version));
  copy_text(from.cipher, to.cipher, sizeof(to.cipher));
  copy_text(from.key_kind, to.key_kind, sizeof(to.key_kind));
  copy_text(from.source, to.source, sizeof(to.source));
  copy_text(from.peer, to.peer, sizeof(to.peer));
  to.certificate_expires = from.certificate_expires;
}

}  // namespace
}  // namespace symm::capi

using namespace symm;

int aclshmemx_init_status(void) {
  Instance* instance = current();
  return instance != nullptr ? instance->status() : ACLSHMEM_STATUS_NOT_INITIALIZED;
}

int aclshmemx_get_uniqueid(aclshmemx_uniqueid_t* uid) {
  capi::quiet_log();
  return capi::without_instance("aclshmemx_get_uniqueid",
                                [&] { return capi::make_unique_id(uid); });
}

int aclshmemx_set_attr_uniqueid_args(int my_pe, int n_pes, int64_t local_mem_size,
                                     aclshmemx_uniqueid_t* uid,
                                     aclshmemx_init_attr_t* aclshmem_attr) {
  return capi::without_instance("aclshmemx_set_attr_uniqueid_args", [&]() -> Status {
    if (aclshmem_attr == nullptr) return SYMM_ERROR(kInvalidParam, "the attributes are null");
    const auto bytes = static_cast<uint64_t>(local_mem_size);
    if (bytes > ACLSHMEM_MAX_LOCAL_SIZE || n_pes > ACLSHMEM_MAX_PES || my_pe >= ACLSHMEM_MAX_PES) {
      return SYMM_ERROR(kInvalidValue, "my_pe {}, n_pes {} or local_mem_size {} is out of range",
                        my_pe, n_pes, local_mem_size);
    }
    aclshmem_attr->my_pe = my_pe;
    aclshmem_attr->n_pes = n_pes;
    aclshmem_attr->local_mem_size = bytes;
    aclshmem_attr->comm_args = uid;
    return {};
  });
}

int aclshmemx_init_attr(aclshmemx_bootstrap_t bootstrap_flags, aclshmemx_init_attr_t* attributes) {
  capi::quiet_log();
  return capi::without_instance("aclshmemx_init_attr", [&] {
    return capi::open_instance(bootstrap_flags, attributes).with_context("init");
  });
}

int32_t aclshmemx_init_attr(aclshmemx_init_attr_t* attributes, int flags, void* reserved) {
  capi::quiet_log();
  return capi::without_instance("aclshmemx_init_attr", [&] {
    return capi::open_without_flags(attributes, flags, reserved).with_context("init");
  });
}

int aclshmem_finalize(void) {
  Instance* instance = current();
  if (instance == nullptr) return ACLSHMEM_SUCCESS;
  return aclshmemx_finalize(instance->id());
}

int aclshmemx_finalize(uint64_t instance_id) {
  return capi::without_instance("aclshmemx_finalize",
                                [&] { return capi::close_instance(instance_id); });
}

void aclshmem_info_get_version(int* major, int* minor) {
  if (major == nullptr || minor == nullptr) return;
  *major = kApiMajor;
  *minor = kApiMinor;
}

void aclshmem_info_get_name(char* name) {
  if (name != nullptr) std::snprintf(name, ACLSHMEM_MAX_NAME_LEN, "%s", kApiName);
}

int32_t aclshmemx_set_conf_store_tls(bool enable, const char* tls_info,
                                     const uint32_t tls_info_len) {
  return capi::without_instance("aclshmemx_set_conf_store_tls", [&]() -> Status {
    if (current() != nullptr) {
      return SYMM_ERROR(kInternal, "TLS cannot be changed after init; the setting has no effect");
    }
    if (!enable) SYMM_LOG(kWarn, "security: TLS of the control plane is switched off");
    return capi::set_tls(enable, tls_info, tls_info_len);
  });
}

int32_t aclshmemx_set_config_store_tls_key(const char* tls_pk, const uint32_t tls_pk_len,
                                           const char* tls_pk_pw, const uint32_t tls_pk_pw_len,
                                           const aclshmem_decrypt_handler decrypt_handler) {
  return capi::without_instance("aclshmemx_set_config_store_tls_key", [&]() -> Status {
    if (current() != nullptr) {
      return SYMM_ERROR(kInternal, "the key of TLS cannot be set after init; it has no effect");
    }
    return capi::set_tls_key(tls_pk, tls_pk_len, tls_pk_pw, tls_pk_pw_len, decrypt_handler);
  });
}

void aclshmem_global_exit(int status) {
  Instance* instance = current();
  if (instance == nullptr) {
    SYMM_LOG(kWarn, "aclshmem_global_exit({}) before init reaches no other PE", status);
    return;
  }
  Status told = instance->global_exit(status);
  if (!told.ok()) capi::fail(instance, told);
  instance->end_process(status);
}

aclshmem_instance_ctx* aclshmemx_instance_ctx_get(void) {
  thread_local aclshmem_instance_ctx context;
  Instance* instance = current();
  context = {instance != nullptr ? instance->id() : 0, instance};
  return &context;
}

int aclshmemx_instance_ctx_set(uint64_t instance_id) {
  return capi::without_instance("aclshmemx_instance_ctx_set", [&]() -> Status {
    SYMM_TRY(select_for_process(instance_id));
    capi::publish_globals(current());
    return {};
  });
}

int aclshmemx_instance_ctx_set_thread(uint64_t instance_id) {
  return capi::without_instance("aclshmemx_instance_ctx_set_thread",
                                [&] { return select_for_thread(instance_id); });
}

void aclshmemx_instance_ctx_clear_thread(void) { select_nothing_for_thread(); }

int aclshmemx_last_error(char* text, size_t size, bool clear) {
  Instance* instance = current();
  if (instance == nullptr) return ACLSHMEM_NOT_INITED;
  const Status first = instance->health().first_error();
  capi::copy_text(first.ok() ? "" : first.to_string(), text, size);
  if (clear) instance->health().clear_error();
  return capi::code_of(first);
}

int aclshmemx_control_plane_info(char* text, size_t size) {
  return capi::with_instance("aclshmemx_control_plane_info", [&](Instance& instance) -> Status {
    capi::copy_text(instance.control().info(), text, size);
    return {};
  });
}

int aclshmemx_get_conf_store_tls_status(aclshmemx_tls_status_t* status) {
  return capi::with_instance(
      "aclshmemx_get_conf_store_tls_status", [&](Instance& instance) -> Status {
        if (status == nullptr) return SYMM_ERROR(kInvalidParam, "the status is a null pointer");
        SYMM_ASSIGN(const symm_tls_status found, instance.control().tls_status());
        capi::copy_tls_status(found, *status);
        return {};
      });
}

int aclshmemi_control_barrier_all(void) {
  return capi::with_instance("aclshmemi_control_barrier_all", [](Instance& instance) {
    return instance.control().barrier("aclshmemi_control_barrier_all");
  });
}
