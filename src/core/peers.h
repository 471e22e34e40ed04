// PeerMemory: the memory of this PE and of every PE that can share memory with it, mapped into one
// address range. Who shares with whom is found by trying: PEs of one running kernel hand each other
// descriptors; PEs that are threads of one process use each other's mapping. Threads: set-up and
// tear-down by the owner; the addresses may be used by any thread.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "base/deadline.h"
#include "base/status.h"
#include "core/control_plane.h"
#include "heap/segment.h"
#include "os/fd_exchange.h"

namespace symm {

class PeerMemory {
 public:
  struct View {
    std::byte* heap = nullptr;  // null when the PE's memory cannot be mapped here
    std::byte* control = nullptr;
    bool same_process = false;
  };

  struct Request {
    int pe = 0;
    int n_pes = 1;
    size_t heap_bytes = 0;
    size_t control_bytes = 0;
    uint64_t salt = 0;  // the same on all PEs, another one for every instance
    double timeout_s = 0;
    std::function<Status()> check;  // fails when a PE is lost: ends the exchange of descriptors
  };
  // Collective. Makes this PE's segment, hands it round and maps the others'. Fails on all PEs when
  // it fails on one.
  static Result<std::unique_ptr<PeerMemory>> open(ControlPlane& control, const Request& request);

  const View& view(int pe) const { return views_[static_cast<size_t>(pe)]; }
  const SegmentLayout& layout() const { return range_.layout(); }
  // PEs on the same host, this one included.
  int local_pes() const { return local_pes_; }

 private:
  struct Card;
  struct Group;
  PeerMemory() = default;
  Status make_own(ControlPlane& control, const Request& request);
  Status exchange(const std::vector<Card>& cards, const Group& group,
                  const os::ExchangeLimit& limit);
  Status adopt(int pe, const Card& card, const Card& mine, UniqueFd fd);
  std::string socket_name(int leader) const;

  int pe_ = 0;
  uint64_t salt_ = 0;
  os::Digest key_{};
  Segment segment_;
  AddressRange range_;
  os::FdListener listener_;
  std::vector<View> views_;
  int local_pes_ = 1;
};

}  // namespace symm
