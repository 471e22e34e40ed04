// The C entry points that kernels use: include/ascendc/core_abi.h.
#include "ascendc/core_abi.h"

#include <sched.h>

#include <cstdlib>

#include "base/log.h"
#include "os/wait.h"
#include "runtime/core_context.h"
#include "runtime/device.h"
#include "runtime/error.h"
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
  return core != nullptr ? core->launch->wait(*core, *wait) : wait_on_host_thread(*wait);
}

void symm_rt_yield(void) {
#if !defined(__SANITIZE_THREAD__)
  std::atomic_thread_fence(std::memory_order_seq_cst);  // contract: a full fence
#endif
  Core* core = current_core();
  if (core != nullptr) {
    core->launch->yield(*core);
  } else {
    ::sched_yield();
  }
}

void symm_rt_sync_all(void) {
  if (Core* core = current_core()) core->launch->sync_all(*core);
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

void symm_rt_set_error(const char* text) { set_message(text); }

void symm_rt_set_local_pes(int32_t count) { runtime().pool().set_local_pes(count); }
