// Task: one piece of work on a stream. It may run several times when a graph holds it.
// Threads: run() on a stream's thread, never twice at the same time on one stream; made and
// destroyed on any thread.
#pragma once

#include <memory>
#include <string>

#include "runtime/error.h"

namespace symm::runtime {

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
};

using TaskPtr = std::shared_ptr<Task>;

}  // namespace symm::runtime
