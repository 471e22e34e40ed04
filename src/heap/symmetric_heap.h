// SymmetricHeap: the collective memory calls. Every PE makes the same calls in the same order; each
// call carries a record of what this PE asked for on the barrier that it needs anyway, so a
// difference becomes an error on all PEs that shows what was asked where. Threads: calls are
// serialised inside; collective order across PEs is the caller's duty.
#pragma once

#include <cstddef>
#include <cstdint>
#include <mutex>
#include <optional>

#include "base/status.h"
#include "heap/allocator.h"

namespace symm {

enum class MemoryCall : uint64_t { kNone = 0, kMalloc, kCalloc, kAlign, kFree, kFinalize };
const char* name_of(MemoryCall kind);

// What one PE says about a collective memory call.
struct MemoryRecord {
  MemoryCall kind = MemoryCall::kNone;
  // Bytes asked for, or offset of the block to free, kFailed when that is not in the heap.
  uint64_t size = 0;
  uint64_t alignment = 0;
  uint64_t outcome =
      0;  // offset that this PE's allocator found, kFailed when none, or what else must agree
  uint64_t space = 0;  // which heap
  static constexpr uint64_t kFailed = UINT64_MAX;
};

// Brings the records of all PEs together: a barrier after which every PE has compared all records.
class AgreementBarrier {
 public:
  virtual ~AgreementBarrier() = default;
  // Blocks until every PE has come. kInvalidParam with both PEs' values when records differ (on
  // every PE); kPeerLost or kTimeout when some cannot come.
  virtual Status agree(const MemoryRecord& record) = 0;
};

class SymmetricHeap {
 public:
  // `base`: start of this PE's heap as mapped here. `barrier` must outlive the heap.
  SymmetricHeap(std::byte* base, uint64_t capacity, uint64_t space, AgreementBarrier* barrier);

  // Collective. The block is usable, also by other PEs, when the call returns. A null pointer
  // without a barrier for zero bytes; kNoMemory on all PEs when there is no room.
  Result<void*> allocate(MemoryCall kind, size_t bytes, size_t alignment);
  // Collective, except for null, which does nothing. The barrier comes first, then the block is
  // released. kInvalidParam for an address that does not begin a block (no change).
  Status release(void* pointer);

  // Local queries.
  bool contains(const void* pointer) const;
  std::optional<Allocator::Block> block_at(uint64_t offset) const;
  uint64_t in_use() const;
  size_t blocks() const;
  uint64_t capacity() const { return capacity_; }
  std::byte* base() const { return base_; }

 private:
  Status release_foreign(const void* pointer);

  std::byte* const base_;
  const uint64_t capacity_;
  const uint64_t space_;
  AgreementBarrier* const barrier_;
  mutable std::mutex mutex_;  // guards allocator_
  Allocator allocator_;
};

}  // namespace symm
