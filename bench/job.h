// What the benchmarks share: a job of forked PEs, and times.
#pragma once

#include <arpa/inet.h>
#include <sched.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include "shmem.h"

namespace bench {

using Clock = std::chrono::steady_clock;

inline double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

inline double median(std::vector<double> values) {
  std::nth_element(values.begin(), values.begin() + static_cast<ptrdiff_t>(values.size() / 2),
                   values.end());
  return values[values.size() / 2];
}

struct Port {
  int fd;
  int number;
};

inline Port bind_port() {
  Port port{::socket(AF_INET, SOCK_STREAM, 0), 0};
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof(address);
  if (::bind(port.fd, reinterpret_cast<sockaddr*>(&address), size) != 0 ||
      ::listen(port.fd, 64) != 0 ||
      ::getsockname(port.fd, reinterpret_cast<sockaddr*>(&address), &size) != 0) {
    std::perror("bind");
    std::exit(1);
  }
  port.number = ntohs(address.sin_port);
  return port;
}

inline void init(int pe, int n_pes, const Port& port, uint64_t heap) {
  aclshmemx_init_attr_t attributes{pe, n_pes, {}, heap};
  std::snprintf(attributes.ip_port, sizeof(attributes.ip_port), "tcp://127.0.0.1:%d", port.number);
  if (pe == 0) attributes.option_attr.sockFd = port.fd;
  if (aclshmemx_init_attr(ACLSHMEMX_INIT_WITH_DEFAULT, &attributes) != 0) std::exit(1);
}

// Runs body(pe) in n_pes processes; true when all ended well.
template <typename Body>
bool run_job(int n_pes, uint64_t heap, Body body) {
  Port port = bind_port();
  std::vector<pid_t> children;
  for (int pe = 0; pe < n_pes; ++pe) {
    std::fflush(nullptr);
    pid_t child = ::fork();
    if (child == 0) {
      init(pe, n_pes, port, heap);
      body(pe);
      std::exit(aclshmem_finalize() == 0 ? 0 : 1);
    }
    children.push_back(child);
  }
  ::close(port.fd);
  bool ok = true;
  for (pid_t child : children) {
    int status = -1;
    ::waitpid(child, &status, 0);
    ok = ok && WIFEXITED(status) && WEXITSTATUS(status) == 0;
  }
  return ok;
}

}  // namespace bench
