// A full memory fence that ThreadSanitizer accepts: it does not know plain fences, but a
// read-modify-write of a word of this thread is the same to the processor. Threads: any.
#pragma once

#include <atomic>

namespace symm {

inline void full_fence() {
#if defined(__SANITIZE_THREAD__)
  static thread_local std::atomic<unsigned> word{0};
  word.fetch_add(0, std::memory_order_seq_cst);
#else
  std::atomic_thread_fence(std::memory_order_seq_cst);
#endif
}

}  // namespace symm
