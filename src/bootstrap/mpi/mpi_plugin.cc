// The table of aclshmem_bootstrap_mpi.so.
#include <memory>

#include "bootstrap/edge.h"
#include "bootstrap/mpi/mpi_group.h"
#include "bootstrap/plugin_abi.h"

namespace symm::bootstrap {
namespace {

MpiGroup& group_of(void* handle) { return *static_cast<MpiGroup*>(handle); }

int mpi_open(symm_bootstrap_config* config, void** handle, char* error, size_t error_size) {
  return at_edge(error, error_size, [&]() -> Status {
    auto group = MpiGroup::open(*config);
    SYMM_TRY(std::move(group.status()));
    *handle = std::move(group).value().release();
    return {};
  });
}

int mpi_allgather(void* handle, const void* in, size_t bytes, void* out, const char* what,
                  char* error, size_t error_size) {
  return at_edge(error, error_size,
                 [&] { return group_of(handle).allgather(in, bytes, out, what); });
}

int mpi_barrier(void* handle, const char* what, char* error, size_t error_size) {
  return at_edge(error, error_size, [&] { return group_of(handle).barrier(what); });
}

int mpi_global_exit(void* handle, int status, char* error, size_t error_size) {
  return at_edge(error, error_size, [&] { return group_of(handle).abort(status); });
}

void mpi_info(void* handle, char* text, size_t size) {
  at_edge(text, size, [&]() -> Status {
    copy_text(group_of(handle).info(), text, size);
    return {};
  });
}

int mpi_job_key(void* handle, uint8_t key[32], char* error, size_t error_size) {
  return at_edge(error, error_size, [&] { return group_of(handle).job_key(key); });
}

void mpi_close(void* handle) { std::unique_ptr<MpiGroup> group(&group_of(handle)); }

void mpi_refuse(const symm_bootstrap_config* config, const char* why) {
  char ignored[64];  // the others get this failure, and so does this PE's caller
  at_edge(ignored, sizeof(ignored), [&] { return MpiGroup::refuse(*config, why); });
}

void mpi_hurry(void* handle) { group_of(handle).hurry(); }

void mpi_forked(void* handle) { group_of(handle).in_forked_child(); }

constexpr symm_bootstrap_table kTable = {
    SYMM_BOOTSTRAP_ABI,
    sizeof(symm_bootstrap_table),
    "mpi",
    nullptr,
    mpi_open,
    mpi_allgather,
    mpi_barrier,
    mpi_global_exit,
    mpi_info,
    nullptr,
    mpi_job_key,
    mpi_close,
    mpi_refuse,
    mpi_hurry,
    mpi_forked,
};

}  // namespace
}  // namespace symm::bootstrap

extern "C" __attribute__((visibility("default"))) const symm_bootstrap_table* symm_bootstrap_plugin(
    void) {
  return &symm::bootstrap::kTable;
}
