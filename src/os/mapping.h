// Mapping: a range of addresses that this process owns; unmapped on destruction. A range is first
// reserved (no memory, no access) and parts of it are then replaced by views of shared memory.
// Threads: no internal locking; one owner.
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>

#include "base/status.h"

namespace symm::os {

class Mapping {
 public:
  Mapping() = default;
  Mapping(Mapping&& other) noexcept
      : address_(std::exchange(other.address_, nullptr)), bytes_(std::exchange(other.bytes_, 0)) {}
  Mapping& operator=(Mapping&& other) noexcept;
  ~Mapping() { reset(); }

  // Reserves addresses without memory behind them; touching them is a segmentation fault.
  // `alignment` is a power of two. kNoMemory with the limits that may be the reason.
  static Result<Mapping> reserve(size_t bytes, size_t alignment);

  // Replaces [offset, offset + bytes) of this range by a shared, writable view of `fd` from
  // `fd_offset` on. `keep_out_of_dumps`: the pages of peers do not belong into a core file of this
  // process.
  Status map_shared(size_t offset, size_t bytes, int fd, size_t fd_offset, bool keep_out_of_dumps);
  // Makes [offset, offset + bytes) a second view of the shared memory that `source` shows in this
  // process. All three must be multiples of a page. kInvalidParam when the source is not shared
  // memory over its whole length.
  Status map_alias(size_t offset, size_t bytes, const void* source);
  // Takes the memory out again; the addresses stay reserved.
  Status unmap(size_t offset, size_t bytes);

  void reset();
  std::byte* data() const { return address_; }
  size_t size() const { return bytes_; }
  bool contains(const void* pointer) const {
    return reinterpret_cast<uintptr_t>(pointer) - reinterpret_cast<uintptr_t>(address_) < bytes_;
  }

 private:
  Mapping(std::byte* address, size_t bytes) : address_(address), bytes_(bytes) {}
  std::byte* address_ = nullptr;
  size_t bytes_ = 0;
};

size_t page_size();
constexpr size_t round_up(size_t value, size_t multiple) {
  return (value + multiple - 1) / multiple * multiple;
}

}  // namespace symm::os
