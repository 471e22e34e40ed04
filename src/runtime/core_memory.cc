#include "runtime/core_memory.h"

#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "runtime/sanitizers.h"

#if defined(__SANITIZE_ADDRESS__)
#include <sanitizer/lsan_interface.h>
#endif

namespace symm::runtime {
namespace {

// Memories beyond this many are unmapped when they come back.
constexpr size_t kKeep = 4096;

// A stack overflow must hit the guard even when the first access is far below the end: a local
// array that does not fit. Address space only.
constexpr size_t kGuard = 1024 * 1024;

size_t round_up(size_t value, size_t unit) { return (value + unit - 1) / unit * unit; }

}  // namespace

CoreMemoryPool::CoreMemoryPool(size_t stack_size, size_t ub_size)
    : page_(static_cast<size_t>(sysconf(_SC_PAGESIZE))),
      guard_(round_up(kGuard, page_)),
      stack_size_(round_up(stack_size, page_)),
      ub_size_(ub_size),
      ub_bytes_(round_up(ub_size, page_)) {}

CoreMemoryPool::~CoreMemoryPool() {
  for (const CoreMemory& memory : free_) unmap(memory);
}

Status CoreMemoryPool::take(size_t count, std::vector<CoreMemory>& out) {
  {
    std::lock_guard lock(mutex_);
    while (count > 0 && !free_.empty()) {
      out.push_back(free_.back());
      free_.pop_back();
      --count;
    }
  }
  for (; count > 0; --count) {
    SYMM_ASSIGN(CoreMemory memory, map());
    out.push_back(memory);
  }
  return {};
}

void CoreMemoryPool::give(std::vector<CoreMemory>& memories) {
  {
    std::lock_guard lock(mutex_);
    while (!memories.empty() && free_.size() < kKeep) {
      free_.push_back(memories.back());
      memories.pop_back();
    }
  }
  for (const CoreMemory& memory : memories) unmap(memory);
  memories.clear();
}

Result<CoreMemory> CoreMemoryPool::map() const {
  size_t bytes = 3 * guard_ + stack_size_ + ub_bytes_;
  void* base =
      ::mmap(nullptr, bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  CoreMemory memory;
  bool ok = base != MAP_FAILED;
  if (ok) {
    memory.stack = static_cast<uint8_t*>(base) + guard_;
    memory.stack_size = stack_size_;
    memory.ub = memory.stack + stack_size_ + guard_;
    memory.ub_size = ub_size_;
    memory.guard = guard_;
    ok = ::mprotect(memory.stack, stack_size_, PROT_READ | PROT_WRITE) == 0 &&
         ::mprotect(memory.ub, ub_bytes_, PROT_READ | PROT_WRITE) == 0;
  }
  if (!ok) {
    int error = errno;
    if (base != MAP_FAILED) ::munmap(base, bytes);
    return SYMM_ERROR(kNoMemory,
                      "cannot map {} bytes for the stack and UB of a kernel core: {}; lower "
                      "SHMEM_KERNEL_STACK or the number of blocks, or raise vm.max_map_count",
                      bytes, std::strerror(error));
  }
#if defined(__SANITIZE_ADDRESS__)
  // Pointers that live only on a suspended core's stack keep their memory reachable.
  __lsan_register_root_region(memory.stack, stack_size_);
#endif
  return memory;
}

void CoreMemoryPool::unmap(const CoreMemory& memory) const {
#if defined(__SANITIZE_ADDRESS__)
  __lsan_unregister_root_region(memory.stack, stack_size_);
#endif
  ::munmap(memory.stack - guard_, 3 * guard_ + stack_size_ + ub_bytes_);
}

}  // namespace symm::runtime
