// Launch: one execution of a kernel. All its core instances live together as fibers on one or more
// worker threads; the stream's thread is worker 0 and others join when it turns out to be worth it.
// Threads: work(0) on the stream's thread, work(i) on threads of the core pool; a core runs only on
// the worker that started it. Ownership: shared, since a pool thread may come late and find nothing
// left to do.
//
// ThreadSanitizer must see the cores of one worker as unordered, or it would miss races between
// blocks. So scheduler and cores share only relaxed atomics while the launch runs: a core acquires
// what came before the launch when it starts and releases what it did when it ends; the scheduler
// acquires that only after its last core has ended.
#pragma once

#include <atomic>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "ascendc/core_abi.h"
#include "os/wait.h"
#include "runtime/core_local.h"
#include "runtime/core_memory.h"
#include "runtime/cross_flags.h"
#include "runtime/error.h"
#include "runtime/fiber.h"

namespace symm::runtime {

class CorePool;
class LaneGroup;
class Launch;

// What a launch executes; frozen when it was enqueued or recorded.
struct KernelSpec {
  uint32_t blocks = 0;
  void (*run)(void* closure) = nullptr;
  void (*drop)(void* closure) = nullptr;
  symm_visit_arguments visit = nullptr;  // may stay null: nothing is known of the arguments
  void* closure = nullptr;
  void* state = nullptr;
  std::string name;

  KernelSpec() = default;
  KernelSpec(const KernelSpec&) = delete;
  KernelSpec& operator=(const KernelSpec&) = delete;
  ~KernelSpec() {
    if (drop != nullptr) drop(closure);
  }
};

// One core instance.
struct Core {
  enum State : int { kRunning, kWaiting, kYielded, kEnded };

  symm_core abi{};  // must stay first: kernels hold its address
  Launch* launch = nullptr;
  Fiber fiber;
  CoreMemory memory;
  CrossCounts cross;
  CoreLocals locals;
  bool entered = false;                            // used by the core only
  LaneGroup* lanes = nullptr;                      // while the core runs SIMT lanes
  int trace_row = -1;                              // of its spans, when there is a trace
  std::atomic<int> state{kRunning};                // written by the core
  std::atomic<bool> progressed{false};             // set by the core when a wait was satisfied
  std::atomic<symm_event_count*> events{nullptr};  // what notifies the wait, or null
  std::atomic<bool> may_spin{false};
  std::atomic<bool> silent{false};  // nobody notifies the end of the wait: sleep briefly
  std::atomic<bool> check{
      false};  // set by the scheduler: about to sleep, look at time limits and failures
};

// Thrown through a kernel whose launch has failed; caught where the core started.
struct KernelUnwind {};

// See symm_rt_set_failure_hook.
using FailureHook = void (*)(void* state, int code, const char* text);
void set_failure_hook(FailureHook hook);

class Launch {
 public:
  Launch(std::shared_ptr<const KernelSpec> spec, CorePool& pool, uint64_t number);

  // Runs the launch to its end on the calling thread, with help of the pool.
  static TaskError run(const std::shared_ptr<Launch>& launch);

  // For the core pool: takes part as worker `index` until nothing is left for it.
  void work(uint32_t index);

  // The core side; each on the core's fiber.
  int enter(Core& core, const char* name, int aic, int aiv);
  int wait(Core& core, const symm_wait& wait);
  void yield(Core& core);
  void sync_all(Core& core);
  void cross_set(Core& core, uint32_t mode, uint32_t id);
  void cross_wait(Core& core, uint32_t mode, uint32_t id);
  [[noreturn]] void trap(Core& core, const char* text);

  // visit(kernel, launch, block, vector core, whether blocks have several) for a core of this
  // launch. Safe in a signal handler if visit is.
  template <typename Visit>
  void name_core(const Core& core, Visit visit) const {
    visit(std::string_view(spec_->name), number_, static_cast<uint64_t>(core.abi.block),
          static_cast<uint64_t>(core.abi.sub_block), ratio_.load(std::memory_order_relaxed) > 1);
  }

 private:
  friend class LaunchWorker;

  void core_main(Core& core);
  void core_ended(Core& core);
  // Records the first failure; every core is unwound.
  void fail(aclError code, std::string text);
  void check_failed();  // unwinds the calling core if the launch has failed
  std::string name_of(const Core& core) const;
  int trace_row_of(const Core& core) const;
  uint32_t sync_parties() const;
  CrossFlags& cross_flags();
  static int cross_is_raised(void* argument);
  void wake_workers();
  void invite();

  std::shared_ptr<const KernelSpec>
      spec_;  // until all cores have ended: a late helper must not keep the closure
  CorePool& pool_;
  std::string trace_stream_;  // row of the stream it runs on, when there is a trace
  const uint64_t number_;
  const bool per_instance_;      // one worker per core instance instead of shares of the blocks
  const uint32_t units_;         // what workers claim: blocks, or instances
  const uint32_t workers_;       // how many may take part
  std::atomic<uint32_t> share_;  // units that a worker may claim while it has unfinished cores
  std::weak_ptr<Launch> self_;

  std::atomic<uint32_t> next_unit_{0};
  std::atomic<uint32_t> ended_units_{0};
  std::atomic<int> published_{0};
  std::atomic<int> ratio_{0};  // vector cores per block; 0 until the first core entered

  // sync_all: arrived cores of this generation, cores that ended, and one that did, for the
  // message.
  std::atomic<uint32_t> arrived_{0};
  std::atomic<uint32_t> ended_cores_{0};
  std::atomic<int64_t> ended_core_{-1};
  std::atomic<uint64_t> generation_{0};

  std::once_flag cross_once_;
  std::unique_ptr<CrossFlags> cross_;  // made by the first core that needs it

  std::atomic<bool> failed_{false};
  std::mutex mutex_;
  TaskError error_;  // under mutex_

  symm_event_count events_{};  // workers without another event count sleep here
  // Per worker: the event count it sleeps on, or null.
  std::vector<std::atomic<symm_event_count*>> sleeping_;
};

}  // namespace symm::runtime
