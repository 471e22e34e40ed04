// SymmetricHeap: the collective memory calls. Every PE makes the same calls in the same order; each
// call carries a record of what this PE asked for on the barrier that it needs anyway, so a
// difference becomes an error on all PEs that shows what was asked where. Threads: calls are
// serialised inside; collective order across PEs is the caller's duty.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <mutex>
#include <optional>
#include <string>

#include "base/status.h"
#include "heap/allocator.h"

namespace symm {

enum class MemoryCall : uint64_t {
  kNone = 0,
  kMalloc,
  kCalloc,
  kAlign,
  kFree,
  kFinalize,
  kRealloc,
  kMallocHints,
  kCreateHeap,
  kDestroyHeap,
  kRegister,
  kUnregister,
};
const char* name_of(MemoryCall kind);

// What one PE says about a collective memory call.
struct MemoryRecord {
  MemoryCall kind = MemoryCall::kNone;
  // Bytes asked for, or offset of the block to free, kFailed when that is not in the heap.
  uint64_t size = 0;
  uint64_t alignment = 0;  // or hints, or the offset of the block to change
  uint64_t outcome =
      0;  // offset that this PE's allocator found, kFailed when none, or what else must agree
  uint64_t space = 0;          // which heap
  const void* site = nullptr;  // where the program called, for messages; need not agree
  static constexpr uint64_t kFailed = UINT64_MAX;
  static constexpr uint64_t kRefused = UINT64_MAX - 1;  // this PE's arguments are wrong
};

// Brings the records of all PEs together: a barrier after which every PE has compared all records.
class AgreementBarrier {
 public:
  virtual ~AgreementBarrier() = default;
  // Blocks until every PE has come. kInvalidParam with both PEs' values when records differ (on
  // every PE); kPeerLost or kTimeout when some cannot come.
  virtual Status agree(const MemoryRecord& record) = 0;
};

struct HeapUsage {
  uint64_t capacity = 0;
  uint64_t in_use = 0;
  uint64_t most_in_use = 0;
  uint64_t largest_free = 0;
  uint64_t blocks = 0;
};

class SymmetricHeap {
 public:
  // `base`: start of this PE's heap as mapped here. `barrier` must outlive the heap. Every block
  // begins at a multiple of `grain`, a power of two.
  SymmetricHeap(std::byte* base, uint64_t capacity, uint64_t space, AgreementBarrier* barrier,
                uint64_t grain = Allocator::kGrain);

  // Collective. The block is usable, also by other PEs, when the call returns. A null pointer
  // without a barrier for zero bytes; kNoMemory on all PEs when there is no room. `argument` is the
  // alignment, or the hints for kMallocHints. A wrong one is an error on all PEs.
  Result<void*> allocate(MemoryCall kind, size_t bytes, size_t argument,
                         const void* site = nullptr);
  // Collective. A call that is wrong before it reaches a heap: meets the others so that they hear
  // of it, and returns `why`.
  Status refuse(MemoryCall kind, Status why, const void* site);
  // Collective, except for null, which does nothing. The barrier comes first, then the block is
  // released. kInvalidParam for an address that does not begin a block (no change).
  Status release(void* pointer, const void* site = nullptr);
  // Collective. Changes the size of a block, in place if possible, with a barrier before and after;
  // the new part is not cleared. On failure nothing changed. `pointer` begins a block; bytes > 0.
  Result<void*> reallocate(void* pointer, size_t bytes, const void* site = nullptr);

  // Local queries.
  bool contains(const void* pointer) const;
  std::optional<Allocator::Block> block_at(uint64_t offset) const;
  uint64_t in_use() const;
  size_t blocks() const;
  HeapUsage usage() const;
  // Empty, or "3 blocks, 4096 bytes: 2 blocks, 64 bytes from main (prog+0x12); ..." about what is
  // allocated.
  std::string leaks() const;
  uint64_t capacity() const { return capacity_; }
  std::byte* base() const { return base_; }

 private:
  Status release_foreign(const void* pointer, const void* site);
  Status not_a_block(const void* pointer) const;
  Status no_room(uint64_t bytes, uint64_t alignment) const;
  std::optional<uint64_t> take(uint64_t bytes, uint64_t alignment, const void* site);
  bool give_back(uint64_t offset);

  std::byte* const base_;
  const uint64_t capacity_;
  const uint64_t space_;
  AgreementBarrier* const barrier_;
  const uint64_t grain_;
  mutable std::mutex mutex_;  // guards what follows
  Allocator allocator_;
  std::map<uint64_t, const void*> sites_;  // who asked for the block at this offset
  uint64_t most_in_use_ = 0;
};

}  // namespace symm
