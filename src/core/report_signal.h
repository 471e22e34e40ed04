// SIGUSR1 prints who waits for what in this process. The handler only wakes a thread, which prints;
// then it calls the handler that was there before, so that a program's own use of the signal goes
// on. A program that ignores the signal is left alone, and one that takes it later has it.
// Threads: start and stop by one at a time. The statics are here because a handler has no argument.
#pragma once

#include <thread>

#include "base/status.h"
#include "base/unique_fd.h"

namespace symm {

class ReportSignal {
 public:
  ReportSignal() = default;
  ~ReportSignal() { stop(); }
  // Idempotent.
  Status start();
  // Idempotent. Puts the former handler back unless somebody has replaced ours.
  void stop();
  // The thread is not there: the object must be dropped as it is.
  static void in_forked_child();

 private:
  void run();

  UniqueFd event_;
  std::thread thread_;
};

}  // namespace symm
