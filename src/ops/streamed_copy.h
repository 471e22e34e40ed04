// Copies so large that they should not pass through the caches. Threads: any.
#pragma once

#include <cstddef>

namespace symm::ops {

// From here on storing past the caches was faster into mapped heaps, also when the target is read
// afterwards; below, memmove.
inline constexpr size_t kStreamedBytes = size_t{32} << 20;

// As memmove, also where ranges overlap; the stores are visible before later stores of this thread.
void copy_streamed(void* to, const void* from, size_t bytes);

}  // namespace symm::ops
