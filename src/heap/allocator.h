// Allocator: hands out parts of [0, capacity). Knows offsets only, touches no memory, and gives the
// same answers to the same sequence of calls on every PE; this is what makes addresses symmetric.
// First fit by offset; neighbours that are free become one range. Threads: no locking; the owner
// serialises.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>

namespace symm {

class Allocator {
 public:
  static constexpr uint64_t kGrain = 16;  // sizes are rounded up to it, offsets are multiples of it

  explicit Allocator(uint64_t capacity);

  // The offset of `bytes` free bytes at a multiple of `alignment` (a power of two), or nothing when
  // no free range has room. bytes must not be 0.
  std::optional<uint64_t> take(uint64_t bytes, uint64_t alignment = kGrain);

  // Gives back the block that begins at this offset. False, without any change, when none does.
  bool give_back(uint64_t offset);

  // Makes the block that begins at this offset `bytes` long without moving it. False, without any
  // change, when none begins there or what follows it is not free. bytes must not be 0.
  bool resize(uint64_t offset, uint64_t bytes);

  // The size of the block that begins at this offset as rounded up, 0 when none does.
  uint64_t size_of(uint64_t offset) const;

  struct Block {
    uint64_t offset;
    uint64_t bytes;
  };
  // The block that contains this offset.
  std::optional<Block> block_at(uint64_t offset) const;

  uint64_t capacity() const { return capacity_; }
  uint64_t in_use() const { return in_use_; }
  size_t blocks() const { return used_.size(); }
  uint64_t largest_free() const;

 private:
  uint64_t capacity_;
  uint64_t in_use_ = 0;
  std::map<uint64_t, uint64_t> free_;  // offset -> bytes; never two adjacent entries
  std::map<uint64_t, uint64_t> used_;
};

}  // namespace symm
