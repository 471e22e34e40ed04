// Signals: words of 32 or 64 bits in symmetric memory, set or added to by any PE, waited for by the
// owner. Word is int32_t or uint64_t.
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
template <typename Word>
Status signal(Instance& instance, Word* address, Word value, int op, int pe, const char* call);

// The checks of signal() alone, for one that is given later.
template <typename Word>
Status check_signal(const Instance& instance, Word* address, int op, int pe, const char* call);

// Copies like put(), then signals: who sees the signal sees the data. Zero bytes still signal.
// Another `op` moves the data, gives no signal, and is kInvalidParam.
// `pending` as in put_slow().
template <typename Word>
Status put_signal(Instance& instance, void* to, const void* from, const Amount& amount,
                  Word* address, Word value, int op, int pe, const char* call,
                  uint64_t* pending = nullptr);

}  // namespace symm::ops
