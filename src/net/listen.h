// Listening TCP sockets for the store: bound with SO_REUSEADDR, non-blocking, close-on-exec.
// Threads: any. Ownership: the caller owns the descriptors.
#pragma once

#include <vector>

#include "base/deadline.h"
#include "base/status.h"
#include "base/unique_fd.h"
#include "net/address.h"
#include "net/socket_address.h"

namespace symm::net {

inline constexpr int kListenBacklog = 4096;

struct Listeners {
  std::vector<UniqueFd> fds;
  uint16_t port = 0;
};

// Listens where clients of this address will arrive: at a literal itself; for localhost at both
// loopback addresses; for a name at the addresses it resolves to when all of them belong to this
// host and are not loopback, else at every address of the host, IPv4 and IPv6. All sockets share
// one port; 0 takes a free one. A port that is busy is tried again until the deadline (a previous
// run may be about to leave it), then kInternal names it.
Result<Listeners> listen_on(const Address& address, Deadline busy_until);

// Binds one address; used for unique ids.
Result<UniqueFd> listen_at(const SocketAddress& address);

// Takes over a bound socket. kInvalidParam when fd is not a bound TCP socket; the caller keeps fd
// then.
Result<Listeners> adopt_listener(int fd);

}  // namespace symm::net
