// Job: all PEs of one run, from start to the last exit.
// Threads: one; signals arrive through a descriptor. Ownership: owns the PEs; none outlives it.
#pragma once

#include <sys/signalfd.h>

#include <memory>
#include <string>
#include <vector>

#include "base/deadline.h"
#include "base/status.h"
#include "base/unique_fd.h"
#include "shmem-run/child.h"
#include "shmem-run/options.h"
#include "shmem-run/streams.h"

namespace symm::launcher {

class Job {
 public:
  explicit Job(Options options) : options_(std::move(options)) {}
  ~Job();
  Job(const Job&) = delete;
  Job& operator=(const Job&) = delete;

  // Starts every PE. On failure those already started are ended.
  Status start();
  // Waits for all PEs and returns the exit code of the job: that of the first PE that failed, 124
  // when the time was over, else 0.
  int run();

 private:
  Status listen();
  Status block_signals();
  Status start_pe(int pe, const std::string& secret);
  Status redirect_output(int pe, ChildSetup* setup, UniqueFd* out, UniqueFd* error);
  void wait_for_events();
  void handle_signals();
  void handle_signal(int number);
  void suspend();
  void reap();
  void note_failure(int pe, int status);
  void blame();
  void check_limits();
  void pump(PrefixedStream& stream);
  // The first reason counts: records the exit code, says why, asks all PEs to end.
  void end_job(int code, const std::string& reason);
  void begin_stop();
  void signal_all(int number);
  std::string running_pes() const;
  int poll_timeout_ms() const;

  Options options_;
  UniqueFd signals_;
  UniqueFd listener_;
  std::string address_;
  std::vector<int> processors_;
  std::vector<Child> children_;
  std::vector<std::unique_ptr<PrefixedStream>> streams_;
  TerminalInput terminal_;
  int live_ = 0;
  int exit_code_ = 0;
  int culprit_ = -1;  // the PE whose failure counts, once there is one
  int culprit_status_ = 0;
  bool stopping_ = false;
  bool killed_ = false;
  Deadline limit_ = Deadline::never();
  Deadline settled_at_ = Deadline::never();
  Deadline kill_at_ = Deadline::never();
};

}  // namespace symm::launcher
