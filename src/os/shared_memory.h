// SharedMemory: anonymous memory that other processes can map through its descriptor. It has no
// name anywhere, so the kernel frees it when the last process that holds it ends, however that
// process ends.
#pragma once

#include <cstddef>

#include "base/status.h"
#include "base/unique_fd.h"

namespace symm::os {

class SharedMemory {
 public:
  SharedMemory() = default;
  // `name` is only seen in /proc/self/maps. Costs no memory until touched. The size is sealed:
  // nobody can shrink it and so make the others fault.
  static Result<SharedMemory> create(const char* name, size_t bytes);

  int fd() const { return fd_.get(); }
  size_t size() const { return bytes_; }
  void close() { fd_.reset(); }
  // Hands the descriptor to the caller.
  int release() { return fd_.release(); }

 private:
  UniqueFd fd_;
  size_t bytes_ = 0;
};

// Fails unless the descriptor is sealed memory of exactly `bytes`: what a peer handed over cannot
// be shrunk later.
Status check_sealed(int fd, size_t bytes);

// Touches one byte per 2 MiB and asks the kernel for huge pages. Returns the bytes that became
// huge, 0 when it declined.
size_t collapse_to_huge_pages(void* address, size_t bytes);

}  // namespace symm::os
