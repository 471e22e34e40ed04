// Spaces: the symmetric memory of an instance besides its device heap: the HOST_SIDE heap, heaps
// that the program makes, and buffers of the program that it registers. Each is made collectively
// in the way the device heap is, with memory of its own that every PE of the host maps.
// Threads: collective calls are serialised by their callers' order; look-ups from any thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <shared_mutex>
#include <string>
#include <vector>

#include "base/status.h"
#include "core/peers.h"
#include "heap/symmetric_heap.h"

namespace symm {

class Instance;

struct Space {
  enum class Kind { kHostSide, kUserHeap, kRegistered };
  Kind kind;
  uint64_t number;  // the same on all PEs, never used twice in an instance
  std::byte* base;  // here, as the program addresses it
  uint64_t bytes;
  std::vector<void*> peers;  // per PE: where its copy begins as mapped here
  std::unique_ptr<PeerMemory> memory;
  std::unique_ptr<SymmetricHeap> heap;  // null for registered buffers
};

class Spaces {
 public:
  Spaces(Instance& instance, AgreementBarrier* barrier, uint64_t salt)
      : instance_(instance), barrier_(barrier), salt_(salt) {}

  // Collective; errors of one PE reach all. The HOST_SIDE heap, made by the first call; as large
  // as the device heap.
  Result<SymmetricHeap*> host_side(const void* site);
  // Collective. A heap of `bytes`, rounded up to 2 MiB, whose blocks begin at multiples of
  // `alignment` (0: 16). Returns its number.
  Result<uint64_t> make_heap(uint64_t bytes, uint64_t alignment, const void* site);
  Status destroy_heap(uint64_t number, const void* site);
  // Collective. Makes [address, address + bytes), whole pages of private memory of this process,
  // symmetric: the pages keep their contents and are shared from now on. Addresses may differ
  // between PEs, sizes may not.
  Status register_buffer(void* address, uint64_t bytes, const void* site);
  // Collective. The pages keep their contents and are private again.
  Status unregister_buffer(void* address, const void* site);

  // Where [address, address + bytes) of this PE's spaces lies on `pe`, as mapped here; null when
  // it is in none.
  std::byte* translate(const void* address, size_t bytes, int pe) const;
  // The heap of a number or that contains the address, or null. Valid until it is destroyed.
  SymmetricHeap* heap(uint64_t number) const;
  SymmetricHeap* heap_around(const void* address) const;
  SymmetricHeap* host_heap() const;
  // One line per heap with blocks in it.
  std::vector<std::string> leaks() const;

  // Local, at the end of the instance. `keep`: other threads may still look at the memory.
  void close(bool keep);

 private:
  Result<std::unique_ptr<Space>> make(Space::Kind kind, uint64_t bytes);
  const Space* find(const void* address) const;  // with mutex_ held
  Status check_buffer(const void* address, uint64_t bytes) const;
  void add(std::unique_ptr<Space> space);
  std::unique_ptr<Space> take(uint64_t number);

  Instance& instance_;
  AgreementBarrier* const barrier_;
  const uint64_t salt_;
  uint64_t made_ = 0;
  mutable std::shared_mutex mutex_;  // guards spaces_
  std::vector<std::unique_ptr<Space>> spaces_;
};

}  // namespace symm
