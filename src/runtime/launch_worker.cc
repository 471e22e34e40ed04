// The scheduler of one worker of a launch: starts cores, runs each until it waits, and goes round
// them until all ended.
#include <algorithm>
#include <new>
#include <optional>

#include "os/ticks.h"
#include "runtime/core_context.h"
#include "runtime/core_pool.h"
#include "runtime/fault.h"
#include "runtime/launch.h"

namespace symm::runtime {
namespace {

// A launch shorter than this is not worth a second thread.
constexpr uint64_t kAloneUs = 5;
// A core that runs longer than this between two yields computes; a shorter one polls.
constexpr uint64_t kPollUs = 2;
// Sleep when cores wait on several event counts, of which only one can wake us.
constexpr uint32_t kMixedSleepUs = 100;
// Memories taken from the pool at once.
constexpr uint32_t kMostTaken = 32;
// ThreadSanitizer builds keep ended cores apart until all have ended (top of launch.h), within
// reason.
#if defined(__SANITIZE_THREAD__)
constexpr bool kDelayedEnd = true;
#else
constexpr bool kDelayedEnd = false;
#endif
constexpr size_t kMostEnded = 256;

}  // namespace

class LaunchWorker {
 public:
  LaunchWorker(Launch& launch, uint32_t index) : launch_(launch), index_(index) {}
  ~LaunchWorker() { launch_.pool_.memory().give(memories_); }

  void run() {
    prepare_signal_stack();
    started_ = os::ticks();
    while (true) {
      bool progress = claim();
      progress = pass(false) || progress;
      if (live_.empty()) {
        count_ended();
        if (all_claimed() && (index_ != 0 || launch_over())) return;
      }
      if (progress) {
        backoff_.reset();
      } else {
        idle();
      }
    }
  }

 private:
  bool all_claimed() const {
    return launch_.next_unit_.load(std::memory_order_relaxed) >= launch_.units_;
  }
  bool launch_over() const {
    // acquire: the joining worker sees what all cores did.
    return launch_.ended_units_.load(std::memory_order_acquire) == launch_.units_;
  }

  // Starts units while this worker may have more. True if any was started.
  bool claim() {
    bool any = false;
    while (claimed_ < share() || live_.empty()) {
      if (all_claimed()) break;
      // relaxed: only the number matters.
      uint32_t unit = launch_.next_unit_.fetch_add(1, std::memory_order_relaxed);
      if (unit >= launch_.units_) break;
      ++claimed_;
      any = true;
      start_unit(unit);
      invite();
    }
    return any;
  }

  void start_unit(uint32_t unit) {
    uint32_t blocks = launch_.spec_->blocks;
    ++own_units_;
    start_core(unit % blocks, unit / blocks);
    // relaxed: set by the core that just ran on this thread, or by another one to the same value.
    if (!launch_.per_instance_ && launch_.ratio_.load(std::memory_order_relaxed) > 1) {
      start_core(unit, 1);
    }
  }

  void start_core(int64_t block, int64_t sub_block) {
    if (launch_.failed_.load(std::memory_order_relaxed)) return;
    if (memories_.empty()) {
      uint32_t want = std::clamp<uint32_t>(share() - std::min(share(), claimed_), 1, kMostTaken);
      Status status = launch_.pool_.memory().take(want, memories_);
      if (!status.ok()) {
        TaskError error = task_error(status, launch_.spec_->name);
        launch_.fail(error.code, std::move(error.text));
        return;
      }
    }
    CoreMemory memory = memories_.back();
    memories_.pop_back();
    size_t stack_size = memory.stack_size - kCoreBytes;
    Core* core = new (memory.stack + stack_size) Core;
    core->memory = memory;
    core->launch = &launch_;
    core->abi.block = block;
    core->abi.block_num = launch_.spec_->blocks;
    core->abi.sub_block = sub_block;
    core->abi.ratio = 1;
    core->abi.ub = core->memory.ub;
    core->abi.ub_size = launch_.pool_.ub_size();
    core->abi.state = launch_.spec_->state;
    core->abi.launch = launch_.number_;
    core->fiber.start(memory.stack, stack_size, &entry, core);
    // release: the fields above, for entry().
    core->state.store(Core::kRunning, std::memory_order_release);
    if (!run_core(*core)) {
      live_.push_back(core);
    } else if (kDelayedEnd && ended_.size() < kMostEnded) {
      ended_.push_back(core);
    } else {
      take_over(core);
    }
  }

  static void entry(void* argument) {
    auto* core = static_cast<Core*>(argument);
    // acquire: pairs with start_core.
    (void)core->state.load(std::memory_order_acquire);
    core->launch->core_main(*core);
  }

  // Runs the core until it waits, yields or ends. True when it has ended.
  bool run_core(Core& core) {
    set_current_core(&core);
    bool ended = core.fiber.resume();
    set_current_core(nullptr);
    return ended;
  }

  // Resumes every core once. True if any did something. `check`: cores look at their time limits.
  bool pass(bool check) {
    bool progress = false;
    size_t yielded = 0;
    uint64_t before = os::ticks();
    size_t kept = 0;
    for (size_t i = 0; i < live_.size(); ++i) {
      Core* core = live_[i];
      if (core->state.load(std::memory_order_relaxed) == Core::kYielded) ++yielded;
      if (check) core->check.store(true, std::memory_order_relaxed);
      bool ended = run_core(*core);
      if (check) core->check.store(false, std::memory_order_relaxed);
      if (core->progressed.load(std::memory_order_relaxed)) {
        core->progressed.store(false, std::memory_order_relaxed);
        progress = true;
      }
      if (ended) {
        ended_.push_back(core);
        progress = true;
      } else {
        live_[kept++] = core;
      }
    }
    live_.resize(kept);
    polling_ = yielded != 0;
    if (yielded != 0 && os::ticks() - before > yielded * kPollUs * os::ticks_per_us()) return true;
    return progress;
  }

  void idle() {
    if (!backoff_) backoff_.emplace(!polling_ && !any_silent(), may_spin());
    if (!backoff_->wants_sleep()) {
      backoff_->step();
      return;
    }
    symm_event_count* events = common_events();
    std::atomic<symm_event_count*>& slot = launch_.sleeping_[index_];
    slot.store(events,
               std::memory_order_seq_cst);  // before the second look; see Launch::wake_workers
    os::Sleeper sleeper(events);
    uint32_t seen = sleeper.prepare();
    if (pass(true) || (live_.empty() && launch_over())) {
      sleeper.cancel();
      backoff_.reset();
    } else {
      sleeper.sleep(seen, mixed_ ? kMixedSleepUs : backoff_->sleep_limit_us());
      backoff_->slept();
    }
    slot.store(nullptr, std::memory_order_relaxed);  // a late notify only costs the notifier
  }

  bool may_spin() const {
    bool named = false;
    for (Core* core : live_) {
      if (core->events.load(std::memory_order_relaxed) == nullptr) continue;
      if (core->may_spin.load(std::memory_order_relaxed)) return true;
      named = true;
    }
    return !named && launch_.pool_.may_spin();
  }

  bool any_silent() const {
    return std::any_of(live_.begin(), live_.end(), [](const Core* core) {
      return core->silent.load(std::memory_order_relaxed);
    });
  }

  // The event count that notifies this worker's cores; with several, one of them and short sleeps.
  symm_event_count* common_events() {
    symm_event_count* events = nullptr;
    mixed_ = false;
    for (Core* core : live_) {
      symm_event_count* of_core = core->events.load(std::memory_order_relaxed);
      if (of_core == nullptr) continue;
      if (events != nullptr && of_core != events) mixed_ = true;
      events = of_core;
    }
    return events != nullptr ? events : &launch_.events_;
  }

  void take_over(Core* core) {
    (void)core->state.load(std::memory_order_acquire);  // pairs with core_main
    memories_.push_back(core->memory);
    core->~Core();
  }

  // Takes over what ended cores did and counts them; only when none is left running here (top of
  // launch.h).
  void count_ended() {
    for (Core* core : ended_) take_over(core);
    ended_.clear();
    if (own_units_ == 0) return;
    // release: to the joining worker; seq_cst: before the look at who sleeps.
    uint32_t before = launch_.ended_units_.fetch_add(own_units_, std::memory_order_seq_cst);
    bool over = before + own_units_ == launch_.units_;
    own_units_ = 0;
    if (over && index_ != 0) launch_.wake_workers();
  }

  // Asks the pool for the other workers once this launch has shown that it takes time or waits.
  void invite() {
    if (launch_.workers_ <= 1 || index_ != 0 || invited_ || launch_.per_instance_) return;
    if (live_.empty() && os::ticks() - started_ < kAloneUs * os::ticks_per_us()) return;
    invited_ = true;
    if (!all_claimed()) launch_.invite();
  }

  uint32_t share() const { return launch_.share_.load(std::memory_order_relaxed); }

  // The Core itself lies at the top of its stack.
  static constexpr size_t kCoreBytes = (sizeof(Core) + 63) / 64 * 64;

  Launch& launch_;
  const uint32_t index_;
  std::optional<os::Backoff> backoff_;  // while nothing makes progress
  uint64_t started_ = 0;
  uint32_t claimed_ = 0;
  uint32_t own_units_ = 0;  // started here and not yet counted as ended
  bool invited_ = false;
  bool polling_ = false;  // cores yielded in the last pass: they poll memory that nobody notifies
  bool mixed_ = false;
  std::vector<Core*> live_;
  std::vector<Core*> ended_;
  std::vector<CoreMemory> memories_;
};

void Launch::work(uint32_t index) { LaunchWorker(*this, index).run(); }

}  // namespace symm::runtime
