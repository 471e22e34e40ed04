// Ordering and completion of what host threads of this PE issued.
// Threads: any; covers the calling thread's operations and those ordered before the call.
#pragma once

#include <span>

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
// stream and the engines have finished. Blocks. kInvalidParam when a buffer was used too early
// (SHMEM_CHECK=2); it is complete all the same.
Status quiet(Instance& instance, const char* call);
// The same for what went to the PEs.
Status quiet_to(Instance& instance, std::span<const int> pes, const char* call);
// The sources of non-blocking puts may be reused.
Status local_quiet(Instance& instance, const char* call);
// kInvalidParam when one of the PEs is none.
Status check_pes(const Instance& instance, std::span<const int> pes, const char* call);

}  // namespace symm::ops
