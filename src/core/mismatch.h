// Finding collective calls that can never match: this PE is blocked in one, another PE is blocked
// in another one, and each needs the other to come. Blocked PEs say so in their control pages; a
// waiter that sees the same picture for a second tells all PEs, and their calls end with one text.
// Only for barriers of all PEs by host threads, and for PEs that make their collective calls from
// one thread: with several, another thread may still bring the call that is missing. Threads: any.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>

#include "core/sync.h"

namespace symm {

class Instance;

// Says in the own control page in which barrier this PE is blocked, while the object lives.
class Blocked {
 public:
  Blocked(const Instance& instance, const BarrierSpec& spec, uint64_t number);
  ~Blocked();

 private:
  uint64_t* number_;  // null: a stream's barrier, which blocks no thread of the program
};

class MismatchWatch {
 public:
  MismatchWatch(const Instance& instance, const BarrierSpec& spec, uint64_t number)
      : instance_(instance), spec_(spec), number_(number) {}
  // True when a mismatch is certain (all PEs are told then) or another PE has told of one. Cheap:
  // really looks four times a second.
  bool found();

 private:
  using Clock = std::chrono::steady_clock;
  struct Picture {
    int pe = -1;
    uint32_t slot = 0;
    uint64_t number = 0;
    bool operator==(const Picture&) const = default;
  };
  Picture look() const;
  void announce(const Picture& picture) const;

  const Instance& instance_;
  const BarrierSpec& spec_;
  const uint64_t number_;
  uint64_t next_ticks_ = 0;
  Picture seen_;
  Clock::time_point since_{};
};

// Whether a PE has announced a mismatch; one load.
bool has_mismatch(const Instance& instance);
// What it announced; empty when there is nothing.
std::string announced_mismatch(const Instance& instance);
// The same as the control page of another PE says, which must be mapped.
bool has_mismatch(const Instance& instance, int pe);
std::string announced_mismatch(const Instance& instance, int pe);

}  // namespace symm
