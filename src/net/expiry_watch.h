// ExpiryWatch: reports that the own certificate is about to expire, has expired or is not valid
// yet: when it starts, at the moment it happens, and again every period while the job runs.
// Connections that exist go on. Threads: one of its own, only where there is a certificate; start
// and end from any one thread.
#pragma once

#include <condition_variable>
#include <memory>
#include <mutex>
#include <string>
#include <thread>

#include "net/tls_certificate.h"

namespace symm::net {

// What is to be said about a certificate at a time, and when to look again. Pure.
struct ExpiryVerdict {
  enum class Kind { kGood, kEarly, kSoon, kExpired };
  Kind kind = Kind::kGood;
  std::time_t next = 0;
};
ExpiryVerdict judge_validity(const Validity& validity, const ExpiryRules& rules, std::time_t now);
// "2026-12-01 03:00:00 UTC".
std::string time_text(std::time_t time);

class ExpiryWatch {
 public:
  // Fails when there are no more threads.
  static Result<std::unique_ptr<ExpiryWatch>> start(std::string certificate, Validity validity,
                                                    ExpiryRules rules);
  ~ExpiryWatch();
  ExpiryWatch(const ExpiryWatch&) = delete;
  ExpiryWatch& operator=(const ExpiryWatch&) = delete;

 private:
  ExpiryWatch(std::string certificate, Validity validity, ExpiryRules rules)
      : certificate_(std::move(certificate)), validity_(validity), rules_(rules) {}
  void run(std::time_t next);
  std::time_t look();

  const std::string certificate_;
  const Validity validity_;
  const ExpiryRules rules_;
  std::mutex mutex_;
  std::condition_variable changed_;
  bool ending_ = false;
  std::thread thread_;
};

}  // namespace symm::net
