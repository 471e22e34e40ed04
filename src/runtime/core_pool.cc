#include "runtime/core_pool.h"

#include <algorithm>
#include <limits>

#include "base/config.h"
#include "base/log.h"
#include "os/cpu.h"
#include "os/thread.h"
#include "os/wait.h"
#include "runtime/fault.h"
#include "runtime/launch.h"
#include "runtime/sanitizers.h"

namespace symm::runtime {
namespace {

constexpr size_t kUbSize = 192 * 1024;
constexpr size_t kUbSizeNewer = 256 * 1024;
constexpr uint32_t kIdleSleepUs = 1000000;
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr size_t kStackFactor = 4;  // instrumented frames are larger
#else
constexpr size_t kStackFactor = 1;
#endif

constexpr size_t kLaneStack = 64 * 1024;

// What the chip of this name has. The arena always has room for the larger one, since kernels are
// compiled for either.
size_t reported_ub_size() {
  return config::text("SHMEM_SOC_NAME").starts_with("Ascend950") ? kUbSizeNewer : kUbSize;
}

}  // namespace

CorePool::CorePool()
    : processors_(os::usable_processors()),
      ub_size_(reported_ub_size()),
      memory_(config::size("SHMEM_KERNEL_STACK") * kStackFactor, kUbSizeNewer),
      lane_memory_(kLaneStack * kStackFactor, 0) {
  watch_faults();
  set_local_pes(0);
  std::string threads = config::text("SHMEM_KERNEL_THREADS");
  thread_per_core_ = threads == "core";
  if (threads.empty() || threads == "auto" || threads == "core") return;
  auto count = config::parse_integer(threads, 1, 4096);
  if (count.ok()) {
    fixed_workers_ = static_cast<uint32_t>(count.value());
  } else {
    SYMM_LOG(kError,
             "SHMEM_KERNEL_THREADS={}: use auto, core, or a number from 1 to 4096; auto counts",
             threads);
  }
}

void CorePool::set_local_pes(int count) {
  if (count <= 0) count = static_cast<int>(config::integer("SHMEM_LOCAL_PES"));
  // relaxed: a launch may use the old or the new number.
  local_pes_.store(std::max(1, count), std::memory_order_relaxed);
}

uint32_t CorePool::workers_per_launch() const {
  if (thread_per_core_) return std::numeric_limits<uint32_t>::max();
  if (fixed_workers_ != 0) return fixed_workers_;
  return static_cast<uint32_t>(
      std::max(1, processors_ / local_pes_.load(std::memory_order_relaxed)));
}

bool CorePool::may_spin() const {
  return local_pes_.load(std::memory_order_relaxed) <= processors_ && !thread_per_core_;
}

bool CorePool::invite(const std::shared_ptr<Launch>& launch, uint32_t workers) {
  for (uint32_t index = 1; index < workers; ++index) {
    Helper* helper = nullptr;
    {
      std::lock_guard lock(mutex_);
      if (!idle_.empty()) {
        helper = idle_.back();
        idle_.pop_back();
      }
    }
    bool fresh = helper == nullptr;
    if (fresh) helper = new Helper;
    helper->launch = launch;
    helper->index = index;
    // release: launch and index, for the helper.
    helper->called.store(true, std::memory_order_release);
    os::notify(helper->events);
    if (!fresh) continue;
    auto thread = os::start_thread("acl-core", [this, helper] { helper_main(helper); });
    if (!thread.ok()) {
      SYMM_LOG(kWarn, "{}; the launch goes on with {} threads", thread.status().text(), index);
      delete helper;
      return false;
    }
    thread.value().detach();
  }
  return true;
}

void CorePool::helper_main(Helper* helper) {
  while (true) {
    os::Backoff backoff(true, may_spin());
    // acquire: pairs with invite().
    while (!helper->called.load(std::memory_order_acquire)) {
      if (!backoff.wants_sleep()) {
        backoff.step();
        continue;
      }
      os::Sleeper sleeper(&helper->events);
      uint32_t seen = sleeper.prepare();
      if (helper->called.load(std::memory_order_acquire)) {
        sleeper.cancel();
      } else {
        // Everyone who calls also notifies; the limit only bounds a mistake.
        sleeper.sleep(seen, kIdleSleepUs);
      }
    }
    helper->called.store(false, std::memory_order_relaxed);
    helper->launch->work(helper->index);
    helper->launch.reset();
    std::lock_guard lock(mutex_);
    idle_.push_back(helper);
  }
}

}  // namespace symm::runtime
