#include "net/socket_address.h"

#include <arpa/inet.h>
#include <net/if.h>
#include <netdb.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstring>

namespace symm::net {
namespace {

const sockaddr_in& as_v4(const sockaddr* address) {
  return *reinterpret_cast<const sockaddr_in*>(address);
}
const sockaddr_in6& as_v6(const sockaddr* address) {
  return *reinterpret_cast<const sockaddr_in6*>(address);
}

Result<uint32_t> scope_number(const Address& address) {
  uint32_t number = if_nametoindex(address.scope.c_str());
  if (number != 0) return number;
  auto [end, error] =
      std::from_chars(address.scope.data(), address.scope.data() + address.scope.size(), number);
  if (error == std::errc() && end == address.scope.data() + address.scope.size() && number != 0) {
    return number;
  }
  return SYMM_ERROR(kInvalidParam, "address {}: this host has no interface '{}'",
                    address.to_string(), address.scope);
}

Result<SocketAddress> literal_address(const Address& address) {
  if (address.family == Family::kV4) {
    sockaddr_in v4{};
    v4.sin_family = AF_INET;
    v4.sin_port = htons(address.port);
    inet_pton(AF_INET, address.host.c_str(), &v4.sin_addr);
    return SocketAddress(reinterpret_cast<sockaddr*>(&v4), sizeof v4);
  }
  sockaddr_in6 v6{};
  v6.sin6_family = AF_INET6;
  v6.sin6_port = htons(address.port);
  inet_pton(AF_INET6, address.host.c_str(), &v6.sin6_addr);
  if (!address.scope.empty()) {
    SYMM_ASSIGN(v6.sin6_scope_id, scope_number(address));
  }
  return SocketAddress(reinterpret_cast<sockaddr*>(&v6), sizeof v6);
}

}  // namespace

SocketAddress::SocketAddress(const sockaddr* address, socklen_t size)
    : size_(std::min<socklen_t>(size, sizeof storage_)) {
  std::memcpy(&storage_, address, size_);
}

bool SocketAddress::is_loopback() const {
  if (is_v6()) {
    const in6_addr& a = as_v6(get()).sin6_addr;
    return IN6_IS_ADDR_LOOPBACK(&a);
  }
  return (ntohl(as_v4(get()).sin_addr.s_addr) >> 24) == 127;
}

bool SocketAddress::is_link_local() const {
  if (is_v6()) {
    const in6_addr& a = as_v6(get()).sin6_addr;
    return IN6_IS_ADDR_LINKLOCAL(&a);
  }
  return (ntohl(as_v4(get()).sin_addr.s_addr) >> 16) == 0xA9FE;  // 169.254.0.0/16
}

uint16_t SocketAddress::port() const {
  return ntohs(is_v6() ? as_v6(get()).sin6_port : as_v4(get()).sin_port);
}

void SocketAddress::set_port(uint16_t port) {
  if (is_v6()) {
    reinterpret_cast<sockaddr_in6*>(&storage_)->sin6_port = htons(port);
  } else {
    reinterpret_cast<sockaddr_in*>(&storage_)->sin_port = htons(port);
  }
}

std::string SocketAddress::host() const {
  char text[INET6_ADDRSTRLEN] = "";
  if (!is_v6()) {
    inet_ntop(AF_INET, &as_v4(get()).sin_addr, text, sizeof text);
    return text;
  }
  inet_ntop(AF_INET6, &as_v6(get()).sin6_addr, text, sizeof text);
  uint32_t scope = as_v6(get()).sin6_scope_id;
  if (scope == 0) return text;
  char name[IF_NAMESIZE] = "";
  if (if_indextoname(scope, name) != nullptr) return fmt::format("{}%{}", text, name);
  return fmt::format("{}%{}", text, scope);
}

std::string SocketAddress::to_string() const {
  return fmt::format(fmt::runtime(is_v6() ? "[{}]:{}" : "{}:{}"), host(), port());
}

bool SocketAddress::same_host(const SocketAddress& other) const {
  if (family() != other.family()) return false;
  if (!is_v6()) return as_v4(get()).sin_addr.s_addr == as_v4(other.get()).sin_addr.s_addr;
  return std::memcmp(&as_v6(get()).sin6_addr, &as_v6(other.get()).sin6_addr, sizeof(in6_addr)) == 0;
}

SocketAddress SocketAddress::any_v4(uint16_t port) {
  sockaddr_in v4{};
  v4.sin_family = AF_INET;
  v4.sin_port = htons(port);
  return SocketAddress(reinterpret_cast<sockaddr*>(&v4), sizeof v4);
}

SocketAddress SocketAddress::any_v6(uint16_t port) {
  sockaddr_in6 v6{};
  v6.sin6_family = AF_INET6;
  v6.sin6_port = htons(port);
  return SocketAddress(reinterpret_cast<sockaddr*>(&v6), sizeof v6);
}

Result<std::vector<SocketAddress>> resolve(const Address& address) {
  if (address.literal) {
    SYMM_ASSIGN(SocketAddress one, literal_address(address));
    return std::vector<SocketAddress>{one};
  }
  addrinfo hints{};
  hints.ai_socktype = SOCK_STREAM;
  hints.ai_family = address.family == Family::kV6   ? AF_INET6
                    : address.family == Family::kV4 ? AF_INET
                                                    : AF_UNSPEC;
  addrinfo* list = nullptr;
  int error = getaddrinfo(address.host.c_str(), nullptr, &hints, &list);
  if (error != 0) {
    return SYMM_ERROR(kInvalidParam, "host name '{}' cannot be resolved: {}", address.host,
                      error == EAI_SYSTEM ? std::strerror(errno) : gai_strerror(error));
  }
  std::vector<SocketAddress> found;
  for (const addrinfo* entry = list; entry != nullptr; entry = entry->ai_next) {
    if (entry->ai_family != AF_INET && entry->ai_family != AF_INET6) continue;
    found.emplace_back(entry->ai_addr, entry->ai_addrlen);
    found.back().set_port(address.port);
  }
  freeaddrinfo(list);
  if (found.empty()) {
    return SYMM_ERROR(kInvalidParam, "host name '{}' has no address of the wanted family",
                      address.host);
  }
  std::stable_partition(found.begin(), found.end(), [](const auto& a) { return !a.is_v6(); });
  return found;
}

Result<SocketAddress> local_address(int fd) {
  sockaddr_storage storage{};
  socklen_t size = sizeof storage;
  if (getsockname(fd, reinterpret_cast<sockaddr*>(&storage), &size) != 0) {
    return SYMM_ERROR(kInvalidParam, "descriptor {} is not a usable socket: {}", fd,
                      std::strerror(errno));
  }
  if (storage.ss_family != AF_INET && storage.ss_family != AF_INET6) {
    return SYMM_ERROR(kInvalidParam, "descriptor {} is not a TCP socket", fd);
  }
  return SocketAddress(reinterpret_cast<sockaddr*>(&storage), size);
}

}  // namespace symm::net
