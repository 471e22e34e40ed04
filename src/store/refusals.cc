#include "store/refusals.h"

#include "base/audit.h"
#include "base/log.h"

namespace symm::store {

void Refusals::add(const std::string& peer, const std::string& why, Clock::time_point now) {
  ++total_;
  remember(peer, why);
  if (now - window_ >= std::chrono::seconds(1)) {
    flush();
    window_ = now;
    lines_ = 0;
  }
  if (lines_ >= kLinesPerSecond) {
    ++left_out_;
    return;
  }
  ++lines_;
  SYMM_LOG(kWarn, "store: refused a connection from {}: {}", peer, why);
  audit::write(audit::Event::kRefusedConnection, peer, why);
}

void Refusals::flush() {
  if (left_out_ == 0) return;
  SYMM_LOG(kWarn, "store: {} more connections were refused", left_out_);
  audit::write(audit::Event::kRefusedConnection, "several",
               "more connections were refused than are written one by one", left_out_);
  left_out_ = 0;
}

void Refusals::remember(const std::string& peer, const std::string& why) {
  for (Refusal& one : kept_) {
    if (one.why != why) continue;
    ++one.count;
    return;
  }
  if (kept_.size() < kMaxKept) kept_.push_back({peer, why, 1});
}

}  // namespace symm::store
