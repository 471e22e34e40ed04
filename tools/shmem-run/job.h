// Job: all PEs of one run on all hosts, from start to the last exit.
// Threads: one; signals arrive through a descriptor. Ownership: owns the PEs; none outlives it.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/deadline.h"
#include "base/status.h"
#include "base/unique_fd.h"
#include "shmem-run/options.h"
#include "shmem-run/pe_group.h"
#include "shmem-run/streams.h"

namespace symm::launcher {

class Job : public GroupOwner {
 public:
  explicit Job(Options options) : options_(std::move(options)) {}

  // Starts every PE of this host, and the agents of the others. On failure those already started
  // are ended.
  Status start();
  // Waits for all PEs and returns the exit code of the job: that of the first PE that failed, 124
  // when the time was over, 127 when a host could not start its PEs, 255 when a host was lost, else
  // 0.
  int run();

  void on_address(const std::string& address) override { address_ = address; }
  void on_output(int pe, int stream, std::string_view data) override;
  void on_exit(int pe, int wait_status) override;
  void on_failed(PeGroup& group, const std::string& why) override;
  void on_lost(PeGroup& group, const std::string& why) override;

 private:
  Status block_signals();
  Status make_groups();
  Status make_local(std::vector<int> pes, const std::vector<std::string>& others,
                    const std::string& secret);
  void make_remote(const std::string& host, const std::vector<int>& pes,
                   const std::vector<std::string>& others, const std::string& secret);
  Status begin();
  bool finished() const;
  void wait_for_events();
  void handle_signals();
  void handle_signal(int number);
  void suspend();
  void note_failure(int pe, int status);
  void blame();
  void check_limits();
  void kill_the_rest();
  // The first reason counts: records the exit code, says why, asks all PEs to end.
  void end_job(int code, const std::string& reason);
  void begin_stop();
  void signal_all(int number);
  int live() const;
  std::string running_pes() const;
  int poll_timeout_ms() const;

  const Options options_;
  UniqueFd signals_;
  std::vector<std::unique_ptr<PeGroup>> groups_;
  std::vector<bool> running_;
  std::string address_;
  bool begun_ = false;
  std::map<std::pair<int, int>, OutputCopy> copies_;  // by PE and stream
  StandardInput standard_input_;
  InputPipe terminal_;          // to a PE 0 of this host
  UniqueFd terminal_end_;       // its end of the pipe, until it has started
  InputSink* input_ = nullptr;  // where standard input goes; null: PE 0 has it itself
  int exit_code_ = 0;
  int culprit_ = -1;  // the PE whose failure counts, once there is one
  int culprit_status_ = 0;
  bool stopping_ = false;
  int kills_ = 0;
  Deadline limit_ = Deadline::never();
  Deadline settled_at_ = Deadline::never();
  Deadline kill_at_ = Deadline::never();
};

}  // namespace symm::launcher
