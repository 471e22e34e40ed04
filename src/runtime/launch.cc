#include "runtime/launch.h"

#include <algorithm>
#include <exception>

#include "base/log.h"
#include "base/trace.h"
#include "runtime/core_pool.h"

namespace symm::runtime {
namespace {

struct SyncWait {
  const std::atomic<uint64_t>* generation;
  uint64_t mine;
};

int sync_is_over(void* argument) {
  auto* wait = static_cast<SyncWait*>(argument);
  // acquire: pairs with the release of the last core to arrive.
  return wait->generation->load(std::memory_order_acquire) != wait->mine;
}

std::atomic<FailureHook> g_failure_hook{nullptr};

}  // namespace

// release, acquire: what the hook's library prepared before.
void set_failure_hook(FailureHook hook) { g_failure_hook.store(hook, std::memory_order_release); }

Launch::Launch(std::shared_ptr<const KernelSpec> spec, CorePool& pool, uint64_t number)
    : spec_(std::move(spec)),
      pool_(pool),
      number_(number),
      per_instance_(pool.thread_per_core()),
      units_(per_instance_ ? 2 * spec_->blocks : spec_->blocks),
      workers_(std::min(units_, pool.workers_per_launch())),
      share_((units_ + workers_ - 1) / workers_),
      sleeping_(workers_) {}

TaskError Launch::run(const std::shared_ptr<Launch>& launch) {
  launch->self_ = launch;
  if (trace::on()) [[unlikely]]
    launch->trace_stream_ = trace::row_name(trace::own_row());
  // release: cores start from everything that happened before the launch.
  launch->published_.store(1, std::memory_order_release);
  if (launch->per_instance_) launch->invite();
  launch->work(0);
  launch->spec_.reset();
  std::lock_guard lock(launch->mutex_);
  return launch->error_;
}

void Launch::invite() {
  if (workers_ <= 1) return;
  // relaxed: whoever sees the old number only claims later. Without helpers the workers there are
  // take everything.
  if (!pool_.invite(self_.lock(), workers_)) share_.store(units_, std::memory_order_relaxed);
}

std::string Launch::name_of(const Core& core) const {
  int ratio = ratio_.load(std::memory_order_relaxed);
  std::string who =
      fmt::format("kernel {} (launch {}), block {}", spec_->name, number_, core.abi.block);
  if (ratio > 1) who += fmt::format(", vector core {}", core.abi.sub_block);
  return who;
}

int Launch::trace_row_of(const Core& core) const {
  std::string name = fmt::format("{} block {}", trace_stream_, core.abi.block);
  if (core.abi.sub_block != 0) name += ", second vector core";
  return trace::row(name);
}

uint32_t Launch::sync_parties() const {
  // relaxed: the calling core has entered, so the value is set and constant.
  int ratio = std::max(1, ratio_.load(std::memory_order_relaxed));
  return spec_->blocks * static_cast<uint32_t>(ratio);
}

void Launch::fail(aclError code, std::string text) {
  {
    std::lock_guard lock(mutex_);
    if (error_.code == ACL_SUCCESS) {
      error_ = {code, std::move(text)};
      FailureHook hook = g_failure_hook.load(std::memory_order_acquire);
      if (hook != nullptr && spec_->state != nullptr) {
        hook(spec_->state, error_.code, error_.text.c_str());
      }
    }
  }
  // seq_cst: before the look at who sleeps, see wake_workers.
  failed_.store(true, std::memory_order_seq_cst);
  wake_workers();
}

void Launch::check_failed() {
  // relaxed: the flag carries no data to the core. A core that is being unwound already must not
  // throw again.
  if (failed_.load(std::memory_order_relaxed) && std::uncaught_exceptions() == 0)
    throw KernelUnwind{};
}

void Launch::wake_workers() {
  symm_event_count* woken = nullptr;  // most workers share one
  for (auto& slot : sleeping_) {
    // seq_cst: a worker stores its slot, then looks again at its conditions; the caller changed a
    // condition, then looks here. One of them sees the other.
    symm_event_count* events = slot.load(std::memory_order_seq_cst);
    if (events != nullptr && events != woken) os::notify(*events);
    if (events != nullptr) woken = events;
  }
}

void Launch::core_main(Core& core) {
  // acquire: pairs with run(); see the top of the header.
  (void)published_.load(std::memory_order_acquire);
  if (trace::on()) [[unlikely]]
    core.trace_row = trace_row_of(core);
  try {
    trace::Span span("kernel", spec_->name.c_str(), core.trace_row);
    spec_->run(spec_->closure);
    if (core.entered) core_ended(core);
  } catch (const KernelUnwind&) {
    // The failure is recorded already.
  } catch (const std::exception& error) {
    fail(ACL_ERROR_INTERNAL_ERROR,
         fmt::format("{}: exception left the kernel: {}", name_of(core), error.what()));
  } catch (...) {
    fail(ACL_ERROR_INTERNAL_ERROR,
         fmt::format("{}: an exception of unknown type left the kernel", name_of(core)));
  }
  // release: what the core did, for whoever waits for the launch.
  core.state.store(Core::kEnded, std::memory_order_release);
}

int Launch::enter(Core& core, const char* name, int aic, int aiv) {
  if (core.entered) return 1;  // a kernel called from a kernel, like a function
  if (aiv < 0 || aiv > 2 || aic < 0) {
    trap(core, fmt::format("{} asks for {} cube and {} vector cores per block; supported are up to "
                           "2 vector cores",
                           name, aic, aiv)
                   .c_str());
  }
  int ratio = std::max(1, aiv);
  int known = 0;
  // relaxed: the number itself is all that is shared.
  if (!ratio_.compare_exchange_strong(known, ratio, std::memory_order_relaxed) && known != ratio) {
    trap(core,
         fmt::format("{} has {} vector cores per block, but another core of this launch said {}",
                     name, ratio, known)
             .c_str());
  }
  core.abi.ratio = ratio;
  if (core.abi.sub_block >= ratio) return 0;
  core.entered = true;
  return 1;
}

int Launch::wait(Core& core, const symm_wait& wait) {
  if (wait.poll(wait.argument)) {
    core.progressed.store(true, std::memory_order_relaxed);
    return SYMM_WAIT_DONE;
  }
  trace::Span span("wait", wait.call, core.trace_row, {wait.peer, -1});
  const symm_wait_domain* domain = wait.domain;
  symm_event_count* events = domain != nullptr ? domain->events : nullptr;
  os::WaitWatch watch(wait, {[](const void* where) {
                               const auto* waiting = static_cast<const Core*>(where);
                               return waiting->launch->name_of(*waiting);
                             },
                             &core});
  while (true) {
    check_failed();
    if (failed_.load(std::memory_order_relaxed)) return SYMM_WAIT_PEER_LOST;
    // relaxed: read by the scheduler on this same thread.
    core.events.store(events, std::memory_order_relaxed);
    core.silent.store(events == nullptr && wait.kind != SYMM_WAIT_KIND_CORES,
                      std::memory_order_relaxed);
    core.may_spin.store(domain != nullptr && domain->may_spin != 0, std::memory_order_relaxed);
    core.state.store(Core::kWaiting, std::memory_order_relaxed);
    core.fiber.suspend();
    if (wait.poll(wait.argument)) {
      core.progressed.store(true, std::memory_order_relaxed);
      return SYMM_WAIT_DONE;
    }
    if (!core.check.load(std::memory_order_relaxed)) continue;
    Status status = watch.check();
    if (!status.ok()) {
      TaskError error = task_error(status, name_of(core));
      fail(error.code, std::move(error.text));
    }
  }
}

void Launch::yield(Core& core) {
  check_failed();
  core.state.store(Core::kYielded, std::memory_order_relaxed);
  core.fiber.suspend();
  check_failed();
}

void Launch::sync_all(Core& core) {
  check_failed();
  uint32_t parties = sync_parties();
  // acquire: the generation that this core belongs to; the previous one is complete.
  uint64_t mine = generation_.load(std::memory_order_acquire);
  // acq_rel: the last core gathers what all others did.
  if (arrived_.fetch_add(1, std::memory_order_acq_rel) + 1 == parties) {
    arrived_.store(0, std::memory_order_relaxed);  // published by the next store
    // seq_cst: releases the others, and comes before the look at who sleeps.
    generation_.store(mine + 1, std::memory_order_seq_cst);
    if (sleeping_.size() > 1) wake_workers();
    return;
  }
  // A core that has ended cannot arrive any more. Seeing it end and the generation unchanged means
  // it skipped this one.
  if (ended_cores_.load(std::memory_order_seq_cst) != 0 &&
      generation_.load(std::memory_order_acquire) == mine) {
    fail(ACL_ERROR_INTERNAL_ERROR,
         fmt::format("{}: SyncAll can never complete: core {} ended without calling it; let every "
                     "core call SyncAll equally often",
                     name_of(core), ended_core_.load(std::memory_order_relaxed)));
  }
  SyncWait over{&generation_, mine};
  symm_wait wait{};
  wait.poll = sync_is_over;
  wait.argument = &over;
  wait.call = "SyncAll";
  wait.team = wait.peer = wait.compare = -1;
  wait.kind = SYMM_WAIT_KIND_CORES;
  (void)this->wait(core, wait);
}

void Launch::core_ended(Core& core) {
  int64_t index = core.abi.block * std::max<int64_t>(1, core.abi.ratio) + core.abi.sub_block;
  ended_core_.store(index, std::memory_order_relaxed);  // published by the next operation
  // seq_cst: against the arrival in sync_all; one of the two sees the other.
  ended_cores_.fetch_add(1, std::memory_order_seq_cst);
  if (arrived_.load(std::memory_order_seq_cst) != 0) {
    fail(ACL_ERROR_INTERNAL_ERROR,
         fmt::format("{} ended without calling SyncAll, in which other cores wait; let every core "
                     "call SyncAll equally often",
                     name_of(core)));
  }
}

void Launch::trap(Core& core, const char* text) {
  fail(ACL_ERROR_INTERNAL_ERROR, fmt::format("{}: {}", name_of(core), text));
  throw KernelUnwind{};
}

}  // namespace symm::runtime
