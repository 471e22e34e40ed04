// What a core instance needs besides its registers: a stack and a UB arena, in one mapping with
// guards below the stack, between the two and behind the arena. Kept in a pool, since mapping
// costs microseconds. Threads: the pool is safe from any thread; a CoreMemory belongs to whoever
// took it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <mutex>
#include <vector>

#include "base/status.h"

namespace symm::runtime {

struct CoreMemory {
  uint8_t* stack = nullptr;  // lowest address
  size_t stack_size = 0;
  uint8_t* ub = nullptr;
  size_t ub_size = 0;
  size_t guard =
      0;  // bytes below the stack, between it and ub, and behind ub that nobody can access
};

class CoreMemoryPool {
 public:
  // Sizes are rounded up to pages.
  CoreMemoryPool(size_t stack_size, size_t ub_size);
  CoreMemoryPool(const CoreMemoryPool&) = delete;
  CoreMemoryPool& operator=(const CoreMemoryPool&) = delete;
  ~CoreMemoryPool();

  // Appends count memories to out, from the pool or newly mapped. kNoMemory when the system
  // refuses.
  Status take(size_t count, std::vector<CoreMemory>& out);
  void give(std::vector<CoreMemory>& memories);  // leaves the vector empty

 private:
  Result<CoreMemory> map() const;
  void unmap(const CoreMemory& memory) const;

  const size_t page_;
  const size_t guard_;
  const size_t stack_size_;
  const size_t ub_size_;
  const size_t ub_bytes_;  // ub_size_ in whole pages
  std::mutex mutex_;
  std::vector<CoreMemory> free_;
};

}  // namespace symm::runtime
