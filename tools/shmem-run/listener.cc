#include "shmem-run/listener.h"

#include <arpa/inet.h>
#include <netdb.h>
#include <netinet/in.h>
#include <string.h>
#include <sys/socket.h>

#include <cerrno>
#include <memory>

namespace symm::launcher {
namespace {

struct Place {
  sockaddr_storage address{};
  socklen_t size = 0;

  sockaddr* get() { return reinterpret_cast<sockaddr*>(&address); }
  bool is_v6() const { return address.ss_family == AF_INET6; }
  in_port_t& port() {
    return is_v6() ? reinterpret_cast<sockaddr_in6*>(&address)->sin6_port
                   : reinterpret_cast<sockaddr_in*>(&address)->sin_port;
  }
};

Place loopback() {
  Place place;
  auto* v4 = reinterpret_cast<sockaddr_in*>(&place.address);
  v4->sin_family = AF_INET;
  v4->sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  place.size = sizeof(*v4);
  return place;
}

Place every_address(bool v6) {
  Place place;
  place.address.ss_family = v6 ? AF_INET6 : AF_INET;
  place.size = v6 ? sizeof(sockaddr_in6) : sizeof(sockaddr_in);
  return place;
}

// Our own address on the way to a host. Connecting a datagram socket sends nothing. `why` is set
// when there is none.
bool source_towards(const std::string& host, Place* out, std::string* why) {
  addrinfo hints = {};
  hints.ai_socktype = SOCK_DGRAM;
  addrinfo* found = nullptr;
  // "user@host" is for the agent.
  const std::string name = host.substr(host.find('@') + 1);
  if (int code = ::getaddrinfo(name.c_str(), "9", &hints, &found); code != 0) {
    *why = fmt::format("{}: {}", name, ::gai_strerror(code));
    return false;
  }
  std::unique_ptr<addrinfo, decltype(&::freeaddrinfo)> list(found, &::freeaddrinfo);
  for (addrinfo* one = found; one != nullptr; one = one->ai_next) {
    UniqueFd fd(::socket(one->ai_family, SOCK_DGRAM | SOCK_CLOEXEC, 0));
    out->size = sizeof(out->address);
    if (fd.valid() && ::connect(fd.get(), one->ai_addr, one->ai_addrlen) == 0 &&
        ::getsockname(fd.get(), out->get(), &out->size) == 0) {
      return true;
    }
    *why = fmt::format("{}: {}", name, ::strerror(errno));
  }
  return false;
}

Result<Place> find_place(const std::vector<std::string>& others) {
  Place place;
  std::string why;
  for (const std::string& host : others) {
    if (source_towards(host, &place, &why)) return place;
  }
  return SYMM_ERROR(kBootstrap,
                    "no address under which the other hosts reach PE 0 was found ({}); give it "
                    "with --address, or use names in -H that every host can look up",
                    why);
}

Status open_at(Place place, Listener* out, in_port_t* port) {
  out->fd.reset(::socket(place.address.ss_family, SOCK_STREAM | SOCK_CLOEXEC, 0));
  const int on = 1;
  place.port() = 0;
  // Reuse is set after bind: the port shall be nobody else's now, but PE 0 may bind it again later,
  // when connections of this socket still linger.
  if (!out->fd.valid() || ::bind(out->fd.get(), place.get(), place.size) != 0 ||
      ::setsockopt(out->fd.get(), SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on)) != 0 ||
      ::listen(out->fd.get(), SOMAXCONN) != 0 ||
      ::getsockname(out->fd.get(), place.get(), &place.size) != 0) {
    return SYMM_ERROR(kBootstrap, "no free port for PE 0: {}", ::strerror(errno));
  }
  *port = ntohs(place.port());
  return {};
}

}  // namespace

Result<Listener> listen_for(const std::vector<std::string>& others, const std::string& forced) {
  Listener out;
  in_port_t port = 0;
  if (!forced.empty()) {
    const bool v6 = forced.find(':') != std::string::npos;
    SYMM_TRY(open_at(every_address(v6), &out, &port));
    out.address =
        v6 ? fmt::format("tcp6://[{}]:{}", forced, port) : fmt::format("tcp://{}:{}", forced, port);
    return out;
  }
  Place place = loopback();
  if (!others.empty()) {
    SYMM_ASSIGN(place, find_place(others));
  }
  SYMM_TRY(open_at(place, &out, &port));
  char host[NI_MAXHOST] = "";
  // With the scope of a link-local address, which other hosts may not know by this name.
  if (int code =
          ::getnameinfo(place.get(), place.size, host, sizeof(host), nullptr, 0, NI_NUMERICHOST);
      code != 0) {
    return SYMM_ERROR(kBootstrap, "address of PE 0: {}", ::gai_strerror(code));
  }
  out.address = place.is_v6() ? fmt::format("tcp6://[{}]:{}", host, port)
                              : fmt::format("tcp://{}:{}", host, port);
  return out;
}

}  // namespace symm::launcher
