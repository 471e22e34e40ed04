// Segment: the shared memory of one PE, and where its parts are. [0, heap_bytes) is the symmetric
// heap; behind it lies the control area (page, then the places where teams meet), which user
// addresses never reach. AddressRange: where the heaps and control areas of all PEs appear in this
// process. Heap of PE p: base + stride * p. Threads: set-up and tear-down by the owner only.
#pragma once

#include <cstddef>
#include <cstdint>

#include "base/status.h"
#include "os/mapping.h"
#include "os/shared_memory.h"

namespace symm {

struct SegmentLayout {
  size_t heap_bytes = 0;
  size_t control_bytes = 0;
  size_t stride = 0;  // distance between heaps

  // `control_bytes` is rounded up to pages, heap_bytes must be a multiple of 2 MiB.
  static SegmentLayout make(size_t heap_bytes, size_t control_bytes);
  size_t total() const { return heap_bytes + control_bytes; }
};

class Segment {
 public:
  // Makes the memory of this PE; costs nothing until touched.
  static Result<Segment> create(const SegmentLayout& layout, int pe);
  int fd() const { return memory_.fd(); }
  void close_fd() { memory_.close(); }

 private:
  os::SharedMemory memory_;
};

class AddressRange {
 public:
  // Reserves addresses for n_pes heaps and control areas. kNoMemory when the process has no room
  // for them.
  static Result<AddressRange> reserve(const SegmentLayout& layout, int n_pes);

  // Maps a segment at the place of `pe`. `own`: the segment of this process, part of its core
  // files.
  Status map(int pe, int fd, bool own);

  std::byte* heap(int pe) const { return heaps_.data() + layout_.stride * static_cast<size_t>(pe); }
  std::byte* control(int pe) const {
    return controls_.data() + layout_.control_bytes * static_cast<size_t>(pe);
  }
  const SegmentLayout& layout() const { return layout_; }

 private:
  SegmentLayout layout_;
  os::Mapping heaps_;
  os::Mapping controls_;
};

}  // namespace symm
