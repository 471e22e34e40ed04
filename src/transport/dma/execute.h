// What one descriptor does to memory. No threads, no state.
#pragma once

#include "host_device/symm_engine_queue.h"

namespace symm::dma {

// Performs the copy or atomic. Copies are plain; stores and atomics are sequentially consistent, so
// a value they publish carries everything the engine did before. False for a kind or width that
// does not exist.
bool execute(const symm_descriptor& descriptor);

// "copy", "add", ...: for messages and the trace.
const char* name_of(uint32_t kind);

}  // namespace symm::dma
