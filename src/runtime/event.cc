#include "runtime/event.h"

#include "os/wait.h"
#include "runtime/stream.h"

namespace symm::runtime {
namespace {

struct VersionWait {
  const std::atomic<uint64_t>* completed;
  uint64_t version;
};

int version_is_complete(void* argument) {
  auto* wait = static_cast<VersionWait*>(argument);
  // acquire: pairs with Event::complete.
  return wait->completed->load(std::memory_order_acquire) >= wait->version;
}

symm_wait_domain local_domain(symm_event_count* events) {
  symm_wait_domain domain{};
  domain.events = events;
  domain.pe = -1;
  return domain;
}

symm_wait local_wait(int (*poll)(void*), void* argument, symm_wait_domain* domain, const char* call,
                     uint64_t limit_ms) {
  symm_wait wait{};
  wait.poll = poll;
  wait.argument = argument;
  wait.domain = domain;
  wait.call = call;
  wait.timeout_ms = limit_ms;
  wait.team = wait.peer = wait.compare = -1;
  wait.kind = SYMM_WAIT_KIND_QUEUE;
  return wait;
}

}  // namespace

class EventTask : public Task {
 public:
  // version 0: recorded in a graph, each replay makes a version of its own.
  EventTask(std::shared_ptr<Event> event, Event::Action action, uint64_t version)
      : event_(std::move(event)), action_(action), version_(version) {}

  TaskError run() override {
    switch (action_) {
      case Event::Action::kRecord:
        event_->complete(version_);
        break;
      case Event::Action::kWait:
        return task_error(event_->wait_for(version_, 0, "aclrtStreamWaitEvent"), name());
      case Event::Action::kReset:
        event_->clear();
        break;
    }
    return {};
  }
  std::string name() const override {
    switch (action_) {
      case Event::Action::kRecord:
        return "event record";
      case Event::Action::kWait:
        return "event wait";
      case Event::Action::kReset:
        return "event reset";
    }
    return "event";
  }

 private:
  const std::shared_ptr<Event> event_;
  const Event::Action action_;
  const uint64_t version_;
};

Event::Event() : domain_(local_domain(&events_)) {}

void Event::complete(uint64_t version) {
  {
    std::lock_guard lock(mutex_);
    time_ = Clock::now();
    if (version == 0) version = ++recorded_;
    // release: what came before the record on its stream. Versions of several streams may come out
    // of order.
    if (version > completed_.load(std::memory_order_relaxed)) {
      completed_.store(version, std::memory_order_release);
    }
  }
  os::notify(events_);
}

void Event::clear() {
  std::lock_guard lock(mutex_);
  // Waits for older versions stay satisfied; the event itself counts as not recorded.
  cleared_ = recorded_;
}

Status Event::wait_for(uint64_t version, uint64_t limit_ms, const char* call) {
  VersionWait argument{&completed_, version};
  return os::wait(local_wait(version_is_complete, &argument, &domain_, call, limit_ms));
}

std::shared_ptr<Capture> Event::captured() {
  std::shared_ptr<Capture> capture = capture_.lock();
  // A finished capture no longer binds the event.
  if (capture != nullptr && capture->graph()->complete.load(std::memory_order_acquire))
    return nullptr;
  return capture;
}

aclError Event::refuse_captured(const char* call) {
  std::lock_guard lock(mutex_);
  if (captured() == nullptr) return ACL_SUCCESS;
  return fail(ACL_ERROR_RT_EVENT_CAPTURED,
              "{}: the event was recorded in a capture that has not ended; end the capture first",
              call);
}

aclError Event::record(Stream& stream, const char* call) {
  std::shared_ptr<Capture> capture = stream.capture();
  uint64_t version = 0;
  {
    std::lock_guard lock(mutex_);
    capture_ = capture;
    if (capture == nullptr) version = ++recorded_;
  }
  SYMM_ACL_TRY(stream.submit(
      std::make_shared<EventTask>(shared_from_this(), Action::kRecord, version), call));
  if (capture != nullptr) {
    auto frontier = capture->frontier(stream);
    std::lock_guard lock(mutex_);
    frontier_ = std::move(frontier);
  }
  return ACL_SUCCESS;
}

aclError Event::wait_on(Stream& stream, const char* call) {
  std::unique_lock lock(mutex_);
  if (std::shared_ptr<Capture> capture = captured()) {
    Capture::Frontier frontier = frontier_;
    lock.unlock();
    std::shared_ptr<Capture> of_stream = stream.capture();
    if (of_stream == nullptr && stream.is_default()) {
      return fail(
          ACL_ERROR_RT_STREAM_CAPTURE_IMPLICIT,
          "{}: the event belongs to a capture, and {} cannot be captured; use a stream made by "
          "aclrtCreateStream",
          call, stream.name());
    }
    if (of_stream != nullptr && of_stream != capture) {
      return fail(ACL_ERROR_RT_STREAM_CAPTURE_UNMATCHED,
                  "{}: the event belongs to another capture than {}", call, stream.name());
    }
    if (of_stream == nullptr) (void)stream.set_capture(capture);
    // The recorded order already keeps the wait; only the dependency is noted.
    capture->join(stream, frontier);
    return ACL_SUCCESS;
  }
  uint64_t version = recorded_;
  lock.unlock();
  return stream.submit(std::make_shared<EventTask>(shared_from_this(), Action::kWait, version),
                       call);
}

aclError Event::reset(Stream& stream, const char* call) {
  return stream.submit(std::make_shared<EventTask>(shared_from_this(), Action::kReset, 0), call);
}

aclError Event::synchronize(uint64_t limit_ms, const char* call) {
  SYMM_ACL_TRY(refuse_captured(call));
  uint64_t version;
  {
    std::lock_guard lock(mutex_);
    version = recorded_;
  }
  Status status = wait_for(version, limit_ms, call);
  if (status.ok()) return ACL_SUCCESS;
  return fail(ACL_ERROR_RT_EVENT_SYNC_TIMEOUT,
              "{}: the event was not reached within {} ms; pass a larger timeout or -1", call,
              limit_ms);
}

aclError Event::query(bool& complete, const char* call) {
  SYMM_ACL_TRY(refuse_captured(call));
  std::lock_guard lock(mutex_);
  complete = recorded_ > cleared_ && completed_.load(std::memory_order_acquire) >= recorded_;
  return ACL_SUCCESS;
}

std::optional<Event::Clock::time_point> Event::time() const {
  std::lock_guard lock(mutex_);
  if (completed_.load(std::memory_order_relaxed) == 0) return std::nullopt;
  return time_;
}

Notify::Notify(uint32_t number) : number_(number), domain_(local_domain(&events_)) {}

void Notify::record() {
  // seq_cst: releases what came before, and is the fence of the notify.
  set_.exchange(1, std::memory_order_seq_cst);
  os::notify_after_rmw(events_);
}

int Notify::take(void* argument) {
  auto* self = static_cast<Notify*>(argument);
  if (self->set_.load(std::memory_order_relaxed) == 0) return 0;
  // acquire: pairs with record(). The exchange decides between two waiters.
  return self->set_.exchange(0, std::memory_order_acquire) != 0;
}

Status Notify::wait_and_reset(uint64_t limit_ms) {
  return os::wait(local_wait(&Notify::take, this, &domain_, "aclrtWaitAndResetNotify", limit_ms));
}

TaskError NotifyTask::run() {
  if (record_) {
    notify_->record();
    return {};
  }
  return task_error(notify_->wait_and_reset(limit_ms_), name());
}

std::string NotifyTask::name() const {
  return fmt::format("{} notify {}", record_ ? "record of" : "wait for", notify_->number());
}

}  // namespace symm::runtime
