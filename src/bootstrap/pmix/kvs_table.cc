#include "bootstrap/pmix/kvs_table.h"

#include <memory>

#include "bootstrap/edge.h"
#include "bootstrap/pmix/kvs_group.h"

namespace symm::bootstrap {
namespace {

KvsGroup& group_of(void* handle) { return *static_cast<KvsGroup*>(handle); }

int kvs_allgather(void* handle, const void* in, size_t bytes, void* out, const char* what,
                  char* error, size_t error_size) {
  return at_edge(error, error_size,
                 [&] { return group_of(handle).allgather(in, bytes, out, what); });
}

int kvs_barrier(void* handle, const char* what, char* error, size_t error_size) {
  return at_edge(error, error_size, [&] { return group_of(handle).barrier(what); });
}

int kvs_global_exit(void* handle, int status, char* error, size_t error_size) {
  return at_edge(error, error_size, [&] { return group_of(handle).abort(status); });
}

void kvs_info(void* handle, char* text, size_t size) {
  at_edge(text, size, [&]() -> Status {
    copy_text(group_of(handle).info(), text, size);
    return {};
  });
}

int kvs_job_key(void* handle, uint8_t key[32], char* error, size_t error_size) {
  return at_edge(error, error_size, [&] { return group_of(handle).job_key(key); });
}

void kvs_close(void* handle) { std::unique_ptr<KvsGroup> group(&group_of(handle)); }

}  // namespace

symm_bootstrap_table kvs_table(const char* name, KvsOpen open) {
  return {SYMM_BOOTSTRAP_ABI,
          sizeof(symm_bootstrap_table),
          name,
          nullptr,
          open,
          kvs_allgather,
          kvs_barrier,
          kvs_global_exit,
          kvs_info,
          nullptr,
          kvs_job_key,
          kvs_close,
          nullptr,
          nullptr,
          nullptr};
}

}  // namespace symm::bootstrap
