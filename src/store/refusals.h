// Refusals: what the server of a job remembers and tells about connections that it turned away: a
// line in the log and in the audit log at a bounded rate, and a bounded list in which every reason
// has a place of its own, so that strays cannot push out the one that matters. Threads: one at a
// time, the server's.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "store/rounds.h"

namespace symm::store {

struct Refusal {
  std::string peer;  // address, and PE as far as it was known; the first one with this reason
  std::string why;
  uint64_t count = 0;
};

class Refusals {
 public:
  static constexpr size_t kMaxKept = 32;  // reasons; further ones are only counted
  static constexpr int kLinesPerSecond = 5;

  void add(const std::string& peer, const std::string& why, Clock::time_point now = Clock::now());
  // Writes how many were left out of the log so far; at the end, or when a second is over.
  void flush();

  const std::vector<Refusal>& kept() const { return kept_; }
  uint64_t total() const { return total_; }

 private:
  void remember(const std::string& peer, const std::string& why);

  std::vector<Refusal> kept_;
  uint64_t total_ = 0;
  Clock::time_point window_{};
  int lines_ = kLinesPerSecond;
  uint64_t left_out_ = 0;
};

}  // namespace symm::store
