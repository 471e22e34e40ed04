#include "os/fd_exchange.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <optional>

#include "base/log.h"

namespace symm::os {
namespace {

constexpr uint32_t kMagic = 0x53594d31;
constexpr size_t kBatch = 64;        // descriptors in one message; the kernel allows 253
constexpr size_t kStrangers = 64;    // connections beyond the members that are looked at
constexpr int64_t kCheckMs = 50;     // how often a wait looks whether the job is still whole
constexpr double kProofSeconds = 5;  // a connection that proves nothing in this time is dropped

struct Hello {
  uint32_t magic;
  uint8_t nonce[32];
};
struct Proof {
  uint32_t magic;
  int32_t pe;
  uint8_t nonce[32];
  uint8_t mac[32];
};
struct Answer {
  uint32_t magic;
  uint8_t mac[32];
};
struct Batch {
  uint32_t magic;
  uint32_t first;
  uint32_t count;
};

Digest proof_of(const Digest& key, const char* role, const uint8_t (&own)[32],
                const uint8_t (&peer)[32], int pe) {
  std::string text = fmt::format("{} {} ", role, pe);
  text.append(reinterpret_cast<const char*>(own), sizeof(own));
  text.append(reinterpret_cast<const char*>(peer), sizeof(peer));
  return hmac_sha256(key, text);
}

bool proves(const uint8_t (&mac)[32], const Digest& wanted) {
  Digest got;
  std::memcpy(got.data(), mac, got.size());
  return equal_secret(got, wanted);
}

Status socket_error(const char* what) {
  const bool short_of_fds = errno == EMFILE || errno == ENFILE;
  return SYMM_ERROR(kSmem, "local socket: {}: {}{}", what, std::strerror(errno),
                    short_of_fds ? "; raise the limit of open files (ulimit -n): during init the "
                                   "lowest PE of a host needs about 2 per PE of the host"
                                 : "");
}

std::string credentials(int fd) {
  ucred peer{};
  socklen_t size = sizeof(peer);
  if (::getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &size) != 0) return "unknown process";
  return fmt::format("process {} of user {}", peer.pid, peer.uid);
}

// Time until the limit is looked at again.
int poll_ms(const ExchangeLimit& limit) {
  return static_cast<int>(std::min<int64_t>(limit.deadline.left().count(), kCheckMs));
}

Status wait_for(int fd, short events, const ExchangeLimit& limit, const char* what) {
  for (;;) {
    pollfd entry{fd, events, 0};
    int got = ::poll(&entry, 1, poll_ms(limit));
    if (got > 0) return {};
    if (got < 0 && errno != EINTR) return socket_error("poll");
    SYMM_TRY(limit.check());
    if (limit.deadline.expired()) {
      return SYMM_ERROR(kTimeout, "local socket: {} took too long", what);
    }
  }
}

template <typename T>
Status send_message(int fd, const T& message, const int* fds = nullptr, size_t count = 0) {
  iovec data{const_cast<T*>(&message), sizeof(message)};
  alignas(cmsghdr) char control[CMSG_SPACE(sizeof(int) * kBatch)] = {};
  msghdr header{};
  header.msg_iov = &data;
  header.msg_iovlen = 1;
  if (count > 0) {
    header.msg_control = control;
    header.msg_controllen = CMSG_SPACE(sizeof(int) * count);
    cmsghdr* part = CMSG_FIRSTHDR(&header);
    part->cmsg_level = SOL_SOCKET;
    part->cmsg_type = SCM_RIGHTS;
    part->cmsg_len = CMSG_LEN(sizeof(int) * count);
    std::memcpy(CMSG_DATA(part), fds, sizeof(int) * count);
  }
  ssize_t sent;
  do {
    sent = ::sendmsg(fd, &header, MSG_NOSIGNAL);
  } while (sent < 0 && errno == EINTR);
  if (sent != static_cast<ssize_t>(sizeof(message))) return socket_error("send");
  return {};
}

// Receives one message of exactly T and whatever descriptors came along.
template <typename T>
Status receive_message(int fd, T& message, std::vector<UniqueFd>& fds) {
  iovec data{&message, sizeof(message)};
  alignas(cmsghdr) char control[CMSG_SPACE(sizeof(int) * kBatch)] = {};
  msghdr header{};
  header.msg_iov = &data;
  header.msg_iovlen = 1;
  header.msg_control = control;
  header.msg_controllen = sizeof(control);
  ssize_t got;
  do {
    got = ::recvmsg(fd, &header, MSG_CMSG_CLOEXEC);
  } while (got < 0 && errno == EINTR);
  if (got < 0) return socket_error("receive");
  for (cmsghdr* part = CMSG_FIRSTHDR(&header); part != nullptr; part = CMSG_NXTHDR(&header, part)) {
    if (part->cmsg_level != SOL_SOCKET || part->cmsg_type != SCM_RIGHTS) continue;
    size_t count = (part->cmsg_len - CMSG_LEN(0)) / sizeof(int);
    for (size_t i = 0; i < count; ++i) {
      int received;
      std::memcpy(&received, CMSG_DATA(part) + i * sizeof(int), sizeof(int));
      fds.emplace_back(received);
    }
  }
  if (got == 0) return SYMM_ERROR(kPeerLost, "local socket: the other side closed it");
  if (got != static_cast<ssize_t>(sizeof(message)) || message.magic != kMagic) {
    return SYMM_ERROR(kSmem, "local socket: a message that is none of ours");
  }
  if ((header.msg_flags & MSG_CTRUNC) != 0) {
    return SYMM_ERROR(kSmem,
                      "local socket: descriptors were lost; raise the limit of open files "
                      "(ulimit -n)");
  }
  return {};
}

Result<UniqueFd> new_socket() {
  UniqueFd fd(::socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0));
  if (!fd.valid()) return socket_error("socket");
  return fd;
}

// The address of an abstract name (leading zero byte) or of a file.
Result<socklen_t> make_address(sockaddr_un& address, const std::string& name, bool abstract) {
  address = {};
  address.sun_family = AF_UNIX;
  if (name.size() + 1 > sizeof(address.sun_path)) {
    return SYMM_ERROR(kInternal, "local socket name of {} bytes is too long", name.size());
  }
  std::memcpy(address.sun_path + (abstract ? 1 : 0), name.data(), name.size());
  return static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + name.size());
}

Result<UniqueFd> listen_on(const std::string& name, bool abstract, int backlog) {
  SYMM_ASSIGN(UniqueFd fd, new_socket());
  sockaddr_un address;
  SYMM_ASSIGN(socklen_t size, make_address(address, name, abstract));
  if (::bind(fd.get(), reinterpret_cast<sockaddr*>(&address), size) != 0)
    return socket_error("bind");
  if (::listen(fd.get(), backlog) != 0) return socket_error("listen");
  return fd;
}

struct Connection {
  UniqueFd fd;
  Hello hello{};
  Deadline limit = Deadline::never();
  int pe = -1;  // known after the proof
};

// The gathering half of the leader: one state per connection, driven by poll.
class Gathering {
 public:
  Gathering(const Digest& key, const std::vector<int>& members)
      : key_(key), members_(members), fds_(members.size()), links_(members.size()) {}

  Status run(const std::vector<int>& listeners, const ExchangeLimit& limit) {
    while (arrived_ + 1 < members_.size()) {
      std::vector<pollfd> entries;
      for (int fd : listeners) entries.push_back({fd, POLLIN, 0});
      for (const Connection& one : open_) entries.push_back({one.fd.get(), POLLIN, 0});
      int got = ::poll(entries.data(), entries.size(), poll_ms(limit));
      if (got < 0 && errno != EINTR) return socket_error("poll");
      if (got > 0) {
        // Backwards, since handled connections leave the list.
        for (size_t i = entries.size(); i-- > listeners.size();) {
          if (entries[i].revents != 0) SYMM_TRY(progress(i - listeners.size()));
        }
        for (size_t i = 0; i < listeners.size(); ++i) {
          if (entries[i].revents != 0) SYMM_TRY(accept_one(listeners[i]));
        }
      }
      std::erase_if(open_, [](const Connection& one) { return one.pe < 0 && one.limit.expired(); });
      if (arrived_ + 1 == members_.size()) break;
      SYMM_TRY(limit.check());
      if (limit.deadline.expired()) return missing();
    }
    return {};
  }

  std::vector<UniqueFd>& fds() { return fds_; }
  std::vector<UniqueFd>& links() { return links_; }

 private:
  Status accept_one(int listener) {
    Connection one;
    one.fd.reset(::accept4(listener, nullptr, nullptr, SOCK_CLOEXEC));
    if (!one.fd.valid()) {
      // The caller of the connection may be gone already; a lack of descriptors stays.
      if (errno != EMFILE && errno != ENFILE) return {};
      return socket_error("accept");
    }
    if (open_.size() >= members_.size() + kStrangers) return {};
    one.hello.magic = kMagic;
    random_bytes(one.hello.nonce, sizeof(one.hello.nonce));
    one.limit = Deadline::after_seconds(kProofSeconds);
    if (send_message(one.fd.get(), one.hello).ok()) open_.push_back(std::move(one));
    return {};
  }

  Status progress(size_t at) {
    Connection& one = open_[at];
    if (one.pe < 0) {
      Status status = check_proof(one);
      if (!status.ok()) {
        SYMM_LOG(kWarn, "security: refused {} on the local socket: {}", credentials(one.fd.get()),
                 status.text());
        open_.erase(open_.begin() + static_cast<ptrdiff_t>(at));
      }
      return {};
    }
    Hello unused{};
    std::vector<UniqueFd> received;
    Status status = receive_message(one.fd.get(), unused, received);
    if (!status.ok() || received.size() != 1) {
      return SYMM_ERROR(kSmem, "PE {} did not hand over its shared memory: {}", one.pe,
                        status.text());
    }
    size_t index = index_of(one.pe);
    fds_[index] = std::move(received[0]);
    links_[index] = std::move(one.fd);
    ++arrived_;
    open_.erase(open_.begin() + static_cast<ptrdiff_t>(at));
    return {};
  }

  Status check_proof(Connection& one) {
    Proof proof{};
    std::vector<UniqueFd> none;
    SYMM_TRY(receive_message(one.fd.get(), proof, none));
    if (!proves(proof.mac, proof_of(key_, "member", one.hello.nonce, proof.nonce, proof.pe))) {
      return SYMM_ERROR(kSmem, "it does not hold the key of this job");
    }
    size_t index = index_of(proof.pe);
    if (index == 0 || index == members_.size() || links_[index].valid()) {
      return SYMM_ERROR(kSmem, "PE {} is not awaited", proof.pe);
    }
    Answer answer{kMagic, {}};
    Digest mac = proof_of(key_, "leader", proof.nonce, one.hello.nonce, proof.pe);
    std::memcpy(answer.mac, mac.data(), mac.size());
    SYMM_TRY(send_message(one.fd.get(), answer));
    one.pe = proof.pe;
    SYMM_LOG(kDebug, "PE {} is {}", one.pe, credentials(one.fd.get()));
    return {};
  }

  size_t index_of(int pe) const {
    return static_cast<size_t>(std::find(members_.begin(), members_.end(), pe) - members_.begin());
  }

  Status missing() const {
    std::string names;
    for (size_t i = 1; i < members_.size(); ++i) {
      if (!links_[i].valid()) names += fmt::format("{}{}", names.empty() ? "" : ", ", members_[i]);
    }
    return SYMM_ERROR(kTimeout, "PEs {} did not hand over their shared memory in time", names);
  }

  const Digest& key_;
  const std::vector<int>& members_;
  std::vector<UniqueFd> fds_;
  std::vector<UniqueFd> links_;
  std::vector<Connection> open_;
  size_t arrived_ = 0;
};

// One batch at a time and answered, so that descriptors in flight stay few whatever the number of
// members is.
Status hand_out(int link, int pe, const std::vector<UniqueFd>& fds, const ExchangeLimit& limit) {
  for (size_t first = 0; first < fds.size(); first += kBatch) {
    size_t count = std::min(kBatch, fds.size() - first);
    int batch[kBatch];
    for (size_t i = 0; i < count; ++i) batch[i] = fds[first + i].get();
    Batch header{kMagic, static_cast<uint32_t>(first), static_cast<uint32_t>(count)};
    Status status = send_message(link, header, batch, count);
    if (status.ok()) status = wait_for(link, POLLIN, limit, "an answer");
    Hello answer{};
    std::vector<UniqueFd> none;
    if (status.ok()) status = receive_message(link, answer, none);
    if (!status.ok()) return std::move(status).with_context(fmt::format("PE {}", pe));
  }
  return {};
}

}  // namespace

FdListener::~FdListener() {
  if (!path_.empty()) ::unlink(path_.c_str());
}

FdListener& FdListener::operator=(FdListener&& other) noexcept {
  // The other one takes our file with it.
  std::swap(abstract_, other.abstract_);
  std::swap(path_fd_, other.path_fd_);
  std::swap(path_, other.path_);
  return *this;
}

Result<FdListener> FdListener::bind(const std::string& name, int backlog) {
  FdListener listener;
  SYMM_ASSIGN(listener.abstract_, listen_on(name, true, backlog));
  return listener;
}

Status FdListener::bind_path(const std::string& path, int backlog) {
  ::unlink(path.c_str());
  SYMM_ASSIGN(path_fd_, listen_on(path, false, backlog));
  path_ = path;
  // Members may run under other users; the proof of the key decides, not the mode of the file.
  if (::chmod(path.c_str(), 0666) != 0) return socket_error("chmod");
  return {};
}

Status FdListener::serve(const Digest& key, const std::vector<int>& members, int own_fd,
                         const ExchangeLimit& limit, const FdSink& sink) {
  std::vector<int> listeners{abstract_.get()};
  if (path_fd_.valid()) listeners.push_back(path_fd_.get());
  Gathering gathering(key, members);
  SYMM_TRY(gathering.run(listeners, limit));
  gathering.fds()[0].reset(::fcntl(own_fd, F_DUPFD_CLOEXEC, 0));
  if (!gathering.fds()[0].valid()) return socket_error("dup");
  for (size_t i = 1; i < members.size(); ++i) {
    SYMM_TRY(hand_out(gathering.links()[i].get(), members[i], gathering.fds(), limit));
  }
  for (size_t i = 0; i < members.size(); ++i) SYMM_TRY(sink(i, std::move(gathering.fds()[i])));
  return {};
}

namespace {

Result<UniqueFd> connect_to(const FdExchangeClient& client) {
  SYMM_ASSIGN(UniqueFd fd, new_socket());
  sockaddr_un address;
  bool abstract = client.path.empty();
  SYMM_ASSIGN(socklen_t size,
              make_address(address, abstract ? client.name : client.path, abstract));
  if (::connect(fd.get(), reinterpret_cast<sockaddr*>(&address), size) != 0) {
    return socket_error("connect to the leader of this host");
  }
  return fd;
}

Status introduce(const FdExchangeClient& client, int fd, const ExchangeLimit& limit) {
  Hello hello{};
  std::vector<UniqueFd> none;
  SYMM_TRY(wait_for(fd, POLLIN, limit, "the greeting of the leader"));
  SYMM_TRY(receive_message(fd, hello, none));
  Proof proof{kMagic, client.pe, {}, {}};
  random_bytes(proof.nonce, sizeof(proof.nonce));
  Digest mac = proof_of(client.key, "member", hello.nonce, proof.nonce, client.pe);
  std::memcpy(proof.mac, mac.data(), mac.size());
  SYMM_TRY(send_message(fd, proof));
  SYMM_TRY(wait_for(fd, POLLIN, limit, "the proof of the leader"));
  Answer answer{};
  SYMM_TRY(receive_message(fd, answer, none));
  if (!proves(answer.mac, proof_of(client.key, "leader", proof.nonce, hello.nonce, client.pe))) {
    return SYMM_ERROR(kSmem, "security: {} answers for PE {} but does not hold the key of this job",
                      credentials(fd), client.leader);
  }
  return {};
}

}  // namespace

Status fetch_fds(const FdExchangeClient& client, int own_fd, size_t count,
                 const ExchangeLimit& limit, const FdSink& sink) {
  SYMM_ASSIGN(UniqueFd link, connect_to(client));
  SYMM_TRY(introduce(client, link.get(), limit));
  Hello note{kMagic, {}};
  SYMM_TRY(send_message(link.get(), note, &own_fd, 1));
  for (size_t done = 0; done < count;) {
    SYMM_TRY(wait_for(link.get(), POLLIN, limit, "descriptors from the leader"));
    Batch batch{};
    std::vector<UniqueFd> fds;
    SYMM_TRY(receive_message(link.get(), batch, fds));
    if (batch.first != done || batch.count != fds.size() || fds.empty() ||
        fds.size() > count - done) {
      return SYMM_ERROR(kSmem, "PE {} handed over {} descriptors instead of {}", client.leader,
                        fds.size(), batch.count);
    }
    for (size_t i = 0; i < fds.size(); ++i) SYMM_TRY(sink(done + i, std::move(fds[i])));
    done += fds.size();
    SYMM_TRY(send_message(link.get(), note));
  }
  return {};
}

}  // namespace symm::os
