// The messages between the processes of a host: a leader with a hostile member, and a member with a
// hostile leader. The hostile side follows the input: which message, with which descriptors, with
// or without a right proof.
#include <fcntl.h>
#include <linux/sockios.h>
#include <poll.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <atomic>
#include <cstring>
#include <thread>

#include "os/fd_exchange.h"
#include "require.h"

namespace {

using namespace symm;
using namespace symm::os;

// How long either side waits for a message that the script may never send; no verdict hangs on it.
constexpr int kPatience_ms = 10;
constexpr double kPatience_s = 0.015;
constexpr uint32_t kMagic = 0x53594d31;
const Digest kKey = sha256("key of the fuzz target");

std::string fresh_name() {
  static uint64_t serial = 0;
  return "symm-fuzz-" + std::to_string(::getpid()) + "-" + std::to_string(++serial);
}

sockaddr_un abstract(const std::string& name, socklen_t& size) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  std::memcpy(address.sun_path + 1, name.data(), name.size());
  size = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + name.size());
  return address;
}

// Sends `bytes` with `count` descriptors; a peer that has hung up already is fine.
void send_with_fds(int to, std::string_view bytes, size_t count) {
  static const int null = ::open("/dev/null", O_RDWR | O_CLOEXEC);
  int fds[8];
  for (int& fd : fds) fd = null;
  iovec part{const_cast<char*>(bytes.data()), bytes.size()};
  alignas(cmsghdr) char control[CMSG_SPACE(sizeof(fds))] = {};
  msghdr message{};
  message.msg_iov = &part;
  message.msg_iovlen = 1;
  if (count > 0) {
    message.msg_control = control;
    message.msg_controllen = CMSG_SPACE(sizeof(int) * count);
    cmsghdr* head = CMSG_FIRSTHDR(&message);
    head->cmsg_level = SOL_SOCKET;
    head->cmsg_type = SCM_RIGHTS;
    head->cmsg_len = CMSG_LEN(sizeof(int) * count);
    std::memcpy(CMSG_DATA(head), fds, sizeof(int) * count);
  }
  (void)::sendmsg(to, &message, MSG_NOSIGNAL | MSG_DONTWAIT);
}

void append(std::string& out, const void* data, size_t size) {
  out.append(static_cast<const char*>(data), size);
}

// What the input says: steps of action, length, bytes.
class Script {
 public:
  explicit Script(std::string_view input) : input_(input) {}
  bool next() {
    if (input_.size() < 2) return false;
    action_ = static_cast<uint8_t>(input_[0]);
    size_t length = std::min<size_t>(static_cast<uint8_t>(input_[1]), input_.size() - 2);
    bytes_ = input_.substr(2, length);
    input_.remove_prefix(2 + length);
    return true;
  }
  uint8_t action() const { return action_; }
  std::string_view bytes() const { return bytes_; }

 private:
  std::string_view input_;
  uint8_t action_ = 0;
  std::string_view bytes_;
};

std::string proof(const char* role, int pe, std::string_view own, std::string_view peer) {
  std::string text = std::string(role) + " " + std::to_string(pe) + " ";
  text.append(own).append(peer);
  Digest mac = hmac_sha256(kKey, text);
  return {reinterpret_cast<const char*>(mac.data()), mac.size()};
}

void hostile_member(Script script, int fd) {
  char hello[256] = {};
  // The greeting is there as soon as the leader has looked.
  pollfd ready{fd, POLLIN, 0};
  if (::poll(&ready, 1, kPatience_ms) != 1 || ::recv(fd, hello, sizeof hello, 0) < 36) return;
  std::string_view nonce(hello + 4, 32);
  while (script.next()) {
    uint8_t action = script.action();
    std::string out;
    if (action < 64) {  // a right proof, of PE 1 or of another
      int32_t pe = action < 48 ? 1 : action - 50;
      std::string own(32, static_cast<char>(action));
      append(out, &kMagic, 4);
      append(out, &pe, 4);
      out += own + proof("member", pe, nonce, own);
    } else if (action < 128) {  // the magic, then anything
      append(out, &kMagic, 4);
      out += script.bytes();
    } else if (action < 160) {  // what hands over a descriptor
      append(out, &kMagic, 4);
      out += std::string(32, '\0');
    } else {
      out = script.bytes();
    }
    send_with_fds(fd, out, action % 4);
    // After a right proof comes the leader's answer, unless it has hung up.
    if (action < 48 && ::poll(&ready, 1, kPatience_ms) == 1) (void)::recv(fd, hello + 64, 128, 0);
  }
}

void attack_leader(std::string_view input) {
  std::string name = fresh_name();
  auto listener = FdListener::bind(name, 4);
  SYMM_REQUIRE(listener.ok());
  UniqueFd fd(::socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0));
  socklen_t size;
  sockaddr_un address = abstract(name, size);
  SYMM_REQUIRE(::connect(fd.get(), reinterpret_cast<sockaddr*>(&address), size) == 0);
  std::atomic<bool> over = false;
  std::thread member([&] {
    hostile_member(Script(input), fd.get());
    ::shutdown(fd.get(), SHUT_WR);
    over.store(true, std::memory_order_release);
  });
  ExchangeLimit limit{Deadline::after_seconds(kPatience_s), [&]() -> Status {
                        int unread = 0;
                        if (!over.load(std::memory_order_acquire)) return {};
                        if (::ioctl(fd.get(), SIOCOUTQ, &unread) == 0 && unread > 0) return {};
                        return SYMM_ERROR(kPeerLost, "the script is over");
                      }};
  size_t got = 0;
  UniqueFd own(::open("/dev/null", O_RDWR | O_CLOEXEC));
  Status status =
      listener.value().serve(kKey, {0, 1}, own.get(), limit, [&](size_t index, UniqueFd one) {
        SYMM_REQUIRE(index == got && one.valid());
        ++got;
        return Status();
      });
  SYMM_REQUIRE(status.ok() == (got == 2));
  member.join();
}

void hostile_leader(Script script, int listening) {
  UniqueFd fd(::accept4(listening, nullptr, nullptr, SOCK_CLOEXEC));
  std::string nonce(32, 'n');
  std::string hello;
  append(hello, &kMagic, 4);
  hello += nonce;
  uint32_t first = 0;
  while (script.next()) {
    uint8_t action = script.action();
    std::string out;
    if (action < 32) {
      out = hello;
    } else if (action < 64) {  // reads the proof, gives a right answer
      char got[256];
      pollfd ready{fd.get(), POLLIN, 0};
      if (::poll(&ready, 1, kPatience_ms) != 1 || ::recv(fd.get(), got, sizeof got, 0) < 72) return;
      append(out, &kMagic, 4);
      out += proof("leader", 1, {got + 8, 32}, nonce);
    } else if (action < 128) {  // a batch with as many descriptors as it says, or not
      uint32_t count = action % 4 + (action < 112 ? 0 : 1);
      append(out, &kMagic, 4);
      append(out, &first, 4);
      append(out, &count, 4);
      first += count;
    } else {
      append(out, &kMagic, action < 192 ? 4 : 0);
      out += script.bytes();
    }
    send_with_fds(fd.get(), out, action % 4);
  }
}

void attack_member(std::string_view input) {
  std::string name = fresh_name();
  UniqueFd listening(::socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0));
  socklen_t size;
  sockaddr_un address = abstract(name, size);
  SYMM_REQUIRE(::bind(listening.get(), reinterpret_cast<sockaddr*>(&address), size) == 0);
  SYMM_REQUIRE(::listen(listening.get(), 4) == 0);
  std::thread leader([&] { hostile_leader(Script(input), listening.get()); });
  FdExchangeClient client{kKey, name, "", 0, 1};
  ExchangeLimit limit{Deadline::after_seconds(kPatience_s), [] { return Status(); }};
  UniqueFd own(::open("/dev/null", O_RDWR | O_CLOEXEC));
  size_t got = 0;
  Status status = fetch_fds(client, own.get(), 3, limit, [&](size_t index, UniqueFd one) {
    SYMM_REQUIRE(index == got && index < 3 && one.valid());
    ++got;
    return Status();
  });
  SYMM_REQUIRE(!status.ok() || got == 3);
  leader.join();
}

int open_descriptors() {
  int probe = ::open("/dev/null", O_RDONLY | O_CLOEXEC);
  ::close(probe);
  return probe;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size == 0) return 0;
  std::string_view input(reinterpret_cast<const char*>(data) + 1, std::min<size_t>(size - 1, 1024));
  send_with_fds(-1, "", 0);  // opens what it keeps
  const int before = open_descriptors();
  if (data[0] % 2 == 0) {
    attack_leader(input);
  } else {
    attack_member(input);
  }
  SYMM_REQUIRE(open_descriptors() == before);
  return 0;
}
