// SocketAddress: a sockaddr with its length, and the look-up of names.
// Threads: any; plain values. resolve() may block as long as the system's resolver does.
#pragma once

#include <netinet/in.h>
#include <sys/socket.h>

#include <string>
#include <vector>

#include "base/status.h"
#include "net/address.h"

namespace symm::net {

class SocketAddress {
 public:
  SocketAddress() = default;
  // The first `size` bytes of a sockaddr, as the system returned it.
  SocketAddress(const sockaddr* address, socklen_t size);

  const sockaddr* get() const { return reinterpret_cast<const sockaddr*>(&storage_); }
  socklen_t size() const { return size_; }
  int family() const { return storage_.ss_family; }
  bool is_v6() const { return storage_.ss_family == AF_INET6; }
  bool is_loopback() const;
  bool is_link_local() const;
  uint16_t port() const;
  void set_port(uint16_t port);
  // The address without the port, with the scope if it has one.
  std::string host() const;
  std::string to_string() const;  // "host:port" or "[host]:port"
  bool same_host(const SocketAddress& other) const;

  static SocketAddress any_v4(uint16_t port);
  static SocketAddress any_v6(uint16_t port);

 private:
  sockaddr_storage storage_{};
  socklen_t size_ = 0;
};

// All addresses of a host, IPv4 before IPv6, restricted to the family of the Address. kInvalidParam
// when there is none.
Result<std::vector<SocketAddress>> resolve(const Address& address);

// Where a socket is bound, or connected to.
Result<SocketAddress> local_address(int fd);

}  // namespace symm::net
