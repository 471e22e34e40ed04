// Ordering and completion of what host threads of this PE issued.
// Threads: any; covers the calling thread's operations and those ordered before the call.
#pragma once

#include "base/fence.h"
#include "base/status.h"
#include "core/instance.h"

namespace symm::ops {

// Puts before the fence are delivered to each PE before puts after it. Completes nothing. Mapped
// memory needs only the processor's order.
inline void fence() {
  full_fence();  // more than the release that is needed: a host fence is rare
}

// Everything issued before is complete and visible: own stores are globally visible, the default
// stream and the engines have finished. Blocks.
inline Status quiet(Instance& instance) {
  // seq_cst: also orders stores before with loads after
  full_fence();
  return instance.quiesce();
}

}  // namespace symm::ops
