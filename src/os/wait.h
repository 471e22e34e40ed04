// The one way to wait: spin a little when the PEs fit the processors, a few timed yields, then a
// futex with a time limit. Every blocking place of the library uses it. Figures and reasons: module
// README. Threads: any. A wait lives on the waiting thread's stack.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>

#include "base/status.h"
#include "host_device/symm_wait_abi.h"

namespace symm::os {

// Blocks until wait.poll(wait.argument) is true. kPeerLost when the domain's failure word becomes
// non-zero, kTimeout when the limit is over; the text says who waits for what.
Status wait(const symm_wait& wait);

// Wakes the sleepers of an event count; call after the value is visible. Contains the seq_cst
// fence; no system call when nobody sleeps.
void notify(symm_event_count& events);
// The same after a sequentially consistent atomic read-modify-write, which already is the fence.
void notify_after_rmw(symm_event_count& events);

// Sleeps on an event count for at most `limit_us`, unless seq moved since `seen`. For schedulers
// that poll many things: prepare() registers and returns seq, the caller checks its conditions,
// then sleep() or cancel(). A null event count sleeps by time only.
class Sleeper {
 public:
  explicit Sleeper(symm_event_count* events) : events_(events) {}
  uint32_t prepare();
  void cancel();
  void sleep(uint32_t seen, uint32_t limit_us);

 private:
  symm_event_count* events_;
};

// The stages before sleep and the growing limits of sleep, for loops that cannot hand over a poll
// function (the fiber scheduler, workers): after each fruitless pass, step() while wants_sleep() is
// false, else a Sleeper with sleep_limit_us() and then slept().
class Backoff {
 public:
  // with_events: somebody notifies an event count, so sleeps are long (1 to 10 ms); else 50 us to 1
  // ms.
  Backoff(bool with_events, bool may_spin);
  void reset();  // progress was made
  bool wants_sleep() const { return spin_until_ == 0 && yields_left_ == 0; }
  void step();
  uint32_t sleep_limit_us() const { return limit_us_; }
  void slept();

 private:
  void yield();

  bool with_events_;
  bool may_spin_;
  uint32_t yields_left_ = 0;
  uint32_t limit_us_ = 0;
  uint64_t spin_until_ = 0;
  uint64_t yield_at_ = 0;
  uint64_t spin_length_ = 0;
};

// The slow side of one wait: failure word, time limit, report of who waits for what, entry in
// describe_waits(). Costs nothing until the first check(); call check() before every sleep. The
// wait must outlive it.
// Where a wait happens, for messages: text(where) is called while the wait lasts, from any thread.
struct WaitPlace {
  std::string (*text)(const void* where) = nullptr;
  const void* where = nullptr;
};

class WaitWatch {
 public:
  explicit WaitWatch(const symm_wait& wait, WaitPlace place = {}) : wait_(&wait), place_(place) {}
  WaitWatch(const WaitWatch&) = delete;
  WaitWatch& operator=(const WaitWatch&) = delete;
  ~WaitWatch();
  Status check();

 private:
  friend std::string describe_waits();
  using Clock = std::chrono::steady_clock;
  Status timed_out(Clock::duration elapsed) const;
  void report(Clock::duration elapsed);
  std::string description() const;

  const symm_wait* wait_;
  const WaitPlace place_;
  Clock::time_point started_{};  // zero: not checked yet
  Clock::duration report_at_{};  // zero: never
  bool listed_ = false;
  WaitWatch* next_ = nullptr;  // list of describe_waits, under its mutex
  WaitWatch* previous_ = nullptr;
};

// "aclshmem_barrier_all on PE 2: team 0, barrier 7, missing PE 3": from the domain's describe when
// it has one.
std::string describe(const symm_wait& wait);

// A wait for something that is not in memory, such as an answer over a connection, in
// describe_waits() while the object lives.
class NamedWait {
 public:
  explicit NamedWait(std::string what);
  ~NamedWait();
  NamedWait(const NamedWait&) = delete;
  NamedWait& operator=(const NamedWait&) = delete;

 private:
  friend std::string describe_waits();
  const std::string what_;
  const std::chrono::steady_clock::time_point started_ = std::chrono::steady_clock::now();
  NamedWait* next_ = nullptr;  // list of describe_waits, under its mutex
  NamedWait* previous_ = nullptr;
};

// Who waits for what in this process, one line per wait that is past its first millisecond. Takes a
// mutex: not for signal handlers.
std::string describe_waits();

}  // namespace symm::os
