// Stream: a queue of tasks and one thread that runs them in order. The thread is made at the first
// task. Threads: all calls from any thread. Ownership: shared by the handle table and by calls in
// progress.
#pragma once

#include <atomic>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <thread>

#include "host_device/symm_wait_abi.h"
#include "runtime/task.h"

namespace symm::runtime {

class Capture;

class Stream {
 public:
  Stream(int device, uint32_t number, bool may_spin);
  Stream(const Stream&) = delete;
  Stream& operator=(const Stream&) = delete;
  ~Stream();  // close()

  int device() const { return device_; }
  bool is_default() const { return number_ == 0; }
  std::string name() const;

  // Appends the task; while the stream is captured it is recorded instead. `call` is for messages.
  aclError submit(TaskPtr task, const char* call);

  // Blocks until everything submitted before has run; limit 0: none. Returns the first failure
  // since the last time. kCaptured streams are refused.
  aclError synchronize(uint64_t limit_ms, const char* call);
  aclError query(bool& idle, const char* call);

  // Runs what is queued, then ends the thread. Later tasks are refused. Idempotent.
  void close();

  // The capture that records this stream, or null.
  std::shared_ptr<Capture> capture() const;
  // Null ends it. False when a capture is active already.
  bool set_capture(std::shared_ptr<Capture> capture);

 private:
  void worker_main();
  // Takes the next task unless one is running or there is none.
  TaskPtr take();
  // Runs a taken task and those behind it, until the queue is empty or `completed_` reached the
  // target.
  void run_from(TaskPtr task, uint64_t target);
  void run(Task& task);
  TaskError run_traced(Task& task);
  static int drained(void* argument);

  const int device_;
  const uint32_t number_;
  symm_event_count work_{};  // the worker sleeps here
  symm_event_count done_{};  // synchronize sleeps here
  symm_wait_domain done_domain_{};
  const bool may_spin_;

  mutable std::mutex mutex_;
  std::deque<TaskPtr> queue_;         // under mutex_
  TaskError error_;                   // under mutex_; first failure not yet handed out
  std::shared_ptr<Capture> capture_;  // under mutex_
  bool closed_ = false;               // under mutex_
  bool running_ = false;    // under mutex_: a task runs, on the worker or on a waiting thread
  std::thread::id runner_;  // under mutex_: where
  std::thread worker_;      // under mutex_
  std::atomic<bool> has_work_{false};  // a task can be taken, or the worker shall end
  uint64_t submitted_ = 0;             // under mutex_
  std::atomic<uint64_t> completed_{0};
};

}  // namespace symm::runtime
