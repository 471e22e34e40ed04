#include "heap/symmetric_heap.h"

#include <algorithm>
#include <bit>
#include <cstring>

#include "os/call_site.h"

namespace symm {
namespace {

constexpr size_t kCacheLine = 64;
constexpr size_t kKnownHints = 3;  // ACLSHMEM_MALLOC_ATOMICS_REMOTE, _SIGNAL_REMOTE

// Why an argument is wrong on its own, or OK.
Status check_argument(MemoryCall kind, size_t bytes, size_t argument) {
  if (kind == MemoryCall::kMallocHints && (argument & ~kKnownHints) != 0) {
    return SYMM_ERROR(kInvalidParam, "hints {:#x} have bits outside {:#x}", argument, kKnownHints);
  }
  if (kind != MemoryCall::kAlign) return {};
  if (std::has_single_bit(argument) && argument >= sizeof(void*)) return {};
  const bool swapped = std::has_single_bit(bytes) && bytes >= sizeof(void*);
  return SYMM_ERROR(kInvalidParam, "alignment {} is not a power of two of at least {}{}", argument,
                    sizeof(void*), swapped ? "; the order of arguments is alignment, size" : "");
}

}  // namespace

const char* name_of(MemoryCall kind) {
  static constexpr const char* kNames[] = {"no memory call",
                                           "aclshmem_malloc",
                                           "aclshmem_calloc",
                                           "aclshmem_align",
                                           "aclshmem_free",
                                           "aclshmem_finalize",
                                           "aclshmem_realloc",
                                           "aclshmem_malloc_with_hints",
                                           "aclshmemx_create_heap",
                                           "aclshmemx_destroy_heap",
                                           "aclshmemx_buffer_register",
                                           "aclshmemx_buffer_unregister"};
  const auto index = static_cast<size_t>(kind);
  return index < std::size(kNames) ? kNames[index] : "an unknown call";
}

SymmetricHeap::SymmetricHeap(std::byte* base, uint64_t capacity, uint64_t space,
                             AgreementBarrier* barrier, uint64_t grain)
    : base_(base),
      capacity_(capacity),
      space_(space),
      barrier_(barrier),
      grain_(grain),
      allocator_(capacity) {}

std::optional<uint64_t> SymmetricHeap::take(uint64_t bytes, uint64_t alignment, const void* site) {
  std::optional<uint64_t> offset = allocator_.take(bytes, std::max(alignment, grain_));
  if (offset) sites_[*offset] = site;
  most_in_use_ = std::max(most_in_use_, allocator_.in_use());
  return offset;
}

bool SymmetricHeap::give_back(uint64_t offset) {
  sites_.erase(offset);
  return allocator_.give_back(offset);
}

Status SymmetricHeap::no_room(uint64_t bytes, uint64_t alignment) const {
  return SYMM_ERROR(kNoMemory,
                    "no room for {} bytes (alignment {}): {} of {} bytes are in use, the largest "
                    "free range has {}; raise local_mem_size",
                    bytes, alignment, allocator_.in_use(), capacity_, allocator_.largest_free());
}

Result<void*> SymmetricHeap::allocate(MemoryCall kind, size_t bytes, size_t argument,
                                      const void* site) {
  Status wrong = check_argument(kind, bytes, argument);
  if (!wrong.ok()) {
    const MemoryRecord record{kind, bytes, argument, MemoryRecord::kRefused, space_, site};
    SYMM_TRY(barrier_->agree(record));
    return wrong;
  }
  if (bytes == 0) return static_cast<void*>(nullptr);
  const size_t alignment = kind == MemoryCall::kAlign                          ? argument
                           : kind == MemoryCall::kMallocHints && argument != 0 ? kCacheLine
                                                                               : Allocator::kGrain;
  std::optional<uint64_t> offset;
  {
    std::lock_guard lock(mutex_);
    offset = take(bytes, alignment, site);
  }
  if (offset && kind == MemoryCall::kCalloc) std::memset(base_ + *offset, 0, bytes);
  const MemoryRecord record{kind,   bytes, argument, offset.value_or(MemoryRecord::kFailed),
                            space_, site};
  Status agreed = barrier_->agree(record);
  std::lock_guard lock(mutex_);
  if (!agreed.ok()) {
    if (offset) give_back(*offset);
    return agreed;
  }
  if (!offset) return no_room(bytes, alignment);
  return static_cast<void*>(base_ + *offset);
}

Status SymmetricHeap::refuse(MemoryCall kind, Status why, const void* site) {
  SYMM_TRY(
      barrier_->agree({kind, MemoryRecord::kRefused, 0, MemoryRecord::kRefused, space_, site}));
  return why;
}

// With mutex_ held.
Status SymmetricHeap::not_a_block(const void* pointer) const {
  const auto offset = static_cast<uint64_t>(static_cast<const std::byte*>(pointer) - base_);
  if (const auto around = allocator_.block_at(offset)) {
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

Status SymmetricHeap::release(void* pointer, const void* site) {
  if (pointer == nullptr) return {};
  if (!contains(pointer)) return release_foreign(pointer, site);
  const auto offset = static_cast<uint64_t>(static_cast<std::byte*>(pointer) - base_);
  uint64_t size = 0;
  {
    std::lock_guard lock(mutex_);
    size = allocator_.size_of(offset);
  }
  // Also a call that cannot succeed here must meet the others: they wait in the barrier, and hear
  // of the difference.
  SYMM_TRY(barrier_->agree({MemoryCall::kFree, offset, 0, size, space_, site}));
  std::lock_guard lock(mutex_);
  if (size == 0) return not_a_block(pointer);
  give_back(offset);
  return {};
}

Status SymmetricHeap::release_foreign(const void* pointer, const void* site) {
  // The others wait in the barrier, and hear what this PE calls.
  Status agreed = barrier_->agree({MemoryCall::kFree, MemoryRecord::kFailed, 0, 0, space_, site});
  return SYMM_ERROR(kInvalidParam,
                    "{} is not in the symmetric heap [{}, {}); pass an address from "
                    "aclshmem_malloc{}{}",
                    pointer, static_cast<void*>(base_), static_cast<void*>(base_ + capacity_),
                    agreed.ok() ? "" : "; ", agreed.text());
}

Result<void*> SymmetricHeap::reallocate(void* pointer, size_t bytes, const void* site) {
  const auto offset = static_cast<uint64_t>(static_cast<std::byte*>(pointer) - base_);
  uint64_t old = 0;
  if (contains(pointer)) {
    std::lock_guard lock(mutex_);
    old = allocator_.size_of(offset);
  }
  const uint64_t said = contains(pointer) ? offset : MemoryRecord::kFailed;
  // Entry: puts of the others into the old block are over.
  SYMM_TRY(barrier_->agree({MemoryCall::kRealloc, bytes, said, old, space_, site}));
  std::unique_lock lock(mutex_);
  if (old == 0) return not_a_block(pointer);
  std::optional<uint64_t> where = offset;
  if (allocator_.resize(offset, bytes)) {
    sites_[offset] = site;
    most_in_use_ = std::max(most_in_use_, allocator_.in_use());
  } else if (where = take(bytes, Allocator::kGrain, site); where) {
    std::memcpy(base_ + *where, base_ + offset, std::min<uint64_t>(old, bytes));
    give_back(offset);
  }
  Status failure = where ? Status() : no_room(bytes, grain_);
  lock.unlock();
  // Exit: everybody's data is in its new place before anybody may put there.
  SYMM_TRY(barrier_->agree(
      {MemoryCall::kRealloc, bytes, said, where.value_or(MemoryRecord::kFailed), space_, site}));
  if (!where) return failure;
  return static_cast<void*>(base_ + *where);
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

HeapUsage SymmetricHeap::usage() const {
  std::lock_guard lock(mutex_);
  return {allocator_.capacity(), allocator_.in_use(), most_in_use_, allocator_.largest_free(),
          allocator_.blocks()};
}

std::string SymmetricHeap::leaks() const {
  constexpr size_t kNamed = 8;
  std::lock_guard lock(mutex_);
  if (allocator_.blocks() == 0) return "";
  struct Place {
    uint64_t blocks = 0;
    uint64_t bytes = 0;
  };
  std::map<const void*, Place> places;
  for (const auto& [offset, site] : sites_) {
    Place& place = places[site];
    ++place.blocks;
    place.bytes += allocator_.size_of(offset);
  }
  std::string text = fmt::format("{} blocks, {} bytes:", allocator_.blocks(), allocator_.in_use());
  size_t named = 0;
  for (const auto& [site, place] : places) {
    if (++named > kNamed) {
      return text + fmt::format(" and from {} more places", places.size() - kNamed);
    }
    text += fmt::format("{} {} blocks, {} bytes from {}", named == 1 ? "" : ";", place.blocks,
                        place.bytes, os::call_site(site));
  }
  return text;
}

}  // namespace symm
