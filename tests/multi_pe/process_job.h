// Runs PEs as forked processes with the real bootstrap plug-in. The parent never initialises the
// library.
#pragma once

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <arpa/inet.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <string>
#include <vector>

#include "shmem.h"

namespace symm::test {

// A listening socket on a free port of the loopback interface, for PE 0 to inherit.
struct BoundPort {
  int fd = -1;
  int port = 0;
};

inline BoundPort bind_port() {
  BoundPort bound;
  bound.fd = ::socket(AF_INET, SOCK_STREAM, 0);
  // Connections that linger after a round must not keep later rounds from the port.
  int yes = 1;
  ::setsockopt(bound.fd, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof(yes));
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof(address);
  if (::bind(bound.fd, reinterpret_cast<sockaddr*>(&address), size) != 0 ||
      ::listen(bound.fd, 64) != 0 ||
      ::getsockname(bound.fd, reinterpret_cast<sockaddr*>(&address), &size) != 0) {
    std::perror("bind_port");
    std::abort();
  }
  bound.port = ntohs(address.sin_port);
  return bound;
}

inline aclshmemx_init_attr_t process_attributes(const BoundPort& port, int pe, int n_pes,
                                                uint64_t heap_bytes = 4 << 20) {
  aclshmemx_init_attr_t attributes{pe, n_pes, {}, heap_bytes};
  std::snprintf(attributes.ip_port, sizeof(attributes.ip_port), "tcp://127.0.0.1:%d", port.port);
  attributes.option_attr.data_op_engine_type =
      static_cast<data_op_engine_type_t>(ACLSHMEM_DATA_OP_MTE | ACLSHMEM_DATA_OP_ROCE);
  attributes.option_attr.shm_init_timeout = 30;
  attributes.option_attr.control_operation_timeout = 30;
  if (pe == 0) attributes.option_attr.sockFd = port.fd;
  return attributes;
}

// In a child: fails it with a message when the condition does not hold.
#define CHECK_IN_CHILD(condition)                                                           \
  do {                                                                                      \
    if (!(condition)) {                                                                     \
      std::fprintf(stderr, "%s:%d: PE check failed: %s\n", __FILE__, __LINE__, #condition); \
      std::_Exit(1);                                                                        \
    }                                                                                       \
  } while (0)

// The body of a PE; its result is the exit code.
using ProcessBody = std::function<int(int pe, const BoundPort& port)>;

class ProcessJob {
 public:
  ProcessJob(int n_pes, const ProcessBody& body) : port_(bind_port()) {
    for (int pe = 0; pe < n_pes; ++pe) {
      std::fflush(nullptr);
      pid_t child = ::fork();
      if (child == 0) {
        if (pe != 0) ::close(port_.fd);
        // Not the test program's exit handlers; but those of the library.
        int code = body(pe, port_);
        std::exit(code);
      }
      children_.push_back(child);
    }
    ::close(port_.fd);
  }
  ~ProcessJob() {
    for (pid_t child : children_) {
      if (child > 0) {
        ::kill(child, SIGKILL);
        ::waitpid(child, nullptr, 0);
      }
    }
  }

  pid_t pid(int pe) const { return children_[static_cast<size_t>(pe)]; }
  void kill(int pe) { ::kill(pid(pe), SIGKILL); }
  // The wait status of a PE.
  int wait(int pe) {
    int status = -1;
    ::waitpid(pid(pe), &status, 0);
    children_[static_cast<size_t>(pe)] = -1;
    return status;
  }
  void expect_all_ok() {
    for (size_t pe = 0; pe < children_.size(); ++pe) {
      int status = wait(static_cast<int>(pe));
      EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0)
          << "PE " << pe << " ended with wait status " << status;
    }
  }

 private:
  BoundPort port_;
  std::vector<pid_t> children_;
};

}  // namespace symm::test
