// Deadline: a point on the monotonic clock, or never. Time limits are wall-clock seconds
// everywhere.
#pragma once

#include <algorithm>
#include <chrono>

namespace symm {

class Deadline {
 public:
  using Clock = std::chrono::steady_clock;
  static Deadline never() { return Deadline(Clock::time_point::max()); }
  static Deadline after(std::chrono::milliseconds span) { return Deadline(Clock::now() + span); }
  static Deadline after_seconds(double seconds) {
    return Deadline(Clock::now() + std::chrono::duration_cast<Clock::duration>(
                                       std::chrono::duration<double>(seconds)));
  }

  bool is_never() const { return at_ == Clock::time_point::max(); }
  bool expired() const { return !is_never() && Clock::now() >= at_; }
  Clock::time_point at() const { return at_; }
  // Time left, never negative; a very long time when there is no limit.
  std::chrono::milliseconds left() const {
    if (is_never()) return std::chrono::hours(24 * 365);
    auto rest = std::chrono::ceil<std::chrono::milliseconds>(at_ - Clock::now());
    return std::max(rest, std::chrono::milliseconds(0));
  }

 private:
  explicit Deadline(Clock::time_point at) : at_(at) {}
  Clock::time_point at_;
};

}  // namespace symm
