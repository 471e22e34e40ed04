// Lanes: the SIMT threads of one core, each a fiber that the core's own fiber resumes. A lane keeps
// a stack only while it is suspended, so functions without barriers or waits need a single stack
// whatever the number of lanes. Threads: everything happens on the core's worker. ThreadSanitizer
// takes lanes for threads, so scheduler and lanes share only atomics; a lane acquires what the core
// did before it and releases what it did to barriers and to the core.
#pragma once

#include <atomic>
#include <cstdint>
#include <exception>
#include <memory>
#include <mutex>
#include <unordered_map>
#include <vector>

#include "ascendc/core_abi.h"
#include "runtime/core_memory.h"
#include "runtime/fiber.h"

namespace symm::runtime {

struct Core;

class LaneGroup {
 public:
  LaneGroup(Core& core, const uint32_t dims[3], void (*function)(void*), void* argument);
  LaneGroup(const LaneGroup&) = delete;
  LaneGroup& operator=(const LaneGroup&) = delete;
  ~LaneGroup();

  // On the core's fiber: runs all lanes to their end. Rethrows what left a lane, after unwinding
  // the others.
  void run_all();

  // On a lane's fiber.
  int wait(const symm_wait& wait);
  void yield();
  void barrier();
  void* shared(const void* key, uint64_t bytes);

  // The stack of the lane that runs, or null. Safe in a signal handler.
  const CoreMemory* running_memory() const {
    const Lane* lane = current_.load(std::memory_order_relaxed);
    return lane != nullptr ? &lane->memory : nullptr;
  }

 private:
  enum State : int { kRunning, kBarrier, kWaiting, kYielded, kEnded };

  struct Lane {
    LaneGroup* group = nullptr;
    uint32_t index = 0;
    Fiber fiber;
    CoreMemory memory;
    std::atomic<int> state{kRunning};
    std::atomic<const symm_wait*> wait{nullptr};
    std::atomic<uint64_t> generation{0};  // of the barrier it waits in
  };

  static void entry(void* argument);
  static int any_ready(void* group);
  void lane_main(Lane& lane);
  void start_all();
  bool pass();
  void idle();
  void unwind();
  bool ready(const Lane& lane) const;
  bool resume(Lane& lane);
  void ended(Lane& lane);
  void suspend(Lane& lane, State state);
  void select(const Lane* lane);  // sets threadIdx and its siblings

  Core& core_;
  const uint32_t dims_[3];
  const uint32_t count_;
  void (*const run_)(void*);
  void* const argument_;
  std::vector<std::unique_ptr<Lane>> live_;
  std::unique_ptr<Lane> spare_;       // an ended lane whose stack the next one takes
  std::vector<CoreMemory> memories_;  // stacks taken from the pool and not in use
  std::atomic<Lane*> current_{nullptr};
  std::atomic<uint32_t> arrived_{0};  // in the barrier
  std::atomic<uint32_t> unfinished_;
  std::atomic<uint64_t> generation_{0};
  std::atomic<bool> unwinding_{false};
  std::exception_ptr failure_;  // written by lanes before they end, read by the core behind them
  std::mutex shared_mutex_;
  std::unordered_map<const void*, std::unique_ptr<uint8_t[]>> shared_;  // under shared_mutex_
};

}  // namespace symm::runtime
