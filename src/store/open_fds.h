// OpenFds: sockets that a forked child must not keep open: while it has them, the end of the parent
// does not close the connection, and nobody notices its death. The child's close_all() runs where
// other threads may have held any lock, so this is a plain array. Threads: set and clear by the
// owner of the socket, clear before it is closed; close_all in a forked child.
#pragma once

#include <unistd.h>

#include <atomic>
#include <cstddef>
#include <memory>

namespace symm::store {

class OpenFds {
 public:
  explicit OpenFds(size_t size) : fds_(new std::atomic<int>[size]), size_(size) {
    for (size_t i = 0; i < size; ++i) clear(i);
  }
  // relaxed: a child sees the memory as the fork left it
  void set(size_t index, int fd) { fds_[index].store(fd, std::memory_order_relaxed); }
  void clear(size_t index) { fds_[index].store(-1, std::memory_order_relaxed); }
  // The owner is about to close them all itself.
  void forget_all() {
    for (size_t i = 0; i < size_; ++i) clear(i);
  }
  void close_all() {
    for (size_t i = 0; i < size_; ++i) {
      const int fd = fds_[i].exchange(-1, std::memory_order_relaxed);
      if (fd >= 0) ::close(fd);
    }
  }

 private:
  std::unique_ptr<std::atomic<int>[]> fds_;
  size_t size_;
};

}  // namespace symm::store
