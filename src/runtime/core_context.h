// The core that the calling thread runs. Apart from launch.h because reads must be cheap and
// invisible to ThreadSanitizer: fibers of one thread share thread-local variables.
#pragma once

namespace symm::runtime {

struct Core;

void set_current_core(Core* core);
Core* current_core();

}  // namespace symm::runtime
