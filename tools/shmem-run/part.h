// Part: shmem-run on one of several hosts. Starts the PEs that the launcher says, over its standard
// input and output, and ends with them. When the launcher or the connection goes, so do the PEs.
// Threads: one. Ownership: owns its PEs.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "base/deadline.h"
#include "base/unique_fd.h"
#include "shmem-run/local_group.h"
#include "shmem-run/message.h"

namespace symm::launcher {

class Part : public GroupOwner {
 public:
  // Until all PEs have ended; the exit code of this process.
  int run();

  void on_address(const std::string& address) override;
  void on_output(int pe, int stream, std::string_view data) override;
  void on_exit(int pe, int wait_status) override;
  void on_failed(PeGroup& group, const std::string& why) override;
  void on_lost(PeGroup& group, const std::string& why) override;

 private:
  Status prepare();
  void wait_for_events();
  void receive();
  void take(const Message& message);
  Status set_up(const Setup& setup);
  void handle_signals();
  void send(MessageKind kind, int number, std::string_view text);
  void fail(const Status& status);
  void end(int code);

  UniqueFd signals_;
  MessageReader incoming_;
  std::unique_ptr<LocalGroup> group_;
  UniqueFd input_end_;  // PE 0's end of the pipe, until it has started
  InputPipe input_;
  bool begun_ = false;
  Deadline beat_at_ = Deadline::never();
  std::optional<int> exit_code_;
};

}  // namespace symm::launcher
