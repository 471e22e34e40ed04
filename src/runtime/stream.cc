#include "runtime/stream.h"

#include "base/log.h"
#include "base/trace.h"
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
  const std::atomic<bool>* has_work;  // null: the caller does not help
};

}  // namespace

int Stream::drained(void* argument) {
  auto* drain = static_cast<Drain*>(argument);
  // acquire: pairs with finish(); what the tasks did is visible.
  if (drain->completed->load(std::memory_order_acquire) >= drain->target) return 1;
  return drain->has_work != nullptr && drain->has_work->load(std::memory_order_relaxed);
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
    if (running_) return ACL_SUCCESS;                  // whoever runs goes on or wakes the worker
    has_work_.store(true, std::memory_order_release);  // looked at without the mutex
  }
  os::notify(work_);
  return ACL_SUCCESS;
}

aclError Stream::synchronize(uint64_t limit_ms, const char* call) {
  // A caller with a time limit must be able to leave, so it does not run tasks.
  Drain drain{&completed_, 0, limit_ms == 0 ? &has_work_ : nullptr};
  {
    std::lock_guard lock(mutex_);
    if (capture_ != nullptr) {
      return fail(ACL_ERROR_RT_STREAM_CAPTURED, "{}: {} is being captured; end the capture first",
                  call, name());
    }
    if ((running_ && runner_ == std::this_thread::get_id()) || current_core() != nullptr) {
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
  Status status;
  while (completed_.load(std::memory_order_acquire) < drain.target) {
    TaskPtr task = drain.has_work != nullptr ? take() : nullptr;
    if (task != nullptr) {
      run_from(std::move(task), drain.target);
      continue;
    }
    status = os::wait(wait);
    if (!status.ok()) break;
  }
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
    if (!running_) has_work_.store(true, std::memory_order_release);
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

TaskPtr Stream::take() {
  std::lock_guard lock(mutex_);
  if (running_ || queue_.empty()) return nullptr;
  TaskPtr task = std::move(queue_.front());
  queue_.pop_front();
  running_ = true;
  runner_ = std::this_thread::get_id();
  has_work_.store(false, std::memory_order_relaxed);  // for the others; set again under the mutex
  return task;
}

TaskError Stream::run_traced(Task& task) {
  const trace::RowScope row(trace::row(name()));
  const std::string text = task.name();
  const trace::Span span("task", text.c_str());
  return task.run();
}

void Stream::run(Task& task) {
  TaskError error;
  try {
    error = trace::on() ? run_traced(task) : task.run();
  } catch (const std::exception& exception) {
    error = {ACL_ERROR_INTERNAL_ERROR, fmt::format("exception: {}", exception.what())};
  }
  if (error.code == ACL_SUCCESS) return;
  SYMM_LOG(kError, "{} on {} failed: {} (acl error {})", task.name(), name(), error.text,
           error.code);
  std::lock_guard lock(mutex_);
  if (error_.code == ACL_SUCCESS) error_ = std::move(error);
}

void Stream::run_from(TaskPtr task, uint64_t target) {
  bool wake = false;
  while (task != nullptr) {
    run(*task);
    task.reset();  // before its completion is seen: what it holds is gone by then
    std::lock_guard lock(mutex_);
    // release: what the task did. Only the runner writes.
    uint64_t done = completed_.load(std::memory_order_relaxed) + 1;
    if (!queue_.empty() && done < target) {
      task = std::move(queue_.front());
      queue_.pop_front();
    } else {
      running_ = false;
      wake = !queue_.empty() || closed_;
      has_work_.store(wake, std::memory_order_relaxed);
    }
    completed_.store(done, std::memory_order_release);
  }
  os::notify(done_);
  if (wake) os::notify(work_);
}

void Stream::worker_main() {
  os::Sleeper sleeper(&work_);
  os::Backoff backoff(true, may_spin_);
  while (true) {
    if (has_work_.load(std::memory_order_acquire)) {
      if (TaskPtr task = take()) {
        run_from(std::move(task), UINT64_MAX);
        backoff.reset();
        continue;
      }
      std::lock_guard lock(mutex_);
      if (closed_ && !running_ && queue_.empty()) return;
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

}  // namespace symm::runtime
