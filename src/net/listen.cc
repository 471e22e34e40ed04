#include "net/listen.h"

#include <fcntl.h>
#include <poll.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "net/interfaces.h"

namespace symm::net {
namespace {

constexpr int kBusyRetryMs = 20;

struct BindFailure {
  int error = 0;
  const char* step = "";
};

UniqueFd try_listen(const SocketAddress& address, bool v6_only, BindFailure& failure) {
  UniqueFd fd(socket(address.family(), SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  auto failed = [&](const char* step) {
    failure = {errno, step};
    return UniqueFd();
  };
  if (!fd.valid()) return failed("socket");
  int on = 1;
  int only = v6_only ? 1 : 0;
  if (setsockopt(fd.get(), SOL_SOCKET, SO_REUSEADDR, &on, sizeof on) != 0)
    return failed("SO_REUSEADDR");
  if (address.is_v6() && setsockopt(fd.get(), IPPROTO_IPV6, IPV6_V6ONLY, &only, sizeof only) != 0) {
    return failed("IPV6_V6ONLY");
  }
  if (bind(fd.get(), address.get(), address.size()) != 0) return failed("bind");
  if (listen(fd.get(), kListenBacklog) != 0) return failed("listen");
  return fd;
}

Status failure_status(const SocketAddress& address, const BindFailure& failure) {
  if (failure.error == EADDRINUSE) {
    return SYMM_ERROR(
        kInternal,
        "cannot listen at {}: port {} is held by another process (ss -ltnp shows which); "
        "choose another port or end that process",
        address.to_string(), address.port());
  }
  if (failure.error == EADDRNOTAVAIL) {
    return SYMM_ERROR(
        kInternal,
        "cannot listen at {}: not an address of this host; PE 0 must run on the host that "
        "the address names",
        address.to_string());
  }
  return SYMM_ERROR(kInternal, "cannot listen at {}: {}: {}", address.to_string(), failure.step,
                    std::strerror(failure.error));
}

struct Target {
  SocketAddress address;
  bool v6_only = true;
  bool optional = false;  // a family that this host lacks is no error
};

bool is_unavailable(int error) { return error == EAFNOSUPPORT || error == EADDRNOTAVAIL; }

bool all_own_and_routable(const std::vector<SocketAddress>& addresses) {
  auto own = list_interfaces();
  if (!own.ok()) return false;
  return std::all_of(addresses.begin(), addresses.end(), [&](const SocketAddress& wanted) {
    return !wanted.is_loopback() &&
           std::any_of(own.value().begin(), own.value().end(),
                       [&](const auto& item) { return item.address.same_host(wanted); });
  });
}

Result<std::vector<Target>> targets_of(const Address& address) {
  SYMM_ASSIGN(std::vector<SocketAddress> resolved, resolve(address));
  std::vector<Target> out;
  bool loopback_name = address.host == "localhost";
  if (address.literal || loopback_name || all_own_and_routable(resolved)) {
    for (const SocketAddress& one : resolved) {
      bool known = std::any_of(out.begin(), out.end(),
                               [&](const Target& t) { return t.address.same_host(one); });
      if (!known) out.push_back({one, true, loopback_name});
    }
    return out;
  }
  out.push_back({SocketAddress::any_v6(address.port), false, true});
  out.push_back({SocketAddress::any_v4(address.port), true, true});
  return out;
}

// One attempt at all targets. EADDRINUSE is reported through `busy`.
Result<Listeners> listen_once(std::vector<Target> targets, bool& busy) {
  Listeners out;
  Status last;
  for (Target& target : targets) {
    if (out.port != 0) target.address.set_port(out.port);
    BindFailure failure;
    UniqueFd fd = try_listen(target.address, target.v6_only, failure);
    if (!fd.valid()) {
      last = failure_status(target.address, failure);
      if (target.optional && is_unavailable(failure.error)) continue;
      busy = failure.error == EADDRINUSE;
      return last;
    }
    SYMM_ASSIGN(SocketAddress bound, local_address(fd.get()));
    out.port = bound.port();
    out.fds.push_back(std::move(fd));
    if (!target.v6_only) return out;  // the dual-stack socket serves both families
  }
  if (out.fds.empty()) return last;
  return out;
}

}  // namespace

Result<Listeners> listen_on(const Address& address, Deadline busy_until) {
  SYMM_ASSIGN(std::vector<Target> targets, targets_of(address));
  while (true) {
    bool busy = false;
    auto result = listen_once(targets, busy);
    if (result.ok() || !busy || busy_until.expired()) return result;
    // Nothing tells when a foreign process lets the port go: ask again after a pause.
    poll(nullptr, 0,
         static_cast<int>(std::min<int64_t>(kBusyRetryMs, busy_until.left().count() + 1)));
  }
}

Result<UniqueFd> listen_at(const SocketAddress& address) {
  BindFailure failure;
  UniqueFd fd = try_listen(address, true, failure);
  if (!fd.valid()) return failure_status(address, failure);
  return fd;
}

Result<Listeners> adopt_listener(int fd) {
  int type = 0;
  socklen_t size = sizeof type;
  if (getsockopt(fd, SOL_SOCKET, SO_TYPE, &type, &size) != 0 || type != SOCK_STREAM) {
    return SYMM_ERROR(kInvalidParam, "listening descriptor {} is not a TCP socket", fd);
  }
  SYMM_ASSIGN(SocketAddress bound, local_address(fd));
  if (bound.port() == 0) {
    return SYMM_ERROR(kInvalidParam, "listening descriptor {} is not bound to a port", fd);
  }
  if (listen(fd, kListenBacklog) != 0) {
    return SYMM_ERROR(kInvalidParam, "cannot listen on descriptor {} ({}): {}", fd,
                      bound.to_string(), std::strerror(errno));
  }
  int flags = fcntl(fd, F_GETFL);
  if (flags < 0 || fcntl(fd, F_SETFL, flags | O_NONBLOCK) != 0 ||
      fcntl(fd, F_SETFD, FD_CLOEXEC) != 0) {
    return SYMM_ERROR(kInternal, "descriptor {}: {}", fd, std::strerror(errno));
  }
  Listeners out;
  out.port = bound.port();
  out.fds.emplace_back(fd);
  return out;
}

}  // namespace symm::net
