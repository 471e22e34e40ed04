// VirtualMemory: address ranges of aclrtReserveMemAddress and what is mapped into them: memory of
// aclrtMallocPhysical, or a second view of shared memory that this process maps already (a peer's
// symmetric heap). Threads: any.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>

#include "acl/acl_base.h"
#include "os/mapping.h"
#include "os/shared_memory.h"

namespace symm::runtime {

// Memory without an address.
struct PhysicalMemory {
  os::SharedMemory memory;
  size_t mapped = 0;  // how often it is mapped; under the mutex of VirtualMemory
};

class VirtualMemory {
 public:
  // alignment 0: a page.
  aclError reserve(void** out, size_t size, size_t alignment, const char* call);
  // Refused while something is mapped.
  aclError release(void* start, const char* call);

  // Makes [target, target + size) of a reserved range show the memory that `source` shows.
  aclError map_alias(void* target, size_t size, const void* source, const char* call);
  aclError map_physical(void* target, size_t size, size_t offset,
                        const std::shared_ptr<PhysicalMemory>& memory, const char* call);
  // `target` as it was given to one of the two.
  aclError unmap(void* target, const char* call);
  bool is_mapped(const PhysicalMemory& memory);

 private:
  struct View {
    size_t bytes;
    std::shared_ptr<PhysicalMemory> memory;  // null: an alias
  };
  struct Range {
    os::Mapping mapping;
    std::map<size_t, View> views;  // by offset
  };

  // The range that holds [target, target + size), page-aligned and free of views; under mutex_.
  aclError find_room(void* target, size_t size, Range*& range, size_t& offset, const char* call);

  std::mutex mutex_;
  std::map<uintptr_t, Range> ranges_;  // under mutex_, by first address
};

}  // namespace symm::runtime
