#include "runtime/lanes.h"

#include <algorithm>
#include <cstring>

#include "ascendc/simt_abi.h"
#include "runtime/core_pool.h"
#include "runtime/device.h"
#include "runtime/launch.h"

__thread symm_index3 threadIdx = {0, 0, 0};
__thread symm_index3 blockIdx = {0, 0, 0};
__thread symm_index3 blockDim = {1, 1, 1};
__thread symm_index3 gridDim = {1, 1, 1};

namespace symm::runtime {
namespace {

// Stacks taken from the pool at once.
constexpr size_t kTaken = 32;

}  // namespace

LaneGroup::LaneGroup(Core& core, const uint32_t dims[3], void (*function)(void*), void* argument)
    : core_(core),
      dims_{dims[0], dims[1], dims[2]},
      count_(dims[0] * dims[1] * dims[2]),
      run_(function),
      argument_(argument),
      unfinished_(count_) {}

LaneGroup::~LaneGroup() {
  for (const auto& lane : live_) memories_.push_back(lane->memory);
  if (spare_ != nullptr) memories_.push_back(spare_->memory);
  runtime().pool().lane_memory().give(memories_);
  select(nullptr);
}

// Invisible to ThreadSanitizer: the variables belong to the thread, and lanes only read them.
SYMM_NO_TSAN void LaneGroup::select(const Lane* lane) {
  if (lane == nullptr) {
    threadIdx = blockIdx = {0, 0, 0};
    blockDim = gridDim = {1, 1, 1};
    return;
  }
  const uint32_t row = lane->index / dims_[0];
  threadIdx = {lane->index % dims_[0], row % dims_[1], row / dims_[1]};
  const symm_core& abi = core_.abi;
  blockIdx = {static_cast<uint32_t>(abi.block * abi.ratio + abi.sub_block), 0, 0};
  blockDim = {dims_[0], dims_[1], dims_[2]};
  gridDim = {static_cast<uint32_t>(abi.block_num * abi.ratio), 1, 1};
}

void LaneGroup::run_all() {
  try {
    start_all();
    while (!live_.empty() && !unwinding_.load(std::memory_order_relaxed)) {
      if (!pass()) idle();
    }
  } catch (...) {
    // The launch has failed elsewhere.
    unwinding_.store(true, std::memory_order_release);
    failure_ = std::current_exception();
  }
  unwind();
  if (failure_ != nullptr) std::rethrow_exception(failure_);
}

// Every lane runs until it suspends; one that ended leaves its stack to the next.
void LaneGroup::start_all() {
  for (uint32_t index = 0; index < count_; ++index) {
    if (unwinding_.load(std::memory_order_relaxed)) return;
    std::unique_ptr<Lane> lane = std::make_unique<Lane>();
    if (spare_ != nullptr) {
      lane->memory = spare_->memory;
      spare_.reset();
    } else {
      if (memories_.empty()) {
        const size_t want = std::min<size_t>(kTaken, count_ - index);
        const Status status = runtime().pool().lane_memory().take(want, memories_);
        if (!status.ok()) core_.launch->trap(core_, std::string(status.text()).c_str());
      }
      lane->memory = memories_.back();
      memories_.pop_back();
    }
    lane->group = this;
    lane->index = index;
    lane->fiber.start(lane->memory.stack, lane->memory.stack_size, &entry, lane.get());
    // release: the fields above and everything the core did, for entry().
    lane->state.store(kRunning, std::memory_order_release);
    if (resume(*lane)) {
      spare_ = std::move(lane);
    } else {
      live_.push_back(std::move(lane));
    }
  }
}

// Resumes every lane that can go on. True if there was one.
bool LaneGroup::pass() {
  bool progress = false;
  for (std::unique_ptr<Lane>& lane : live_) {
    if (!ready(*lane)) continue;
    progress = true;
    if (resume(*lane)) {
      memories_.push_back(lane->memory);
      lane.reset();
    }
    if (unwinding_.load(std::memory_order_relaxed)) break;
  }
  live_.erase(std::remove(live_.begin(), live_.end(), nullptr), live_.end());
  return progress;
}

bool LaneGroup::ready(const Lane& lane) const {
  const int state = lane.state.load(std::memory_order_relaxed);
  if (state == kBarrier) {
    return lane.generation.load(std::memory_order_relaxed) !=
           generation_.load(std::memory_order_relaxed);
  }
  if (state == kWaiting) {
    const symm_wait* wait = lane.wait.load(std::memory_order_relaxed);
    return wait->poll(wait->argument) != 0;
  }
  // A lane that yielded waits for other cores; idle() marks it as running when those had their
  // turn.
  return state == kRunning;
}

int LaneGroup::any_ready(void* argument) {
  const auto* group = static_cast<const LaneGroup*>(argument);
  for (const std::unique_ptr<Lane>& lane : group->live_) {
    if (group->ready(*lane)) return 1;
  }
  return 0;
}

// No lane can go on by itself: lets the other cores run, or waits until one of the lanes'
// conditions holds.
void LaneGroup::idle() {
  const symm_wait* waiting = nullptr;
  bool yielded = false;
  for (const std::unique_ptr<Lane>& lane : live_) {
    const int state = lane->state.load(std::memory_order_relaxed);
    if (state == kWaiting && waiting == nullptr)
      waiting = lane->wait.load(std::memory_order_relaxed);
    if (state != kYielded) continue;
    yielded = true;
    lane->state.store(kRunning, std::memory_order_relaxed);
  }
  if (yielded || waiting == nullptr) {
    core_.launch->yield(core_);
    return;
  }
  symm_wait any = *waiting;
  any.poll = any_ready;
  any.argument = this;
  (void)core_.launch->wait(core_, any);
}

// After a failure: every suspended lane throws where it stands.
void LaneGroup::unwind() {
  while (!live_.empty()) {
    if (resume(*live_.back())) {
      memories_.push_back(live_.back()->memory);
      live_.pop_back();
    }
  }
}

bool LaneGroup::resume(Lane& lane) {
  current_.store(&lane, std::memory_order_relaxed);
  select(&lane);
  const bool ended = lane.fiber.resume();
  current_.store(nullptr, std::memory_order_relaxed);
  // acquire: what the lane did; pairs with lane_main.
  if (ended) (void)lane.state.load(std::memory_order_acquire);
  return ended;
}

void LaneGroup::entry(void* argument) {
  auto* lane = static_cast<Lane*>(argument);
  (void)lane->state.load(std::memory_order_acquire);  // pairs with start_all
  lane->group->lane_main(*lane);
}

void LaneGroup::lane_main(Lane& lane) {
  try {
    run_(argument_);
  } catch (...) {
    // The first failure counts; the lanes that unwind because of it bring their own marker.
    if (!unwinding_.exchange(true, std::memory_order_acq_rel)) failure_ = std::current_exception();
  }
  const uint32_t left = unfinished_.fetch_sub(1, std::memory_order_acq_rel) - 1;
  // A lane that has ended is no party of the barrier any more.
  if (left != 0 && arrived_.load(std::memory_order_acquire) == left) {
    arrived_.store(0, std::memory_order_relaxed);
    generation_.fetch_add(1, std::memory_order_release);
  }
  // release: what the lane did, for the core.
  lane.state.store(kEnded, std::memory_order_release);
}

void LaneGroup::suspend(Lane& lane, State state) {
  lane.state.store(state, std::memory_order_relaxed);
  lane.fiber.suspend();
  lane.state.store(kRunning, std::memory_order_relaxed);
  if (unwinding_.load(std::memory_order_acquire) && std::uncaught_exceptions() == 0)
    throw KernelUnwind{};
}

int LaneGroup::wait(const symm_wait& wait) {
  Lane& lane = *current_.load(std::memory_order_relaxed);
  while (wait.poll(wait.argument) == 0) {
    if (unwinding_.load(std::memory_order_relaxed)) return SYMM_WAIT_PEER_LOST;
    lane.wait.store(&wait, std::memory_order_relaxed);
    suspend(lane, kWaiting);
  }
  return SYMM_WAIT_DONE;
}

void LaneGroup::yield() { suspend(*current_.load(std::memory_order_relaxed), kYielded); }

void LaneGroup::barrier() {
  Lane& lane = *current_.load(std::memory_order_relaxed);
  // acquire: the previous barrier is complete.
  const uint64_t mine = generation_.load(std::memory_order_acquire);
  // acq_rel: the last lane gathers what the others did.
  if (arrived_.fetch_add(1, std::memory_order_acq_rel) + 1 ==
      unfinished_.load(std::memory_order_acquire)) {
    arrived_.store(0, std::memory_order_relaxed);
    generation_.store(mine + 1, std::memory_order_release);
    return;
  }
  lane.generation.store(mine, std::memory_order_relaxed);
  while (generation_.load(std::memory_order_acquire) == mine) suspend(lane, kBarrier);
}

void* LaneGroup::shared(const void* key, uint64_t bytes) {
  std::lock_guard lock(shared_mutex_);
  std::unique_ptr<uint8_t[]>& memory = shared_[key];
  if (memory == nullptr) memory = std::make_unique<uint8_t[]>(bytes);
  return memory.get();
}

}  // namespace symm::runtime
