#include "heap/allocator.h"

#include <algorithm>

namespace symm {

Allocator::Allocator(uint64_t capacity) : capacity_(capacity / kGrain * kGrain) {
  if (capacity_ > 0) free_.emplace(0, capacity_);
}

std::optional<uint64_t> Allocator::take(uint64_t bytes, uint64_t alignment) {
  if (bytes == 0 || bytes > capacity_) return std::nullopt;
  bytes = (bytes + kGrain - 1) / kGrain * kGrain;
  alignment = std::max(alignment, kGrain);
  for (auto range = free_.begin(); range != free_.end(); ++range) {
    const auto [start, length] = *range;
    const uint64_t front = (alignment - start % alignment) % alignment;
    if (front > length || bytes > length - front) continue;
    const uint64_t at = start + front;
    const uint64_t back = length - front - bytes;
    auto next = free_.erase(range);
    if (back > 0) next = free_.emplace_hint(next, at + bytes, back);
    if (front > 0) free_.emplace_hint(next, start, front);
    used_.emplace(at, bytes);
    in_use_ += bytes;
    return at;
  }
  return std::nullopt;
}

bool Allocator::give_back(uint64_t offset) {
  auto block = used_.find(offset);
  if (block == used_.end()) return false;
  uint64_t start = offset;
  uint64_t length = block->second;
  in_use_ -= length;
  used_.erase(block);
  auto next = free_.lower_bound(start);
  if (next != free_.end() && next->first == start + length) {
    length += next->second;
    next = free_.erase(next);
  }
  if (next != free_.begin()) {
    auto previous = std::prev(next);
    if (previous->first + previous->second == start) {
      previous->second += length;
      return true;
    }
  }
  free_.emplace_hint(next, start, length);
  return true;
}

bool Allocator::resize(uint64_t offset, uint64_t bytes) {
  auto block = used_.find(offset);
  if (block == used_.end() || bytes == 0 || bytes > capacity_ - offset) return false;
  bytes = (bytes + kGrain - 1) / kGrain * kGrain;
  const uint64_t old = block->second;
  const auto behind = free_.find(offset + old);
  const uint64_t room = old + (behind == free_.end() ? 0 : behind->second);
  if (bytes > room) return false;
  if (behind != free_.end()) free_.erase(behind);
  if (room > bytes) free_.emplace(offset + bytes, room - bytes);
  block->second = bytes;
  in_use_ += bytes - old;
  return true;
}

uint64_t Allocator::size_of(uint64_t offset) const {
  auto block = used_.find(offset);
  return block == used_.end() ? 0 : block->second;
}

std::optional<Allocator::Block> Allocator::block_at(uint64_t offset) const {
  auto block = used_.upper_bound(offset);
  if (block == used_.begin()) return std::nullopt;
  --block;
  if (offset - block->first >= block->second) return std::nullopt;
  return Block{block->first, block->second};
}

uint64_t Allocator::largest_free() const {
  uint64_t largest = 0;
  for (const auto& [offset, bytes] : free_) largest = std::max(largest, bytes);
  return largest;
}

}  // namespace symm
