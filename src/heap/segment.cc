#include "heap/segment.h"

namespace symm {
namespace {

// Granularity of the distance between heaps; programs compute with it.
constexpr size_t kStrideGrain = 1UL << 30;

}  // namespace

SegmentLayout SegmentLayout::make(size_t heap_bytes, size_t control_bytes) {
  SegmentLayout layout;
  layout.heap_bytes = heap_bytes;
  layout.control_bytes = os::round_up(control_bytes, os::page_size());
  layout.stride = os::round_up(heap_bytes, kStrideGrain);
  return layout;
}

Result<Segment> Segment::create(const SegmentLayout& layout, int pe) {
  Segment segment;
  std::string name = fmt::format("symm-pe{}", pe);
  SYMM_ASSIGN(segment.memory_, os::SharedMemory::create(name.c_str(), layout.total()));
  return segment;
}

Result<AddressRange> AddressRange::reserve(const SegmentLayout& layout, int n_pes) {
  AddressRange range;
  range.layout_ = layout;
  const auto count = static_cast<size_t>(n_pes);
  if (layout.stride > SIZE_MAX / count) {
    return SYMM_ERROR(kNoMemory, "{} heaps of {} bytes exceed the address space", n_pes,
                      layout.stride);
  }
  auto heaps = os::Mapping::reserve(layout.stride * count, kStrideGrain);
  if (!heaps.ok()) {
    return std::move(heaps.status())
        .with_context(fmt::format("{} heaps of {} bytes at a distance of {}", n_pes,
                                  layout.heap_bytes, layout.stride));
  }
  range.heaps_ = std::move(heaps).value();
  SYMM_ASSIGN(range.controls_, os::Mapping::reserve(layout.control_bytes * count, 0));
  return range;
}

Status AddressRange::map(int pe, int fd, bool own) {
  SYMM_TRY(os::check_sealed(fd, layout_.total()));
  const auto at = static_cast<size_t>(pe);
  SYMM_TRY(heaps_.map_shared(layout_.stride * at, layout_.heap_bytes, fd, 0, !own));
  return controls_.map_shared(layout_.control_bytes * at, layout_.control_bytes, fd,
                              layout_.heap_bytes, !own);
}

}  // namespace symm
