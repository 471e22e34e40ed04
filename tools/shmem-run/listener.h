// The socket at which PE 0 will serve its store: opened before PE 0 starts, so that no other
// process can take the port in between. Threads: any. Ownership: the caller owns the socket.
#pragma once

#include <string>
#include <vector>

#include "base/status.h"
#include "base/unique_fd.h"

namespace symm::launcher {

struct Listener {
  UniqueFd fd;
  std::string address;  // tcp://host:port or tcp6://[host]:port
};

// `others`: the hosts that must reach it; without any the socket is on loopback. The address is the
// one from which this host sends to the first of them that it can resolve, or `forced`, for which
// every address of the host is listened at. kBootstrap says which host cannot be found.
Result<Listener> listen_for(const std::vector<std::string>& others, const std::string& forced);

}  // namespace symm::launcher
