// Ordering and completion of what host threads of this PE issued.
// Threads: any; covers the calling thread's operations and those ordered before the call.
#pragma once

#include <atomic>

#include "base/status.h"
#include "core/instance.h"

namespace symm::ops {

// Puts before the fence are delivered to each PE before puts after it. Completes nothing. Mapped
// memory needs only the processor's order.
inline void fence() {
  // release: stores before are visible before stores after
  std::atomic_thread_fence(std::memory_order_release);
}

// Everything issued before is complete and visible: own stores are globally visible, the default
// stream and the engines have finished. Blocks.
inline Status quiet(Instance& instance) {
  // seq_cst: also orders stores before with loads after
  std::atomic_thread_fence(std::memory_order_seq_cst);
  return instance.quiesce();
}

}  // namespace symm::ops
