#include "store/rounds.h"

#include <algorithm>

namespace symm::store {
namespace {

constexpr size_t kMaxFailures = 128;
constexpr size_t kMaxRanges = 16;
constexpr size_t kMaxReasons = 6;

// Limits that are what is left of a larger one look odd with all their digits.
std::string seconds_text(std::chrono::milliseconds limit) {
  double seconds = static_cast<double>(limit.count()) / 1000;
  return seconds < 10 ? fmt::format("{:.3g}", seconds) : fmt::format("{:.0f}", seconds);
}

}  // namespace

std::string format_pes(const std::vector<int>& pes) {
  std::string text;
  size_t ranges = 0;
  for (size_t i = 0; i < pes.size();) {
    size_t end = i + 1;
    while (end < pes.size() && pes[end] == pes[end - 1] + 1) ++end;
    if (ranges == kMaxRanges) {
      return fmt::format("PEs {} and {} more", text, pes.size() - i);
    }
    if (ranges++ > 0) text += ", ";
    text += end - i == 1 ? fmt::format("{}", pes[i]) : fmt::format("{}-{}", pes[i], pes[end - 1]);
    i = end;
  }
  return fmt::format("{} {}", pes.size() == 1 ? "PE" : "PEs", text);
}

Rounds::Rounds(int n_pes)
    : n_pes_(n_pes), entered_(n_pes, 0), presence_(n_pes, Presence::kAbsent) {}

std::string Rounds::describe(Kind kind, const std::string& what) {
  return fmt::format("{} '{}'", kind == Kind::kBarrier ? "barrier" : "allgather", what);
}

void Rounds::join(int pe) {
  if (presence_[pe] == Presence::kAbsent) presence_[pe] = Presence::kJoined;
}

std::optional<Rounds::Failure> Rounds::mismatch(const Round& round, const Entry& entry) const {
  int first = round.waiters.front().pe;
  if (round.kind != entry.kind || round.what != entry.what) {
    return Failure{
        Code::kInternal,
        fmt::format("collective mismatch: PE {} is in {} while PE {} is in {}; all PEs must "
                    "make the same calls in the same order",
                    entry.pe, describe(entry.kind, entry.what), first,
                    describe(round.kind, round.what))};
  }
  if (round.size != entry.data.size()) {
    return Failure{Code::kInternal, fmt::format("{}: PE {} brings {} bytes, PE {} brings {} bytes",
                                                describe(entry.kind, entry.what), entry.pe,
                                                entry.data.size(), first, round.size)};
  }
  return std::nullopt;
}

// Why step `number` can never be complete, if so: a PE that has not entered it is lost or gone.
std::optional<Rounds::Failure> Rounds::unreachable(uint64_t number) const {
  if (broken_) return broken_;
  for (const auto& [pe, why] : lost_why_) {
    if (entered_[pe] < number) return Failure{Code::kPeerLost, why};
  }
  for (int pe = 0; left_ > 0 && pe < n_pes_; ++pe) {
    if (presence_[pe] == Presence::kLeft && entered_[pe] < number) {
      return Failure{Code::kInternal,
                     fmt::format("PE {} has already finalized and cannot take part", pe)};
    }
  }
  return std::nullopt;
}

void Rounds::enter(Entry entry, Outcomes& out) {
  uint64_t number = ++entered_[entry.pe];
  if (auto late = failed_.find(number); late != failed_.end()) {
    out.push_back({entry.ticket, late->second.code, late->second.text, nullptr});
    return;
  }
  if (entry.kind == Kind::kAllgather && entry.data.size() > kMaxResult / n_pes_) {
    out.push_back(
        {entry.ticket, Code::kInvalidValue,
         fmt::format("{}: {} bytes from each of {} PEs is more than {} bytes in all",
                     describe(entry.kind, entry.what), entry.data.size(), n_pes_, kMaxResult),
         nullptr});
    return;
  }
  Round& round = open_[number];
  std::optional<Failure> failure;
  if (round.waiters.empty()) {
    round.kind = entry.kind;
    round.what = entry.what;
    round.size = entry.data.size();
    round.opened = entry.now;
    if (report_after_.count() > 0) round.report = entry.now + report_after_;
    if (entry.kind == Kind::kAllgather) round.data.resize(n_pes_);
  } else {
    failure = mismatch(round, entry);
  }
  round.waiters.push_back({entry.pe, entry.ticket, entry.now + entry.limit, entry.limit});
  round.earliest = std::min(round.earliest, entry.now + entry.limit);
  if (!failure) failure = unreachable(number);
  if (failure) {
    fail(number, *failure, out);
    return;
  }
  if (round.kind == Kind::kAllgather) round.data[entry.pe] = std::move(entry.data);
  if (round.waiters.size() == static_cast<size_t>(n_pes_)) complete(number, out);
}

void Rounds::complete(uint64_t number, Outcomes& out) {
  auto node = open_.extract(number);
  Round& round = node.mapped();
  auto payload = std::make_shared<std::string>();
  if (round.kind == Kind::kAllgather) {
    payload->reserve(round.size * n_pes_);
    for (const std::string& part : round.data) payload->append(part);
  }
  for (const Waiter& waiter : round.waiters) out.push_back({waiter.ticket, Code::kOk, "", payload});
}

void Rounds::fail(uint64_t number, const Failure& failure, Outcomes& out) {
  auto node = open_.extract(number);
  if (node.empty()) return;
  for (const Waiter& waiter : node.mapped().waiters) {
    out.push_back({waiter.ticket, failure.code, failure.text, nullptr});
  }
  failed_[number] = failure;
  if (failed_.size() > kMaxFailures) failed_.erase(failed_.begin());
}

void Rounds::fail_if_unreachable(Outcomes& out) {
  std::vector<uint64_t> numbers;
  for (const auto& [number, round] : open_) numbers.push_back(number);
  for (uint64_t number : numbers) {
    if (auto failure = unreachable(number)) fail(number, *failure, out);
  }
}

void Rounds::lose(int pe, const std::string& why, Outcomes& out) {
  presence_[pe] = Presence::kLost;
  lost_why_.emplace(pe, why);
  fail_if_unreachable(out);
}

void Rounds::leave(int pe, Outcomes& out) {
  presence_[pe] = Presence::kLeft;
  ++left_;
  fail_if_unreachable(out);
}

void Rounds::break_all(Code code, const std::string& text, Outcomes& out) {
  if (!broken_) broken_ = Failure{code, text};
  fail_if_unreachable(out);
}

std::optional<Clock::time_point> Rounds::next_deadline() const {
  std::optional<Clock::time_point> next;
  for (const auto& [number, round] : open_) {
    const Clock::time_point first = std::min(round.earliest, round.report);
    if (!next || first < *next) next = first;
  }
  return next;
}

std::string Rounds::missing_text(const Round& round) const {
  std::vector<bool> here(n_pes_, false);
  for (const Waiter& waiter : round.waiters) here[waiter.pe] = true;
  std::vector<int> absent;
  std::vector<int> slow;
  for (int pe = 0; pe < n_pes_; ++pe) {
    if (here[pe]) continue;
    (presence_[pe] == Presence::kAbsent ? absent : slow).push_back(pe);
  }
  std::string text;
  if (!absent.empty()) {
    text = fmt::format("{} never connected", format_pes(absent));
    text += refusals_text();
  }
  if (!slow.empty()) {
    if (!text.empty()) text += "; ";
    text += fmt::format("{} connected but did not arrive", format_pes(slow));
  }
  return text;
}

void Rounds::note_refusal(const std::string& who, const std::string& why) {
  ++refusals_;
  for (Refusal& one : refused_) {
    if (one.why != why) continue;
    ++one.count;
    return;
  }
  if (refused_.size() < kMaxReasons) refused_.push_back({who, why, 1});
}

std::string Rounds::refusals_text() const {
  if (refusals_ == 0) return "";
  std::string text;
  int named = 0;
  for (const Refusal& one : refused_) {
    named += one.count;
    text += fmt::format("{}from {}: {}", text.empty() ? "" : "; ", one.who, one.why);
    if (one.count > 1) text += fmt::format(" ({} times)", one.count);
  }
  if (named < refusals_) text += fmt::format("; {} more", refusals_ - named);
  return fmt::format(" ({} refused or broken connection{}: {})", refusals_,
                     refusals_ == 1 ? "" : "s", text);
}

std::vector<Rounds::Report> Rounds::take_reports(Clock::time_point now) {
  using std::chrono::duration_cast;
  using std::chrono::seconds;
  std::vector<Report> reports;
  for (auto& [number, round] : open_) {
    if (round.report > now) continue;
    const auto since = now - round.opened;
    round.report = now + since;
    const auto connected = std::count_if(presence_.begin(), presence_.end(),
                                         [](Presence one) { return one != Presence::kAbsent; });
    Report report;
    for (const Waiter& waiter : round.waiters) report.waiting.push_back(waiter.pe);
    report.text = fmt::format(
        "waits for {} s in {}: {} of {} PEs connected, {} of them here; {}; "
        "{} s left",
        duration_cast<seconds>(since).count(), describe(round.kind, round.what), connected, n_pes_,
        round.waiters.size(), missing_text(round),
        duration_cast<seconds>(round.earliest - now).count());
    reports.push_back(std::move(report));
  }
  return reports;
}

void Rounds::expire(Clock::time_point now, Outcomes& out) {
  std::vector<std::pair<uint64_t, Failure>> over;
  for (const auto& [number, round] : open_) {
    if (round.earliest > now) continue;
    auto late = std::find_if(round.waiters.begin(), round.waiters.end(),
                             [&](const Waiter& waiter) { return waiter.deadline <= now; });
    if (late == round.waiters.end()) continue;  // cannot be: earliest is one of them
    over.emplace_back(
        number, Failure{Code::kSmem,
                        fmt::format("{}: time limit of {} s of PE {} is over: {}",
                                    describe(round.kind, round.what), seconds_text(late->limit),
                                    late->pe, missing_text(round))});
  }
  for (const auto& [number, failure] : over) fail(number, failure, out);
}

}  // namespace symm::store
