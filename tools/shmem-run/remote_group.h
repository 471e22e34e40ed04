// RemoteGroup: the PEs on another host, which a part of shmem-run starts there. The agent (ssh, or
// what the user named) carries the part's standard streams; all that is said goes through them.
// Threads: one. Ownership: owns the agent's process; when that ends, the part ends its PEs.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/deadline.h"
#include "base/unique_fd.h"
#include "shmem-run/child.h"
#include "shmem-run/message.h"
#include "shmem-run/pe_group.h"
#include "shmem-run/streams.h"

namespace symm::launcher {

class RemoteGroup : public PeGroup, public InputSink {
 public:
  // `agent`: program and first arguments; host and command follow.
  RemoteGroup(std::string host, std::vector<std::string> agent, Setup setup, GroupOwner* owner);
  ~RemoteGroup() override;

  Status open() override;
  Status begin(const std::string& address) override;
  void add_polls(std::vector<pollfd>& entries) override;
  void handle(const pollfd* entries, size_t count) override;
  void check() override;
  int patience_ms() const override;
  void signal(int number) override;
  bool finished() const override { return !from_part_.valid() && !agent_process_.running(); }
  void abandon() override;

  bool ready() const override;
  void offer(std::string_view data) override;
  void end() override { send(MessageKind::kInput, 0, {}); }

 private:
  void send(MessageKind kind, int32_t number, std::string_view text);
  void flush();
  void receive();
  void take_messages();
  void take(const Message& message);
  void on_end_of_stream();
  void part_is_through();
  void lose(const std::string& why);
  std::string agent_fate() const;

  const std::string host_;
  const std::vector<std::string> agent_;
  const Setup setup_;
  GroupOwner* const owner_;
  Child agent_process_;
  std::optional<int> agent_status_;
  UniqueFd to_part_;
  UniqueFd from_part_;
  std::string outgoing_;
  MessageReader incoming_;
  bool greeted_ = false;
  bool begun_ = false;
  bool through_ = false;  // nothing more is expected from the part
  size_t exits_ = 0;
  size_t unread_input_ = 0;  // sent, not yet in PE 0's pipe
  Deadline silent_at_ = Deadline::never();
  Deadline ended_by_ = Deadline::never();  // the agent is killed then
};

// The command line of the agent for this host; for tests. Words of `remote` that a shell would take
// apart are quoted, since ssh hands them to one.
std::vector<std::string> agent_command(const std::vector<std::string>& agent,
                                       const std::string& host,
                                       const std::vector<std::string>& remote);

}  // namespace symm::launcher
