#include "os/wait.h"

#include <linux/futex.h>
#include <sched.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <climits>

#include "base/log.h"
#include "base/trace.h"
#include "os/ticks.h"

namespace symm::os {
namespace {

// Longer than the wake-up of a sleeper (17 to 75 us measured): with less, two PEs that once slept
// never meet spinning again, since each gives up before the other is awake.
constexpr uint64_t kSpinUs = 120;
constexpr uint64_t kFirstYieldUs = 2;  // of spinning; then twice as long each
constexpr uint32_t kYields = 10;
constexpr uint64_t kSlowYieldUs = 300;
// Waits without yields after one that gave the processor to a hog; twice as many each time, until a
// yield is quick.
constexpr uint32_t kFewestWaitsWithoutYield = 256;
constexpr uint32_t kMostWaitsWithoutYield = 8192;
constexpr uint32_t kFirstSleepUs = 1000;
constexpr uint32_t kLongestSleepUs = 10000;
constexpr uint32_t kFirstNapUs = 50;
constexpr uint32_t kLongestNapUs = 200;

// Waits of this thread that skip the yields, and how many it will be after the next slow one.
thread_local uint32_t t_no_yield = 0;
thread_local uint32_t t_next_no_yield = kFewestWaitsWithoutYield;

uint64_t measure_ticks_per_us() {
#if defined(__aarch64__)
  uint64_t hertz;
  asm volatile("mrs %0, cntfrq_el0" : "=r"(hertz));
  return std::max<uint64_t>(1, hertz / 1000000);
#else
  using Clock = std::chrono::steady_clock;
  auto start = Clock::now();
  uint64_t from = ticks();
  auto now = start;
  // 20 us give an error below 1 %, enough for a spin budget.
  while (now - start < std::chrono::microseconds(20)) now = Clock::now();
  uint64_t passed = ticks() - from;
  auto ns = std::chrono::duration_cast<std::chrono::nanoseconds>(now - start).count();
  return std::max<uint64_t>(1, passed * 1000 / static_cast<uint64_t>(ns));
#endif
}

timespec span_of(uint32_t us) {
  return {static_cast<time_t>(us / 1000000), static_cast<long>(us % 1000000) * 1000};
}

void wake(symm_event_count& events) {
  // release: a waiter that sees the new seq also sees the value stored before.
  std::atomic_ref<uint32_t>(events.seq).fetch_add(1, std::memory_order_release);
  ::syscall(SYS_futex, &events.seq, FUTEX_WAKE, INT_MAX, nullptr, nullptr, 0);
}

}  // namespace

uint64_t ticks_per_us() {
  static const uint64_t rate = measure_ticks_per_us();
  return rate;
}

void notify(symm_event_count& events) {
  std::atomic_ref<uint32_t> waiters(events.waiters);
#if defined(__SANITIZE_THREAD__)
  // ThreadSanitizer does not know fences; a read-modify-write has the same effect here.
  if (waiters.fetch_add(0, std::memory_order_seq_cst) != 0) wake(events);
#else
  // seq_cst: orders the caller's store before the load of waiters; see symm_wait_abi.h.
  std::atomic_thread_fence(std::memory_order_seq_cst);
  // relaxed: the fence does the ordering.
  if (waiters.load(std::memory_order_relaxed) != 0) wake(events);
#endif
}

void notify_after_rmw(symm_event_count& events) {
  // seq_cst: after the caller's seq_cst read-modify-write, so one of writer and waiter sees the
  // other.
  if (std::atomic_ref<uint32_t>(events.waiters).load(std::memory_order_seq_cst) != 0) wake(events);
}

uint32_t Sleeper::prepare() {
  if (events_ == nullptr) return 0;
  // seq_cst: orders the registration before the caller's second check of its condition.
  std::atomic_ref<uint32_t>(events_->waiters).fetch_add(1, std::memory_order_seq_cst);
  // acquire: pairs with the release of wake(); seeing a new seq means seeing the value.
  return std::atomic_ref<uint32_t>(events_->seq).load(std::memory_order_acquire);
}

void Sleeper::cancel() {
  // relaxed: a late writer only wakes once too often.
  if (events_ != nullptr) {
    std::atomic_ref<uint32_t>(events_->waiters).fetch_sub(1, std::memory_order_relaxed);
  }
}

void Sleeper::sleep(uint32_t seen, uint32_t limit_us) {
  timespec span = span_of(limit_us);
  if (events_ == nullptr) {
    ::nanosleep(&span, nullptr);
    return;
  }
  // Shared futex: the word may be in memory of several processes. Every result (woken, changed,
  // time over, signal) means the same to the caller: look again.
  ::syscall(SYS_futex, &events_->seq, FUTEX_WAIT, seen, &span, nullptr, 0);
  cancel();
}

Backoff::Backoff(bool with_events, bool may_spin) : with_events_(with_events), may_spin_(may_spin) {
  reset();
}

void Backoff::reset() {
  limit_us_ = with_events_ ? kFirstSleepUs : kFirstNapUs;
  const uint64_t now = may_spin_ ? ticks() : 0;
  spin_until_ = may_spin_ ? now + kSpinUs * ticks_per_us() : 0;
  spin_length_ = kFirstYieldUs * ticks_per_us();
  yield_at_ = now + spin_length_;
  if (t_no_yield > 0) {
    --t_no_yield;
    yields_left_ = 0;
  } else {
    yields_left_ = kYields;
  }
}

void Backoff::step() {
  if (spin_until_ != 0) {
    pause();
    const uint64_t now = ticks();
    if (now >= spin_until_) spin_until_ = 0;
    // The scheduler may have put the one we wait for on our own processor.
    if (now < yield_at_ || yields_left_ == 0) return;
    yield();
    spin_length_ *= 2;
    yield_at_ = ticks() + spin_length_;
    return;
  }
  if (yields_left_ > 0) yield();
}

void Backoff::yield() {
  const uint64_t before = ticks();
  ::sched_yield();
  --yields_left_;
  if (ticks() - before > kSlowYieldUs * ticks_per_us()) {
    yields_left_ = 0;
    t_no_yield = t_next_no_yield;
    t_next_no_yield = std::min(2 * t_next_no_yield, kMostWaitsWithoutYield);
  } else {
    t_next_no_yield = kFewestWaitsWithoutYield;
  }
}

void Backoff::slept() {
  limit_us_ = std::min(2 * limit_us_, with_events_ ? kLongestSleepUs : kLongestNapUs);
}

Status wait(const symm_wait& wait) {
  if (wait.poll(wait.argument)) return {};
  trace::Span span("wait", wait.call, -1, {wait.peer, -1});
  const symm_wait_domain* domain = wait.domain;
  symm_event_count* events = domain != nullptr ? domain->events : nullptr;
  Backoff backoff(events != nullptr, domain != nullptr && domain->may_spin != 0);
  while (!backoff.wants_sleep()) {
    backoff.step();
    if (wait.poll(wait.argument)) return {};
  }
  WaitWatch watch(wait);
  Sleeper sleeper(events);
  while (true) {
    SYMM_TRY(watch.check());
    uint32_t seen = sleeper.prepare();
    if (wait.poll(wait.argument)) {
      sleeper.cancel();
      return {};
    }
    sleeper.sleep(seen, backoff.sleep_limit_us());
    backoff.slept();
    if (wait.poll(wait.argument)) return {};
  }
}

}  // namespace symm::os
