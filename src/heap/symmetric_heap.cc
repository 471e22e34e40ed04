#include "heap/symmetric_heap.h"

#include <bit>
#include <cstring>

namespace symm {

const char* name_of(MemoryCall kind) {
  switch (kind) {
    case MemoryCall::kNone:
      return "no memory call";
    case MemoryCall::kMalloc:
      return "aclshmem_malloc";
    case MemoryCall::kCalloc:
      return "aclshmem_calloc";
    case MemoryCall::kAlign:
      return "aclshmem_align";
    case MemoryCall::kFree:
      return "aclshmem_free";
    case MemoryCall::kFinalize:
      return "aclshmem_finalize";
  }
  return "an unknown call";
}

SymmetricHeap::SymmetricHeap(std::byte* base, uint64_t capacity, uint64_t space,
                             AgreementBarrier* barrier)
    : base_(base), capacity_(capacity), space_(space), barrier_(barrier), allocator_(capacity) {}

Result<void*> SymmetricHeap::allocate(MemoryCall kind, size_t bytes, size_t alignment) {
  if (kind == MemoryCall::kAlign && !std::has_single_bit(alignment)) {
    return SYMM_ERROR(kInvalidParam, "alignment {} is not a power of two", alignment);
  }
  if (bytes == 0) return static_cast<void*>(nullptr);
  std::optional<uint64_t> offset;
  {
    std::lock_guard lock(mutex_);
    offset = allocator_.take(bytes, alignment == 0 ? Allocator::kGrain : alignment);
  }
  if (offset && kind == MemoryCall::kCalloc) std::memset(base_ + *offset, 0, bytes);
  MemoryRecord record{kind, bytes, alignment, offset.value_or(MemoryRecord::kFailed), space_};
  Status agreed = barrier_->agree(record);
  std::lock_guard lock(mutex_);
  if (!agreed.ok()) {
    if (offset) allocator_.give_back(*offset);
    return agreed;
  }
  if (!offset) {
    return SYMM_ERROR(kNoMemory,
                      "no room for {} bytes (alignment {}): {} of {} bytes are in use, the largest "
                      "free range has {}; raise local_mem_size",
                      bytes, alignment, allocator_.in_use(), capacity_, allocator_.largest_free());
  }
  return static_cast<void*>(base_ + *offset);
}

Status SymmetricHeap::release(void* pointer) {
  if (pointer == nullptr) return {};
  if (!contains(pointer)) return release_foreign(pointer);
  const auto offset = static_cast<uint64_t>(static_cast<std::byte*>(pointer) - base_);
  uint64_t size = 0;
  std::optional<Allocator::Block> around;
  {
    std::lock_guard lock(mutex_);
    size = allocator_.size_of(offset);
    if (size == 0) around = allocator_.block_at(offset);
  }
  // Also a call that cannot succeed here must meet the others: they wait in the barrier, and hear
  // of the difference.
  SYMM_TRY(barrier_->agree({MemoryCall::kFree, offset, 0, size, space_}));
  if (size == 0) {
    if (around) {
      return SYMM_ERROR(kInvalidParam,
                        "{} is not the start of a block: it lies {} bytes inside the block of {} "
                        "bytes at {}",
                        pointer, offset - around->offset, around->bytes,
                        static_cast<void*>(base_ + around->offset));
    }
    return SYMM_ERROR(kInvalidParam,
                      "{} is not a block of the heap [{}, {}): never allocated, or freed before",
                      pointer, static_cast<void*>(base_), static_cast<void*>(base_ + capacity_));
  }
  std::lock_guard lock(mutex_);
  allocator_.give_back(offset);
  return {};
}

Status SymmetricHeap::release_foreign(const void* pointer) {
  // The others wait in the barrier, and hear what this PE calls.
  Status agreed = barrier_->agree({MemoryCall::kFree, MemoryRecord::kFailed, 0, 0, space_});
  return SYMM_ERROR(kInvalidParam,
                    "{} is not in the symmetric heap [{}, {}); pass an address from "
                    "aclshmem_malloc{}{}",
                    pointer, static_cast<void*>(base_), static_cast<void*>(base_ + capacity_),
                    agreed.ok() ? "" : "; ", agreed.text());
}

bool SymmetricHeap::contains(const void* pointer) const {
  return static_cast<uint64_t>(static_cast<const std::byte*>(pointer) - base_) < capacity_;
}

std::optional<Allocator::Block> SymmetricHeap::block_at(uint64_t offset) const {
  std::lock_guard lock(mutex_);
  return allocator_.block_at(offset);
}

uint64_t SymmetricHeap::in_use() const {
  std::lock_guard lock(mutex_);
  return allocator_.in_use();
}

size_t SymmetricHeap::blocks() const {
  std::lock_guard lock(mutex_);
  return allocator_.blocks();
}

}  // namespace symm
