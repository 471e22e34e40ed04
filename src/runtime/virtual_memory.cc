#include "runtime/virtual_memory.h"

#include "runtime/error.h"

namespace symm::runtime {

aclError VirtualMemory::reserve(void** out, size_t size, size_t alignment, const char* call) {
  if (out == nullptr) {
    return fail(ACL_ERROR_INVALID_PARAM, "{}: the pointer for the result is null", call);
  }
  if (size == 0 || (alignment & (alignment - 1)) != 0) {
    return fail(ACL_ERROR_RT_PARAM_INVALID,
                "{}: {} bytes with alignment {}; pass at least 1 byte and 0 or a power of two",
                call, size, alignment);
  }
  auto reserved = os::Mapping::reserve(size, alignment);
  if (!reserved.ok()) {
    return fail(ACL_ERROR_RT_MEMORY_ALLOCATION, "{}: {}", call, reserved.status().text());
  }
  os::Mapping mapping = std::move(reserved).value();
  *out = mapping.data();
  std::lock_guard lock(mutex_);
  ranges_[reinterpret_cast<uintptr_t>(*out)].mapping = std::move(mapping);
  return ACL_SUCCESS;
}

aclError VirtualMemory::release(void* start, const char* call) {
  std::lock_guard lock(mutex_);
  auto at = ranges_.find(reinterpret_cast<uintptr_t>(start));
  if (at == ranges_.end()) {
    return fail(ACL_ERROR_RT_PARAM_INVALID,
                "{}: {} is not the start of a range from aclrtReserveMemAddress", call, start);
  }
  if (!at->second.views.empty()) {
    return fail(ACL_ERROR_RT_PARAM_INVALID,
                "{}: {} mappings are left in the range at {}; call aclrtUnmapMem first", call,
                at->second.views.size(), start);
  }
  ranges_.erase(at);
  return ACL_SUCCESS;
}

aclError VirtualMemory::find_room(void* target, size_t size, Range*& range, size_t& offset,
                                  const char* call) {
  const auto address = reinterpret_cast<uintptr_t>(target);
  auto at = ranges_.upper_bound(address);
  if (at == ranges_.begin() || !(--at)->second.mapping.contains(target) ||
      size > at->second.mapping.size() - (address - at->first)) {
    return fail(ACL_ERROR_RT_PARAM_INVALID,
                "{}: {} bytes at {} do not lie in a range from aclrtReserveMemAddress", call, size,
                target);
  }
  if (size == 0 || address % os::page_size() != 0 || size % os::page_size() != 0) {
    return fail(ACL_ERROR_RT_PARAM_INVALID,
                "{}: {} bytes at {}: both must be multiples of {} bytes, a page", call, size,
                target, os::page_size());
  }
  range = &at->second;
  offset = address - at->first;
  for (const auto& [start, view] : range->views) {
    if (start < offset + size && offset < start + view.bytes) {
      return fail(ACL_ERROR_RT_PARAM_INVALID,
                  "{}: {} bytes at {} overlap what is mapped there; call aclrtUnmapMem first", call,
                  size, target);
    }
  }
  return ACL_SUCCESS;
}

aclError VirtualMemory::map_alias(void* target, size_t size, const void* source, const char* call) {
  std::lock_guard lock(mutex_);
  Range* range = nullptr;
  size_t offset = 0;
  SYMM_ACL_TRY(find_room(target, size, range, offset, call));
  Status status = range->mapping.map_alias(offset, size, source);
  if (!status.ok()) return fail(ACL_ERROR_RT_PARAM_INVALID, "{}: {}", call, status.text());
  range->views[offset] = {size, nullptr};
  return ACL_SUCCESS;
}

aclError VirtualMemory::map_physical(void* target, size_t size, size_t offset,
                                     const std::shared_ptr<PhysicalMemory>& memory,
                                     const char* call) {
  std::lock_guard lock(mutex_);
  Range* range = nullptr;
  size_t at = 0;
  SYMM_ACL_TRY(find_room(target, size, range, at, call));
  if (offset % os::page_size() != 0 || offset > memory->memory.size() ||
      size > memory->memory.size() - offset) {
    return fail(ACL_ERROR_RT_PARAM_INVALID,
                "{}: {} bytes from offset {} do not fit the {} bytes of the physical memory, or "
                "the offset is no multiple of a page",
                call, size, offset, memory->memory.size());
  }
  Status status = range->mapping.map_shared(at, size, memory->memory.fd(), offset, false);
  if (!status.ok()) return fail(ACL_ERROR_RT_MEMORY_ALLOCATION, "{}: {}", call, status.text());
  ++memory->mapped;
  range->views[at] = {size, memory};
  return ACL_SUCCESS;
}

aclError VirtualMemory::unmap(void* target, const char* call) {
  std::lock_guard lock(mutex_);
  const auto address = reinterpret_cast<uintptr_t>(target);
  auto at = ranges_.upper_bound(address);
  if (at != ranges_.begin() && (--at)->second.mapping.contains(target)) {
    Range& range = at->second;
    auto view = range.views.find(address - at->first);
    if (view != range.views.end()) {
      Status status = range.mapping.unmap(view->first, view->second.bytes);
      if (!status.ok()) return fail(ACL_ERROR_INTERNAL_ERROR, "{}: {}", call, status.text());
      if (view->second.memory != nullptr) --view->second.memory->mapped;
      range.views.erase(view);
      return ACL_SUCCESS;
    }
  }
  return fail(ACL_ERROR_RT_PARAM_INVALID,
              "{}: nothing is mapped at {}; pass the address that was given to the mapping call",
              call, target);
}

bool VirtualMemory::is_mapped(const PhysicalMemory& memory) {
  std::lock_guard lock(mutex_);
  return memory.mapped != 0;
}

}  // namespace symm::runtime
