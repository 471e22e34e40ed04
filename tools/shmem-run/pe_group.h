// PeGroup: the PEs of one host as the launcher sees them, whether they are its children or those of
// a part on another host. Threads: one. Ownership: a group owns its PEs; none outlives it.
#pragma once

#include <poll.h>

#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"

namespace symm::launcher {

class PeGroup;

// What groups tell their owner. Calls come from open(), begin(), handle() and check().
class GroupOwner {
 public:
  virtual ~GroupOwner() = default;
  // PE 0 can be reached there from now on.
  virtual void on_address(const std::string& address) = 0;
  // `stream`: 1 or 2. Empty data: the end of the stream.
  virtual void on_output(int pe, int stream, std::string_view data) = 0;
  // Once per PE that was started.
  virtual void on_exit(int pe, int wait_status) = 0;
  // PEs cannot be started; the group has none, or those it has are being ended.
  virtual void on_failed(PeGroup& group, const std::string& why) = 0;
  // The host does not answer any more: its PEs are gone as far as this job is concerned.
  virtual void on_lost(PeGroup& group, const std::string& why) = 0;
};

class PeGroup {
 public:
  explicit PeGroup(std::vector<int> pes) : pes_(std::move(pes)) {}
  virtual ~PeGroup() = default;
  PeGroup(const PeGroup&) = delete;
  PeGroup& operator=(const PeGroup&) = delete;

  const std::vector<int>& pes() const { return pes_; }

  // Gets ready; the group that has PE 0 makes its address known.
  virtual Status open() = 0;
  // Starts the PEs.
  virtual Status begin(const std::string& address) = 0;
  // Appends the descriptors to wait on, and later gets as many results.
  virtual void add_polls(std::vector<pollfd>& entries) = 0;
  virtual void handle(const pollfd* entries, size_t count) = 0;
  // After every round: who has ended, who is silent.
  virtual void check() = 0;
  // Time until check() has something to do without an event, in milliseconds.
  virtual int patience_ms() const = 0;
  virtual void signal(int number) = 0;
  // Nothing is left to wait for.
  virtual bool finished() const = 0;
  // Ends everything at once.
  virtual void abandon() = 0;

 private:
  const std::vector<int> pes_;
};

}  // namespace symm::launcher
