// Rounds: the state machine of collective steps (barrier and allgather) over all PEs of a job.
// Pure: no I/O, no clock, no locks; the store server and the in-memory store drive it and deliver
// the outcomes. The n-th step of every PE belongs together. A step fails for all PEs at once: when
// kinds, names or sizes differ, when the time of one waiter is over, when a PE is lost or has said
// goodbye. PEs that come late get the same failure. Threads: one at a time, the owner serialises.
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/status.h"

namespace symm::store {

using Clock = std::chrono::steady_clock;

// "PE 3" or "PEs 0, 2-5, 9"; at most 16 ranges, then "and N more". Expects ascending numbers.
std::string format_pes(const std::vector<int>& pes);

class Rounds {
 public:
  enum class Kind : uint8_t { kBarrier = 0, kAllgather = 1 };

  struct Entry {
    int pe = 0;
    uint64_t ticket = 0;  // chosen by the owner, comes back in the outcome
    Kind kind = Kind::kBarrier;
    std::string what;  // names the step in messages; must be equal on all PEs
    std::string data;  // contribution to an allgather; equal size on all PEs
    std::chrono::milliseconds limit{0};
    Clock::time_point now;
  };
  struct Outcome {
    uint64_t ticket = 0;
    Code code = Code::kOk;
    std::string text;  // of a failure
    std::shared_ptr<const std::string>
        payload;  // of an allgather, in PE order; shared by all receivers
  };
  using Outcomes = std::vector<Outcome>;

  // An allgather whose result would be larger is refused.
  static constexpr size_t kMaxResult = size_t{64} << 20;

  explicit Rounds(int n_pes);

  void join(int pe);  // pe is connected; only changes messages
  void enter(Entry entry, Outcomes& out);
  // The PE is dead: every step that lacks it, now or later, fails with kPeerLost.
  void lose(int pe, const std::string& why, Outcomes& out);
  // The PE has said goodbye: every step that lacks it fails.
  void leave(int pe, Outcomes& out);
  // Nothing can succeed any more: fails all steps, now and later.
  void break_all(Code code, const std::string& text, Outcomes& out);

  // Somebody was turned away before it was a member; whoever never connects may be the one. The
  // first few reasons are kept, the others counted.
  void note_refusal(const std::string& who, const std::string& why);

  // Steps that are open for `span` are reported, and again at doubling intervals; 0: never.
  void set_report_after(std::chrono::milliseconds span) { report_after_ = span; }
  struct Report {
    std::vector<int> waiting;  // the PEs that are in the step
    std::string text;
  };
  // What is to be said now to the PEs that wait: in which step, since when, for whom, and how long
  // they still have.
  std::vector<Report> take_reports(Clock::time_point now);

  // The next time at which expire() or take_reports() has something to do.
  std::optional<Clock::time_point> next_deadline() const;
  void expire(Clock::time_point now, Outcomes& out);

 private:
  enum class Presence : uint8_t { kAbsent, kJoined, kLeft, kLost };
  struct Waiter {
    int pe;
    uint64_t ticket;
    Clock::time_point deadline;
    std::chrono::milliseconds limit;
  };
  struct Round {
    Kind kind = Kind::kBarrier;
    std::string what;
    size_t size = 0;
    Clock::time_point earliest = Clock::time_point::max();  // deadline of the least patient waiter
    Clock::time_point opened;
    Clock::time_point report = Clock::time_point::max();  // when to say that it waits
    std::vector<Waiter> waiters;
    std::vector<std::string> data;  // by PE; only of an allgather
  };
  struct Failure {
    Code code = Code::kOk;
    std::string text;
  };

  static std::string describe(Kind kind, const std::string& what);
  std::optional<Failure> mismatch(const Round& round, const Entry& entry) const;
  std::optional<Failure> unreachable(uint64_t number) const;
  void fail(uint64_t number, const Failure& failure, Outcomes& out);
  void fail_if_unreachable(Outcomes& out);
  void complete(uint64_t number, Outcomes& out);
  std::string missing_text(const Round& round) const;
  std::string refusals_text() const;

  const int n_pes_;
  std::vector<uint64_t> entered_;  // steps each PE has entered
  std::vector<Presence> presence_;
  int left_ = 0;  // PEs that said goodbye
  std::map<uint64_t, Round> open_;
  std::map<uint64_t, Failure> failed_;  // for PEs that come late; the newest kMaxFailures
  std::optional<Failure> broken_;
  std::map<int, std::string> lost_why_;
  std::chrono::milliseconds report_after_{0};
  struct Refusal {
    std::string who;
    std::string why;
    int count = 0;
  };
  int refusals_ = 0;
  std::vector<Refusal> refused_;  // at most kMaxReasons, one per reason
};

}  // namespace symm::store
