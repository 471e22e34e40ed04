#include "core/peers.h"

#include <algorithm>

#include "base/config.h"
#include "base/log.h"
#include "os/identity.h"
#include "os/memory_limit.h"

namespace symm {

// What a PE tells the others about itself before memory is shared.
struct PeerMemory::Card {
  os::Identity identity;
  uint64_t heap;  // where it mapped its own memory, for PEs of the same process
  uint64_t control;
};

// The PEs of one running kernel; the lowest leads the exchange of descriptors.
struct PeerMemory::Group {
  std::vector<int> members;
  bool one_process = true;
  bool one_network = true;

  int leader() const { return members[0]; }

  static Group of(const std::vector<Card>& cards, const Card& whose) {
    Group group;
    for (size_t pe = 0; pe < cards.size(); ++pe) {
      const os::Identity& other = cards[pe].identity;
      if (other.host != whose.identity.host) continue;
      group.members.push_back(static_cast<int>(pe));
      const os::Identity& first = cards[static_cast<size_t>(group.leader())].identity;
      if (other.pid != first.pid || other.process != first.process) group.one_process = false;
      if (other.network != first.network) group.one_network = false;
    }
    return group;
  }
};

namespace {

constexpr int kBacklog = 4096;

// Memory is committed when it is touched, so a heap beyond what there is ends the process then.
Status check_limits(size_t bytes) {
  const std::string policy = config::text("SHMEM_OVERCOMMIT");
  if (policy == "allow") return {};
  const os::MemoryLimits limits = os::memory_limits();
  if (bytes <= limits.smallest()) return {};
  const std::string text =
      fmt::format("a symmetric heap of {} bytes exceeds what there is: {}", bytes, limits.text());
  if (policy == "warn") {
    SYMM_LOG(kWarn, "{}", text);
    return {};
  }
  return SYMM_ERROR(kNoMemory,
                    "{}; ask for less, or set SHMEM_OVERCOMMIT=allow if only a part of it will be "
                    "touched",
                    text);
}

std::string socket_path(const std::string& name) { return "/tmp/" + name; }

}  // namespace

// Names are derived from the key of the job, so that nobody outside can tell or take them.
std::string PeerMemory::socket_name(int leader) const {
  os::Digest digest = os::hmac_sha256(key_, fmt::format("socket {} {}", salt_, leader));
  std::string name = "symm-";
  for (size_t i = 0; i < 16; ++i) name += fmt::format("{:02x}", digest[i]);
  return name;
}

Status PeerMemory::make_own(ControlPlane& control, const Request& request) {
  SYMM_TRY(check_limits(request.heap_bytes));
  const SegmentLayout layout = SegmentLayout::make(request.heap_bytes, request.control_bytes);
  SYMM_ASSIGN(key_, control.job_key());
  SYMM_ASSIGN(range_, AddressRange::reserve(layout, request.n_pes));
  SYMM_ASSIGN(segment_, Segment::create(layout, pe_));
  SYMM_TRY(range_.map(pe_, segment_.fd(), true));
  views_[static_cast<size_t>(pe_)] = {range_.heap(pe_), range_.control(pe_), true};
  // Everybody listens before anybody knows whom to ask, so that no one has to try again.
  SYMM_ASSIGN(listener_, os::FdListener::bind(socket_name(pe_), kBacklog));
  return {};
}

Result<std::unique_ptr<PeerMemory>> PeerMemory::open(ControlPlane& control,
                                                     const Request& request) {
  std::unique_ptr<PeerMemory> self(new PeerMemory);
  self->pe_ = request.pe;
  self->salt_ = request.salt;
  self->views_.resize(static_cast<size_t>(request.n_pes));
  SYMM_TRY(control.agree(self->make_own(control, request), "making the symmetric memory"));
  const View& mine = self->view(request.pe);
  const Card card{os::identity(), reinterpret_cast<uint64_t>(mine.heap),
                  reinterpret_cast<uint64_t>(mine.control)};
  SYMM_ASSIGN(const std::vector<Card> cards, control.allgather(card, "exchanging addresses"));
  const Group group = Group::of(cards, card);
  self->local_pes_ = static_cast<int>(group.members.size());
  // Abstract names end at a network namespace; a leader whose members live in several listens on a
  // file too.
  const bool files = std::any_of(cards.begin(), cards.end(), [&](const Card& one) {
    return !Group::of(cards, one).one_network;
  });
  if (files) {
    Status bound;
    if (!group.one_network && group.leader() == request.pe) {
      bound = self->listener_.bind_path(socket_path(self->socket_name(request.pe)), kBacklog);
    }
    SYMM_TRY(control.agree(std::move(bound), "listening for PEs of other network namespaces"));
  }
  Status mapped =
      self->exchange(cards, group, {Deadline::after_seconds(request.timeout_s), request.check});
  // "Connection closed" and the like: the loss behind it tells more.
  if (Status lost = request.check(); !mapped.ok() && !lost.ok()) mapped = std::move(lost);
  // A leader that failed must not keep the others waiting in its queue of connections.
  if (!mapped.ok()) self->listener_ = os::FdListener();
  SYMM_TRY(control.agree(std::move(mapped), "mapping the memory of the other PEs"));
  self->listener_ = os::FdListener();
  self->segment_.close_fd();
  return self;
}

Status PeerMemory::adopt(int pe, const Card& card, const Card& mine, UniqueFd fd) {
  if (pe == pe_) return {};
  View& view = views_[static_cast<size_t>(pe)];
  if (card.identity.pid == mine.identity.pid && card.identity.process == mine.identity.process) {
    view = {reinterpret_cast<std::byte*>(card.heap), reinterpret_cast<std::byte*>(card.control),
            true};
    return {};
  }
  SYMM_TRY(range_.map(pe, fd.get(), false));
  view = {range_.heap(pe), range_.control(pe), false};
  return {};
}

Status PeerMemory::exchange(const std::vector<Card>& cards, const Group& group,
                            const os::ExchangeLimit& limit) {
  const Card& mine = cards[static_cast<size_t>(pe_)];
  auto adopt_member = [&](size_t index, UniqueFd fd) -> Status {
    const int pe = group.members[index];
    Status status = adopt(pe, cards[static_cast<size_t>(pe)], mine, std::move(fd));
    return std::move(status).with_context(fmt::format("memory of PE {}", pe));
  };
  if (group.one_process) {
    for (size_t i = 0; i < group.members.size(); ++i) SYMM_TRY(adopt_member(i, UniqueFd()));
    return {};
  }
  if (group.leader() == pe_) {
    return listener_.serve(key_, group.members, segment_.fd(), limit, adopt_member);
  }
  os::FdExchangeClient client;
  client.key = key_;
  client.leader = group.leader();
  client.pe = pe_;
  client.name = socket_name(group.leader());
  const Card& leader = cards[static_cast<size_t>(group.leader())];
  if (leader.identity.network != mine.identity.network) client.path = socket_path(client.name);
  return os::fetch_fds(client, segment_.fd(), group.members.size(), limit, adopt_member);
}

}  // namespace symm
