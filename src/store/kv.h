// Kv: the key-value table of the store as a state machine, with waiters for keys that do not exist
// yet. Pure: no I/O, no clock, no locks. Threads: one at a time, the owner serialises.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "base/status.h"
#include "store/rounds.h"

namespace symm::store {

class Kv {
 public:
  // Bound on the memory that clients can make the table hold: keys and values, with a fixed charge
  // per entry.
  static constexpr size_t kMaxBytes = size_t{256} << 20;
  static constexpr size_t kEntryCharge = 128;
  static constexpr size_t kMaxWaiters = 65536;

  struct Wakeup {
    uint64_t ticket = 0;
    std::optional<std::string> value;  // none: the time is over
  };
  using Wakeups = std::vector<Wakeup>;

  explicit Kv(size_t max_bytes = kMaxBytes) : max_bytes_(max_bytes) {}

  // Changes wake the waiters of the key.
  Status set(const std::string& key, std::string value, Wakeups& out);
  // Adds to a decimal number (an absent key counts as 0); the new value.
  Result<int64_t> add(const std::string& key, int64_t delta, Wakeups& out);
  // The new length.
  Result<size_t> append(const std::string& key, const std::string& tail, Wakeups& out);
  // Replaces when the present value is `expected` (empty: absent). The value found before, none if
  // absent.
  Result<std::optional<std::string>> compare_and_swap(const std::string& key,
                                                      const std::string& expected,
                                                      std::string value, Wakeups& out);
  bool remove(const std::string& key);
  const std::string* find(const std::string& key) const;

  // Registers a waiter for an absent key. No deadline: until the key appears or the owner forgets
  // the ticket.
  Status wait(const std::string& key, uint64_t ticket, std::optional<Clock::time_point> deadline);
  void forget(uint64_t ticket);
  std::optional<Clock::time_point> next_deadline() const;
  void expire(Clock::time_point now, Wakeups& out);
  // All waiters, removed; for an owner that fails them.
  std::vector<uint64_t> take_waiters();

 private:
  struct Waiter {
    std::string key;
    uint64_t ticket;
    std::optional<Clock::time_point> deadline;
  };
  Status store(const std::string& key, std::string value, Wakeups& out);

  const size_t max_bytes_;
  size_t used_ = 0;
  std::unordered_map<std::string, std::string> table_;
  std::vector<Waiter> waiters_;
};

}  // namespace symm::store
