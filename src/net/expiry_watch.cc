#include "net/expiry_watch.h"

#include <algorithm>
#include <chrono>

#include "base/audit.h"
#include "base/log.h"
#include "os/thread.h"

namespace symm::net {
namespace {

constexpr std::time_t kHour = 3600;
constexpr std::time_t kDay = 24 * kHour;

}  // namespace

ExpiryVerdict judge_validity(const Validity& validity, const ExpiryRules& rules, std::time_t now) {
  using Kind = ExpiryVerdict::Kind;
  const std::time_t warn_at = validity.until - rules.ahead_days * kDay;
  const std::time_t period = now + rules.period_hours * kHour;
  if (now > validity.until) return {Kind::kExpired, period};
  const std::time_t end = std::min(period, validity.until + 1);
  if (now < validity.from) return {Kind::kEarly, std::min(end, validity.from)};
  if (now < warn_at) return {Kind::kGood, std::min(end, warn_at)};
  return {Kind::kSoon, end};
}

std::string time_text(std::time_t time) {
  tm parts{};
  ::gmtime_r(&time, &parts);
  char text[32];
  std::strftime(text, sizeof(text), "%Y-%m-%d %H:%M:%S UTC", &parts);
  return text;
}

Result<std::unique_ptr<ExpiryWatch>> ExpiryWatch::start(std::string certificate, Validity validity,
                                                        ExpiryRules rules) {
  std::unique_ptr<ExpiryWatch> out(new ExpiryWatch(std::move(certificate), validity, rules));
  const std::time_t next = out->look();
  SYMM_ASSIGN(out->thread_,
              os::start_thread("symm-expiry", [self = out.get(), next] { self->run(next); }));
  return out;
}

// The wall clock decides, since certificates speak of it; a clock that is set is noticed after an
// hour at the latest.
void ExpiryWatch::run(std::time_t next) {
  std::unique_lock lock(mutex_);
  while (true) {
    const std::time_t wait = std::clamp<std::time_t>(next - std::time(nullptr), 0, kHour);
    if (changed_.wait_for(lock, std::chrono::seconds(wait), [this] { return ending_; })) return;
    if (std::time(nullptr) >= next) next = look();
  }
}

ExpiryWatch::~ExpiryWatch() {
  {
    std::lock_guard lock(mutex_);
    ending_ = true;
  }
  changed_.notify_all();
  if (thread_.joinable()) thread_.join();
}

std::time_t ExpiryWatch::look() {
  using Kind = ExpiryVerdict::Kind;
  const ExpiryVerdict verdict = judge_validity(validity_, rules_, std::time(nullptr));
  std::string text;
  auto event = audit::Event::kCertificateExpiring;
  switch (verdict.kind) {
    case Kind::kGood:
      return verdict.next;
    case Kind::kEarly:
      text = fmt::format("is not valid before {}; check the clock of this host",
                         time_text(validity_.from));
      event = audit::Event::kCertificateRefused;
      break;
    case Kind::kSoon:
      text = fmt::format("expires within {} days, on {}; renew it", rules_.ahead_days,
                         time_text(validity_.until));
      break;
    case Kind::kExpired:
      text = fmt::format("has expired on {}; renew it: new connections are refused",
                         time_text(validity_.until));
      event = audit::Event::kCertificateExpired;
      break;
  }
  log::report(fmt::format("TLS: certificate {} {}", certificate_, text));
  audit::write(event, certificate_, text);
  return verdict.next;
}

}  // namespace symm::net
