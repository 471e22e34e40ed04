// Task: one piece of work on a stream. It may run several times when a graph holds it.
// Threads: run() on a stream's thread, never twice at the same time on one stream; made and
// destroyed on any thread.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "runtime/error.h"

namespace symm::runtime {

// Bytes of memory, for questions about who uses them.
struct MemoryRange {
  uintptr_t first = 0;
  size_t bytes = 0;

  bool overlaps(const void* address, size_t count) const {
    const auto other = reinterpret_cast<uintptr_t>(address);
    return other < first + bytes && first < other + count;
  }
  bool contains(uintptr_t address) const { return address - first < bytes; }
};

class Task {
 public:
  Task() = default;
  Task(const Task&) = delete;
  Task& operator=(const Task&) = delete;
  virtual ~Task() = default;
  // Blocks until the work is done.
  virtual TaskError run() = 0;
  // For messages: "kernel add", "copy of 64 bytes".
  virtual std::string name() const = 0;
  // Whether what it was given names memory in the range: a copy's ends, a kernel's arguments.
  virtual bool uses(const MemoryRange&) const { return false; }
};

using TaskPtr = std::shared_ptr<Task>;

}  // namespace symm::runtime
