// What a wait does when it takes long: failure, time limit, report, list of active waits.
#include <atomic>
#include <mutex>

#include "base/config.h"
#include "base/log.h"
#include "os/wait.h"

namespace symm::os {
namespace {

using std::chrono::duration_cast;
using std::chrono::milliseconds;

struct WatchList {
  std::mutex mutex;
  WaitWatch* first = nullptr;
  NamedWait* first_named = nullptr;
};

// Never destroyed: threads may wait while the process exits.
WatchList& watch_list() {
  static auto* list = new WatchList;
  return *list;
}

double seconds_of(std::chrono::steady_clock::duration span) {
  return std::chrono::duration<double>(span).count();
}

uint64_t limit_ms(const symm_wait& wait) {
  if (wait.timeout_ms != 0) return wait.timeout_ms;
  return wait.domain != nullptr ? wait.domain->timeout_ms : 0;
}

}  // namespace

std::string describe(const symm_wait& wait) {
  const symm_wait_domain* domain = wait.domain;
  std::string text = wait.call != nullptr ? wait.call : "wait";
  if (domain != nullptr && domain->pe >= 0) text += fmt::format(" on PE {}", domain->pe);
  if (domain != nullptr && domain->describe != nullptr) {
    char detail[512] = {};
    domain->describe(&wait, detail, sizeof detail);
    return fmt::format("{}: {}", text, detail);
  }
  std::string detail;
  if (wait.team >= 0) detail += fmt::format(", team {}", wait.team);
  if (wait.peer >= 0) detail += fmt::format(", for PE {}", wait.peer);
  if (wait.address != nullptr) {
    detail += fmt::format(", at {} for value {}", wait.address, wait.wanted);
  } else if (wait.kind == SYMM_WAIT_KIND_BARRIER) {
    detail += fmt::format(", barrier {}", wait.wanted);
  }
  if (detail.empty()) return text;
  return fmt::format("{}: {}", text, detail.substr(2));
}

WaitWatch::~WaitWatch() {
  if (!listed_) return;
  WatchList& list = watch_list();
  std::lock_guard lock(list.mutex);
  if (next_ != nullptr) next_->previous_ = previous_;
  (previous_ != nullptr ? previous_->next_ : list.first) = next_;
}

Status WaitWatch::check() {
  const symm_wait_domain* domain = wait_->domain;
  // acquire: pairs with the store of whoever declared the failure, whose reason why() reads.
  if (domain != nullptr && domain->failure != nullptr &&
      __atomic_load_n(domain->failure, __ATOMIC_ACQUIRE) != 0) {
    char reason[512] = "a PE is lost";
    if (domain->why != nullptr) domain->why(domain, reason, sizeof reason);
    return SYMM_ERROR(kPeerLost, "{}; waiting in {}; restart the job", reason, describe(*wait_));
  }
  auto now = Clock::now();
  if (started_ == Clock::time_point{}) {
    started_ = now;
    if (domain != nullptr) {
      report_at_ = milliseconds(domain->report_after_ms);
    } else if (place_.text != nullptr) {
      report_at_ = milliseconds(static_cast<int64_t>(config::seconds("SHMEM_WAIT_REPORT") * 1000));
    }
    return {};
  }
  auto elapsed = now - started_;
  if (!listed_ && elapsed >= milliseconds(1)) {
    WatchList& list = watch_list();
    std::lock_guard lock(list.mutex);
    next_ = list.first;
    if (next_ != nullptr) next_->previous_ = this;
    list.first = this;
    listed_ = true;
  }
  uint64_t limit = limit_ms(*wait_);
  if (limit != 0 && elapsed >= milliseconds(limit)) return timed_out(elapsed);
  if (report_at_ != Clock::duration{} && elapsed >= report_at_) report(elapsed);
  return {};
}

Status WaitWatch::timed_out(Clock::duration elapsed) const {
  const char* cure = wait_->timeout_ms != 0
                         ? "the caller set this limit"
                         : "see that every PE makes the matching call, or raise SHMEM_WAIT_TIMEOUT";
  return SYMM_ERROR(kTimeout, "no answer within {:.3f} s in {}; {}", seconds_of(elapsed),
                    describe(*wait_), cure);
}

std::string WaitWatch::description() const {
  std::string text = describe(*wait_);
  if (place_.text != nullptr) text += ", in " + place_.text(place_.where);
  return text;
}

void WaitWatch::report(Clock::duration elapsed) {
  log::report(fmt::format("waiting for {:.1f} s in {}", seconds_of(elapsed), description()));
  report_at_ *= 2;
}

NamedWait::NamedWait(std::string what) : what_(std::move(what)) {
  WatchList& list = watch_list();
  std::lock_guard lock(list.mutex);
  next_ = list.first_named;
  if (next_ != nullptr) next_->previous_ = this;
  list.first_named = this;
}

NamedWait::~NamedWait() {
  WatchList& list = watch_list();
  std::lock_guard lock(list.mutex);
  if (next_ != nullptr) next_->previous_ = previous_;
  (previous_ != nullptr ? previous_->next_ : list.first_named) = next_;
}

std::string describe_waits() {
  WatchList& list = watch_list();
  std::string text;
  std::lock_guard lock(list.mutex);
  auto now = WaitWatch::Clock::now();
  for (WaitWatch* watch = list.first; watch != nullptr; watch = watch->next_) {
    text += fmt::format("waiting for {:.3f} s in {}\n", seconds_of(now - watch->started_),
                        watch->description());
  }
  for (NamedWait* wait = list.first_named; wait != nullptr; wait = wait->next_) {
    text +=
        fmt::format("waiting for {:.3f} s in {}\n", seconds_of(now - wait->started_), wait->what_);
  }
  return text;
}

}  // namespace symm::os
