// Event: a point in a stream that others wait for. Notify: a bit that is set, waited for and
// cleared. Threads: any.
#pragma once

#include <atomic>
#include <chrono>
#include <memory>
#include <mutex>
#include <optional>

#include "host_device/symm_wait_abi.h"
#include "runtime/graph.h"
#include "runtime/task.h"

namespace symm::runtime {

class Event : public std::enable_shared_from_this<Event> {
 public:
  using Clock = std::chrono::steady_clock;

  Event();

  aclError record(Stream& stream, const char* call);
  aclError wait_on(Stream& stream, const char* call);
  aclError reset(Stream& stream, const char* call);
  aclError synchronize(uint64_t limit_ms, const char* call);
  aclError query(bool& complete, const char* call);
  // When the last completed record ran; nothing before that.
  std::optional<Clock::time_point> time() const;

 private:
  friend class EventTask;
  enum class Action { kRecord, kWait, kReset };

  void complete(uint64_t version);
  void clear();
  Status wait_for(uint64_t version, uint64_t limit_ms, const char* call);
  aclError refuse_captured(const char* call);
  std::shared_ptr<Capture> captured();

  symm_event_count events_{};
  symm_wait_domain domain_{};
  std::atomic<uint64_t> completed_{0};
  mutable std::mutex mutex_;
  uint64_t recorded_ = 0;           // under mutex_: versions given out
  uint64_t cleared_ = 0;            // under mutex_: recorded_ at the last reset
  Clock::time_point time_{};        // under mutex_
  std::weak_ptr<Capture> capture_;  // under mutex_: the capture that the last record belongs to
  Capture::Frontier frontier_;      // under mutex_: what that record comes after
};

class Notify {
 public:
  explicit Notify(uint32_t number);
  uint32_t number() const { return number_; }
  // Sets the bit and wakes who waits.
  void record();
  // Waits for the bit and clears it; limit 0: none.
  Status wait_and_reset(uint64_t limit_ms);

 private:
  static int take(void* argument);
  const uint32_t number_;
  symm_event_count events_{};
  symm_wait_domain domain_{};
  std::atomic<uint32_t> set_{0};
};

class NotifyTask : public Task {
 public:
  NotifyTask(std::shared_ptr<Notify> notify, bool record, uint64_t limit_ms)
      : notify_(std::move(notify)), record_(record), limit_ms_(limit_ms) {}
  TaskError run() override;
  std::string name() const override;

 private:
  const std::shared_ptr<Notify> notify_;
  const bool record_;
  const uint64_t limit_ms_;
};

}  // namespace symm::runtime
