// MemoryTable: the allocations of aclrtMalloc and aclrtMallocHost, with the bytes in use per
// device. Threads: any.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <mutex>
#include <unordered_map>

#include "acl/acl_base.h"

namespace symm::runtime {

class MemoryTable {
 public:
  static constexpr int kHost = -1;  // the "device" of host memory

  explicit MemoryTable(uint64_t capacity) : capacity_(capacity) {}

  aclError allocate(void** out, size_t size, int device, const char* call);
  // `host`: whether the call is the one for host memory.
  aclError release(void* memory, bool host, const char* call);
  // Bytes of the allocation that starts there; 0 when none does.
  size_t size_of(const void* memory) const;
  // Whether the address lies in memory of aclrtMallocHost.
  bool is_host_allocation(const void* address) const;
  uint64_t capacity() const { return capacity_; }
  uint64_t used(int device) const;

 private:
  struct Block {
    size_t size;
    int device;
  };
  const uint64_t capacity_;  // of one device
  mutable std::mutex mutex_;
  std::map<uintptr_t, Block> blocks_;
  std::unordered_map<int, uint64_t> used_;
};

}  // namespace symm::runtime
