// Operation: one data or synchronisation operation as a small value. Doing it now and doing it
// later (as a task of a stream, as a node of a graph) are two ways to the same execute(). Threads:
// a value; execute() from any thread.
#pragma once

#include <cstddef>
#include <cstdint>

#include "base/status.h"
#include "core/instance.h"

namespace symm::ops {

struct Operation {
  enum class Kind { kPut, kGet, kSignal, kWaitSignal, kQuiet, kBarrier };
  Kind kind = Kind::kQuiet;
  const char* call = "";  // for messages; static storage
  void* to = nullptr;     // put, get; the word of a signal
  const void* from = nullptr;
  size_t bytes = 0;
  int pe = -1;
  int32_t value = 0;  // of a signal
  int code = 0;       // signal operation or comparison
  int team = -1;
};

// Does it on this thread, after what the caller did before. Barriers and quiets complete the
// engines but do not drain the default stream: the caller may be that stream.
Status execute(Instance& instance, const Operation& operation);

// Queues it on the stream, null for the instance's default stream. Arguments are checked now where
// that needs no other PE; an error at execution ends the stream's next synchronisation and is kept
// in the instance.
Status enqueue(Instance& instance, const Operation& operation, void* stream);

}  // namespace symm::ops
