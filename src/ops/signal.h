// Signals: 32-bit words in symmetric memory, set or added to by any PE, waited for by the owner.
// Threads: any.
#pragma once

#include <cstddef>
#include <cstdint>

#include "base/status.h"
#include "core/instance.h"
#include "ops/rma.h"

namespace symm::ops {

// Sets (0) or adds to (1) the word at the symmetric address on `pe`, after everything this thread
// stored before, and wakes the PE if it waits. Another `op` changes nothing and is kInvalidParam.
Status signal(Instance& instance, int32_t* address, int32_t value, int op, int pe,
              const char* call);

// The checks of signal() alone, for one that is given later.
Status check_signal(const Instance& instance, int32_t* address, int op, int pe, const char* call);

// Copies like put(), then signals: who sees the signal sees the data. Zero bytes still signal.
// Another `op` moves the data, gives no signal, and is kInvalidParam.
Status put_signal(Instance& instance, void* to, const void* from, const Amount& amount,
                  int32_t* address, int32_t value, int op, int pe, const char* call);

}  // namespace symm::ops
