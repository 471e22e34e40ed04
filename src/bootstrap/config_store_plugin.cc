// The plug-in for the DEFAULT and UNIQUEID modes: the table over ConfigStore. The only symbol of
// the shared object is symm_bootstrap_plugin.

#include <cstring>
#include <string_view>

#include "bootstrap/config_store.h"
#include "bootstrap/edge.h"
#include "bootstrap/plugin_abi.h"
#include "bootstrap/unique_id.h"

namespace symm::bootstrap {
namespace {

ConfigStore& self(void* handle) { return *static_cast<ConfigStore*>(handle); }

int unique_id(void* uid, const symm_tls_options*, char* error, size_t error_size) {
  return at_edge(error, error_size, [&]() -> Status {
    if (uid == nullptr) return SYMM_ERROR(kInvalidParam, "the unique id is a null pointer");
    SYMM_ASSIGN(UniqueId id, make_unique_id());
    UniqueIdBytes bytes = encode(id);
    std::memcpy(uid, bytes.data(), bytes.size());
    return {};
  });
}

int open(symm_bootstrap_config* config, void** handle, char* error, size_t error_size) {
  return at_edge(error, error_size, [&]() -> Status {
    SYMM_ASSIGN(std::unique_ptr<ConfigStore> store, ConfigStore::open(*config));
    *handle = store.release();
    return {};
  });
}

int allgather(void* handle, const void* in, size_t bytes, void* out, const char* what, char* error,
              size_t error_size) {
  return at_edge(error, error_size, [&] {
    return self(handle).allgather(what, {static_cast<const char*>(in), bytes}, out);
  });
}

int barrier(void* handle, const char* what, char* error, size_t error_size) {
  return at_edge(error, error_size, [&] { return self(handle).barrier(what); });
}

int global_exit(void* handle, int status, char* error, size_t error_size) {
  return at_edge(error, error_size, [&] { return self(handle).global_exit(status); });
}

void info(void* handle, char* text, size_t size) { copy_text(self(handle).info(), text, size); }

void tls_status(void* handle, symm_tls_status* out) { self(handle).tls_status(*out); }

int job_key(void* handle, uint8_t key[32], char* error, size_t error_size) {
  return at_edge(error, error_size, [&]() -> Status {
    net::Key made{};
    SYMM_TRY(self(handle).job_key(made));
    std::memcpy(key, made.data(), made.size());
    return {};
  });
}

void close(void* handle) {
  // After fork the threads of the handle do not exist here and its sockets belong to the parent:
  // leave it alone.
  if (self(handle).is_foreign_process()) return;
  delete &self(handle);
}

void refuse(const symm_bootstrap_config* config, const char* why) {
  char ignored[64];  // it is the failure of telling about a failure
  at_edge(ignored, sizeof(ignored), [&]() -> Status {
    ConfigStore::refuse(*config, why);
    return {};
  });
}

void hurry(void* handle) { self(handle).hurry(); }

void forked(void* handle) { self(handle).in_forked_child(); }

constexpr symm_bootstrap_table kTable = {
    SYMM_BOOTSTRAP_ABI,
    sizeof(symm_bootstrap_table),
    "config store",
    unique_id,
    open,
    allgather,
    barrier,
    global_exit,
    info,
    tls_status,
    job_key,
    close,
    refuse,
    hurry,
    forked,
};

}  // namespace
}  // namespace symm::bootstrap

extern "C" __attribute__((visibility("default"))) const symm_bootstrap_table* symm_bootstrap_plugin(
    void) {
  return &symm::bootstrap::kTable;
}
