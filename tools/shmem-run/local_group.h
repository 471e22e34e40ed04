// LocalGroup: the PEs on this host, as children of this process.
// Threads: one; the owner calls check() when SIGCHLD came. Ownership: owns the children.
#pragma once

#include <signal.h>

#include <memory>
#include <string>
#include <vector>

#include "base/unique_fd.h"
#include "shmem-run/child.h"
#include "shmem-run/pe_group.h"
#include "shmem-run/streams.h"

namespace symm::launcher {

struct LocalSetup {
  int n_pes = 0;
  std::vector<int> pes;
  std::vector<std::string> command;
  std::vector<std::string> environment;  // NAME=value, for all
  std::string secret;
  std::vector<std::string> others;  // see listen_for
  std::string address;
  bool bind_to_core = false;
  bool capture_output = false;  // else the PEs write to our own streams
  int stdin_fd = -1;            // becomes PE 0's standard input; the caller keeps it
};

class LocalGroup : public PeGroup {
 public:
  LocalGroup(LocalSetup setup, GroupOwner* owner)
      : PeGroup(setup.pes), setup_(std::move(setup)), owner_(owner) {}
  ~LocalGroup() override;

  Status open() override;
  Status begin(const std::string& address) override;
  void add_polls(std::vector<pollfd>& entries) override;
  void handle(const pollfd* entries, size_t count) override;
  void check() override;
  int patience_ms() const override { return -1; }
  void signal(int number) override;
  bool finished() const override { return live_ == 0; }
  void abandon() override { signal(SIGKILL); }

 private:
  struct Pe {
    int number;
    Child child;
    std::unique_ptr<OutputPipe> out;
    std::unique_ptr<OutputPipe> error;
  };

  Status start_pe(size_t index, const std::string& address);
  Status capture(int pe, int stream, UniqueFd* write_end, std::unique_ptr<OutputPipe>* pipe);

  const LocalSetup setup_;
  GroupOwner* const owner_;
  UniqueFd listener_;
  std::vector<int> processors_;
  std::vector<Pe> members_;
  std::vector<OutputPipe*> polled_;
  int live_ = 0;
};

Status make_pipe(UniqueFd* read_end, UniqueFd* write_end);

}  // namespace symm::launcher
