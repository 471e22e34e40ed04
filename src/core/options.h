// What an instance is opened with, and the checks that one PE can make alone.
// Threads: plain data.
#pragma once

#include <cstdint>
#include <string>

#include "base/status.h"
#include "bootstrap/plugin_abi.h"
#include "host_device/shmem_common_types.h"

namespace symm {

struct InstanceOptions {
  const symm_bootstrap_table* bootstrap = nullptr;
  uint32_t mode = ACLSHMEMX_INIT_WITH_DEFAULT;
  int pe = -1;
  int n_pes = 0;
  std::string address;        // tcp://host:port; may be empty in unique-id and MPI mode
  void* comm_args = nullptr;  // unique id or MPI communicator; read while the instance opens
  uint64_t heap_bytes = 0;    // local_mem_size
  uint32_t engines = ACLSHMEM_DATA_OP_MTE;  // data_op_engine_type_t bits
  double connect_timeout_s = DEFAULT_TIMEOUT;
  double operation_timeout_s = DEFAULT_TIMEOUT;
  int listen_fd = -1;
  uint64_t id = 0;
  int check = -1;  // level of the argument checks, 0 to 2; -1: SHMEM_CHECK decides
  symm_tls_options tls{1, 0, nullptr, nullptr, nullptr, nullptr};
  // What a global exit that another PE asked for does; null: end the process with the status.
  void (*on_global_exit)(int status) = nullptr;
  // Tells the launcher that a global exit is about to end this process; null: it needs no telling.
  void (*before_exit)(int status) = nullptr;
};

// Whether my_pe and n_pes of the attributes count, or the bootstrap has its own and compares them.
enum class Numbers { kFromAttributes, kFromBootstrap };

// The attributes of the public call, checked in the documented order. kInvalidValue or
// kInvalidParam with the value at fault. The bootstrap table, the address and the TLS part are the
// caller's business.
Result<InstanceOptions> options_from(const aclshmemx_init_attr_t& attributes,
                                     Numbers numbers = Numbers::kFromAttributes);

// Parts of a heap. The user's part begins at offset 0; the library's own lies at the end.
inline constexpr uint64_t kSignalBytes = 512;
inline constexpr uint64_t kInternalBytes = kSignalBytes + SYNC_POOL_SIZE + SYNC_COUNTERS_SIZE;

}  // namespace symm
