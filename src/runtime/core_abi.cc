// The C entry points that kernels use: include/ascendc/core_abi.h.
#include "ascendc/core_abi.h"

#include <sched.h>

#include <cstdlib>

#include "base/config.h"
#include "base/log.h"
#include "base/scope_exit.h"
#include "os/wait.h"
#include "runtime/core_context.h"
#include "runtime/device.h"
#include "runtime/error.h"
#include "runtime/lanes.h"
#include "runtime/launch.h"
#include "runtime/sanitizers.h"
#include "runtime/stream.h"

namespace symm::runtime {
namespace {

// initial-exec: one load instead of a call; eight bytes always fit the room that the loader keeps.
thread_local Core* t_core __attribute__((tls_model("initial-exec"))) = nullptr;

}  // namespace

SYMM_NO_TSAN void set_current_core(Core* core) { t_core = core; }
SYMM_NO_TSAN Core* current_core() { return t_core; }

namespace {

void progress(Core* core) {
  // relaxed: read by the scheduler on this thread.
  if (core != nullptr) core->progressed.store(true, std::memory_order_relaxed);
}

int wait_on_host_thread(const symm_wait& wait) {
  Status status = os::wait(wait);
  if (status.ok()) return SYMM_WAIT_DONE;
  int code = status.code() == Code::kTimeout ? SYMM_WAIT_TIMEOUT : SYMM_WAIT_PEER_LOST;
  set_message(std::string(status.text()));
  return code;
}

}  // namespace
}  // namespace symm::runtime

using namespace symm::runtime;  // NOLINT: this file is the C edge

SYMM_NO_TSAN symm_core* symm_rt_core(void) {
  Core* core = current_core();
  return core != nullptr ? &core->abi : nullptr;
}

int symm_rt_has_device(void) { return runtime().current_context() != nullptr ? 1 : 0; }

int symm_rt_enter(const char* name, int aic, int aiv) {
  Core* core = current_core();
  if (core != nullptr) return core->launch->enter(*core, name, aic, aiv);
  fail(ACL_ERROR_INVALID_PARAM,
       "kernel {} was called like a function; launch it with <<<blocks, nullptr, stream>>>", name);
  return 0;
}

int symm_rt_wait(const symm_wait* wait) {
  Core* core = current_core();
  if (core == nullptr) return wait_on_host_thread(*wait);
  return core->lanes != nullptr ? core->lanes->wait(*wait) : core->launch->wait(*core, *wait);
}

void symm_rt_yield(void) {
#if !defined(__SANITIZE_THREAD__)
  std::atomic_thread_fence(std::memory_order_seq_cst);  // contract: a full fence
#endif
  Core* core = current_core();
  if (core == nullptr) {
    ::sched_yield();
  } else if (core->lanes != nullptr) {
    core->lanes->yield();
  } else {
    core->launch->yield(*core);
  }
}

void symm_rt_sync_all(void) {
  Core* core = current_core();
  if (core == nullptr) return;
  if (core->lanes != nullptr) {
    core->launch->trap(*core, "SyncAll inside a SIMT function; lanes meet in asc_syncthreads");
  }
  core->launch->sync_all(*core);
}

void symm_rt_cross_set(uint32_t mode, uint32_t id) {
  if (Core* core = current_core()) core->launch->cross_set(*core, mode, id);
}

void symm_rt_cross_wait(uint32_t mode, uint32_t id) {
  if (Core* core = current_core()) core->launch->cross_wait(*core, mode, id);
}

void* symm_rt_core_local(const void* key, uint64_t bytes, int* fresh) {
  static thread_local CoreLocals of_thread;
  Core* core = current_core();
  return (core != nullptr ? core->locals : of_thread).get(key, bytes, fresh);
}

void symm_rt_trap(const char* text) {
  if (Core* core = current_core()) core->launch->trap(*core, text);
  fail(ACL_ERROR_INTERNAL_ERROR, "{}", text);
  std::abort();
}

void symm_rt_notify(symm_event_count* events) {
  symm::os::notify(*events);
  progress(current_core());
}

void symm_rt_lanes(const uint32_t dims[3], void (*run)(void* argument), void* argument) {
  Core* core = current_core();
  if (core == nullptr) symm_rt_trap("SIMT lanes outside a kernel");
  const uint64_t count = uint64_t{dims[0]} * dims[1] * dims[2];
  if (core->lanes != nullptr) core->launch->trap(*core, "asc_vf_call inside a SIMT function");
  if (count == 0 || count > 1024 || dims[0] > 1024 || dims[1] > 1024 || dims[2] > 1024) {
    core->launch->trap(*core, "asc_vf_call: the dimensions must give 1 to 1024 lanes");
  }
  LaneGroup group(*core, dims, run, argument);
  symm::ScopeExit leave([core] { core->lanes = nullptr; });
  core->lanes = &group;
  group.run_all();
}

void symm_rt_lane_barrier(void) {
  Core* core = current_core();
  if (core != nullptr && core->lanes != nullptr) core->lanes->barrier();
}

void* symm_rt_lane_shared(const void* key, uint64_t bytes) {
  Core* core = current_core();
  if (core == nullptr || core->lanes == nullptr) {
    symm_rt_trap("a SIMT function with memory shared by its lanes was called outside asc_vf_call");
  }
  return core->lanes->shared(key, bytes);
}

uint32_t symm_rt_vector_cores(void) {
  return static_cast<uint32_t>(symm::config::integer("SHMEM_AIV_CORES"));
}

void symm_rt_set_error(const char* text) { set_message(text); }

void symm_rt_set_failure_hook(void (*hook)(void*, int, const char*)) { set_failure_hook(hook); }

void symm_rt_set_local_pes(int32_t count) { runtime().pool().set_local_pes(count); }
