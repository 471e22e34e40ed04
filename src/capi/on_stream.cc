// Operations queued on streams.
#include "capi/edge.h"
#include "host/data_plane/shmem_host_cc.h"
#include "host/data_plane/shmem_host_p2p_sync.h"
#include "host/data_plane/shmem_host_rma.h"
#include "host/data_plane/shmem_host_so.h"
#include "ops/operation.h"

using symm::Instance;
using symm::ops::Operation;
using Kind = symm::ops::Operation::Kind;

namespace {

void queue(const Operation& operation, aclrtStream stream) {
  symm::capi::with_instance(operation.call, [&](Instance& instance) {
    return symm::ops::enqueue(instance, operation, stream);
  });
}

void queue_barrier(const char* call, aclshmem_team_t team, aclrtStream stream) {
  if (team == ACLSHMEM_TEAM_INVALID) return;
  Operation operation;
  operation.kind = Kind::kBarrier;
  operation.call = call;
  operation.team = team;
  queue(operation, stream);
}

}  // namespace

void aclshmemx_putmem_on_stream(void* dst, void* src, size_t elem_size, int32_t pe,
                                aclrtStream stream) {
  Operation operation;
  operation.kind = Kind::kPut;
  operation.call = "aclshmemx_putmem_on_stream";
  operation.to = dst;
  operation.from = src;
  operation.bytes = elem_size;
  operation.pe = pe;
  queue(operation, stream);
}

void aclshmemx_getmem_on_stream(void* dst, void* src, size_t elem_size, int32_t pe,
                                aclrtStream stream) {
  Operation operation;
  operation.kind = Kind::kGet;
  operation.call = "aclshmemx_getmem_on_stream";
  operation.to = dst;
  operation.from = src;
  operation.bytes = elem_size;
  operation.pe = pe;
  queue(operation, stream);
}

void aclshmemx_quiet_on_stream(aclrtStream stream) {
  Operation operation;
  operation.kind = Kind::kQuiet;
  operation.call = "aclshmemx_quiet_on_stream";
  queue(operation, stream);
}

void aclshmemx_signal_op_on_stream(int32_t* sig_addr, int32_t signal, int sig_op, int pe,
                                   aclrtStream stream) {
  Operation operation;
  operation.kind = Kind::kSignal;
  operation.call = "aclshmemx_signal_op_on_stream";
  operation.to = sig_addr;
  operation.value = signal;
  operation.code = sig_op;
  operation.pe = pe;
  queue(operation, stream);
}

void aclshmemx_signal_wait_until_on_stream(int32_t* sig_addr, int cmp, int32_t cmp_val,
                                           aclrtStream stream) {
  Operation operation;
  operation.kind = Kind::kWaitSignal;
  operation.call = "aclshmemx_signal_wait_until_on_stream";
  operation.from = sig_addr;
  operation.value = cmp_val;
  operation.code = cmp;
  queue(operation, stream);
}

void aclshmemx_handle_wait(aclshmem_handle_t handle, aclrtStream stream) {
  queue_barrier("aclshmemx_handle_wait", handle.team_id, stream);
}

void aclshmemx_barrier_on_stream(aclshmem_team_t team, aclrtStream stream) {
  queue_barrier("aclshmemx_barrier_on_stream", team, stream);
}

void aclshmemx_barrier_all_on_stream(aclrtStream stream) {
  queue_barrier("aclshmemx_barrier_all_on_stream", ACLSHMEM_TEAM_WORLD, stream);
}
