// The one way to wait: spin a little when the PEs fit the processors, a few timed yields, then a futex with a time
// limit. Every blocking place of the library uses it. Figures and reasons: module README.
// Threads: any. A wait lives on the waiting thread's stack.
#pragma once

#include <cstdint>

#include "base/status.h"
#include "host_device/symm_wait_abi.h"

namespace symm::os {

// Blocks until wait.poll(wait.argument) is true. kPeerLost when the domain's failure word becomes non-zero, kTimeout when
// the limit is over; the text says who waits for what.
Status wait(const symm_wait& wait);

// Wakes the sleepers of an event count; call after the value is visible. Contains the seq_cst fence; no system call when
// nobody sleeps.
void notify(symm_event_count& events);
// The same after an atomic read-modify-write, which already is the fence.
void notify_after_rmw(symm_event_count& events);

// Sleeps on an event count for at most `limit_us`, unless seq moved since `seen`. For schedulers that poll many things:
// prepare() registers and returns seq, the caller checks its conditions, then sleep() or cancel().
class Sleeper {
 public:
  explicit Sleeper(symm_event_count* events) : events_(events) {}
  uint32_t prepare();
  void cancel();
  void sleep(uint32_t seen, uint32_t limit_us);

 private:
  symm_event_count* events_;
};

// Who waits for what in this process, one line per wait that is past its first millisecond. For SIGUSR1 and time-outs.
std::string describe_waits();

// The policy's stages as a small value, for loops that cannot hand over a poll function (the fiber scheduler): call
// step() after each fruitless pass; it spins, yields or sleeps and returns the microseconds slept (0 if it did not).
class Backoff {
 public:
  Backoff(symm_event_count* events, bool may_spin);
  void reset();  // progress was made
  // True when the next step would sleep: the caller then uses Sleeper with its own recheck.
  bool wants_sleep() const;
  void step();
  uint32_t sleep_limit_us() const;  // 1 ms growing to 10 ms
  void slept();

 private:
  symm_event_count* events_;
  bool may_spin_;
  uint64_t spin_until_ = 0;
  uint32_t yields_ = 0;
  uint32_t sleeps_ = 0;
};

}  // namespace symm::os
