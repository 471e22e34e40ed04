// Which of this host's addresses other PEs should use. list_interfaces() asks the system;
// choose_address() is pure. Threads: any.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/status.h"
#include "net/address.h"
#include "net/socket_address.h"

namespace symm::net {

struct InterfaceAddress {
  std::string name;
  SocketAddress address;
  bool up = false;  // up and running
  bool loopback = false;
};

Result<std::vector<InterfaceAddress>> list_interfaces();

// The source address that the default route of this family uses, if there is one. Sends nothing.
std::optional<SocketAddress> default_route_source(Family family);

// With a spec: the first address of the interfaces it names (IPv4 before IPv6 unless it fixes the
// family). Without: the address of the default route, else the first usable one; virtual
// interfaces, loopback and link-local addresses are passed over, and loopback is taken when nothing
// else exists. kInvalidParam lists every interface and why it was passed over.
Result<InterfaceAddress> choose_address(const std::vector<InterfaceAddress>& interfaces,
                                        const std::optional<InterfaceSpec>& spec,
                                        const std::vector<SocketAddress>& preferred);

}  // namespace symm::net
