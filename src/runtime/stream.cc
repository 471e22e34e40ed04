#include "runtime/stream.h"

#include "base/log.h"
#include "os/thread.h"
#include "os/wait.h"
#include "runtime/core_context.h"
#include "runtime/graph.h"

namespace symm::runtime {
namespace {

// Everyone who adds work also notifies; the limit only bounds a mistake.
constexpr uint32_t kIdleSleepUs = 1000000;

struct Drain {
  const std::atomic<uint64_t>* completed;
  uint64_t target;
};

}  // namespace

int Stream::drained(void* argument) {
  auto* drain = static_cast<Drain*>(argument);
  // acquire: pairs with finish(); what the tasks did is visible.
  return drain->completed->load(std::memory_order_acquire) >= drain->target;
}

Stream::Stream(int device, uint32_t number, bool may_spin)
    : device_(device), number_(number), may_spin_(may_spin) {
  done_domain_.events = &done_;
  done_domain_.may_spin = may_spin ? 1 : 0;
  done_domain_.pe = -1;
}

Stream::~Stream() { close(); }

std::string Stream::name() const {
  if (is_default()) return fmt::format("the default stream of device {}", device_);
  return fmt::format("stream {} of device {}", number_, device_);
}

aclError Stream::submit(TaskPtr task, const char* call) {
  {
    std::lock_guard lock(mutex_);
    if (closed_) {
      return fail(ACL_ERROR_RT_STREAM_CONTEXT, "{}: {} is being destroyed", call, name());
    }
    if (capture_ != nullptr) return capture_->record(*this, std::move(task), call);
    if (!worker_.joinable()) {
      auto thread = os::start_thread("acl-stream", [this] { worker_main(); });
      if (!thread.ok()) {
        return fail(ACL_ERROR_RT_NO_STREAM_RESOURCE, "{}: {}", call, thread.status().text());
      }
      worker_ = std::move(thread).value();
    }
    queue_.push_back(std::move(task));
    ++submitted_;
    has_work_.store(true, std::memory_order_release);  // looked at without the mutex
  }
  os::notify(work_);
  return ACL_SUCCESS;
}

aclError Stream::synchronize(uint64_t limit_ms, const char* call) {
  Drain drain{&completed_, 0};
  {
    std::lock_guard lock(mutex_);
    if (capture_ != nullptr) {
      return fail(ACL_ERROR_RT_STREAM_CAPTURED, "{}: {} is being captured; end the capture first",
                  call, name());
    }
    if (worker_.get_id() == std::this_thread::get_id() || current_core() != nullptr) {
      return fail(
          ACL_ERROR_RT_PARAM_INVALID,
          "{}: called from a task or kernel of a stream, where it could wait for itself for ever; "
          "call it from a thread of the program",
          call);
    }
    drain.target = submitted_;
  }
  symm_wait wait{};
  wait.poll = drained;
  wait.argument = &drain;
  wait.domain = &done_domain_;
  wait.call = call;
  wait.timeout_ms = limit_ms;
  wait.team = wait.peer = wait.compare = -1;
  wait.kind = SYMM_WAIT_KIND_QUEUE;
  Status status = os::wait(wait);
  if (!status.ok()) {
    std::lock_guard lock(mutex_);
    return fail(
        ACL_ERROR_RT_STREAM_SYNC_TIMEOUT,
        "{}: {} still has {} of its tasks to run after {} ms; they keep running; pass a larger "
        "timeout or -1",
        call, name(), drain.target - completed_.load(std::memory_order_relaxed), limit_ms);
  }
  std::lock_guard lock(mutex_);
  TaskError error = std::move(error_);
  error_ = {};
  // Logged when it happened; here it only becomes this thread's message.
  if (error.code != ACL_SUCCESS) set_message(fmt::format("{}: {}", call, error.text));
  return error.code;
}

aclError Stream::query(bool& idle, const char* call) {
  std::lock_guard lock(mutex_);
  if (capture_ != nullptr) {
    return fail(ACL_ERROR_RT_STREAM_CAPTURED, "{}: {} is being captured; end the capture first",
                call, name());
  }
  idle = completed_.load(std::memory_order_acquire) == submitted_;
  return ACL_SUCCESS;
}

void Stream::close() {
  std::thread worker;
  {
    std::lock_guard lock(mutex_);
    closed_ = true;
    if (capture_ != nullptr) capture_->invalidate(name() + " was destroyed");
    capture_.reset();
    has_work_.store(true, std::memory_order_release);
    worker = std::move(worker_);
  }
  os::notify(work_);
  if (worker.joinable()) worker.join();
}

std::shared_ptr<Capture> Stream::capture() const {
  std::lock_guard lock(mutex_);
  return capture_;
}

bool Stream::set_capture(std::shared_ptr<Capture> capture) {
  std::lock_guard lock(mutex_);
  if (capture != nullptr && capture_ != nullptr) return false;
  capture_ = std::move(capture);
  return true;
}

TaskPtr Stream::next() {
  os::Backoff backoff(true, may_spin_);
  os::Sleeper sleeper(&work_);
  while (true) {
    if (has_work_.load(std::memory_order_acquire)) {
      std::lock_guard lock(mutex_);
      if (queue_.empty()) return nullptr;  // closed
      TaskPtr task = std::move(queue_.front());
      queue_.pop_front();
      if (queue_.empty() && !closed_) has_work_.store(false, std::memory_order_relaxed);
      return task;
    }
    if (!backoff.wants_sleep()) {
      backoff.step();
      continue;
    }
    uint32_t seen = sleeper.prepare();
    if (has_work_.load(std::memory_order_acquire)) {
      sleeper.cancel();
    } else {
      sleeper.sleep(seen, kIdleSleepUs);
    }
  }
}

void Stream::finish(const Task& task, TaskError error) {
  if (error.code != ACL_SUCCESS) {
    SYMM_LOG(kError, "{} on {} failed: {} (acl error {})", task.name(), name(), error.text,
             error.code);
    std::lock_guard lock(mutex_);
    if (error_.code == ACL_SUCCESS) error_ = std::move(error);
  }
}

void Stream::worker_main() {
  while (TaskPtr task = next()) {
    TaskError error;
    try {
      error = task->run();
    } catch (const std::exception& exception) {
      error = {ACL_ERROR_INTERNAL_ERROR, fmt::format("exception: {}", exception.what())};
    }
    finish(*task, std::move(error));
    task.reset();  // before its completion is seen: what it holds is gone by then
    // seq_cst: releases what the task did, and is the fence of the notify.
    completed_.fetch_add(1, std::memory_order_seq_cst);
    os::notify_after_rmw(done_);
  }
}

}  // namespace symm::runtime
