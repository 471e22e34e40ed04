#include "runtime/memory.h"

#include <cstdlib>

#include "runtime/error.h"

namespace symm::runtime {
namespace {

constexpr size_t kGranule = 32;
constexpr size_t kAlignment = 64;
constexpr size_t kLargeAlignment = 4096;
constexpr size_t kLarge = 64 * 1024;

}  // namespace

aclError MemoryTable::allocate(void** out, size_t size, int device, const char* call) {
  if (out == nullptr) {
    return fail(ACL_ERROR_INVALID_PARAM, "{}: the pointer for the result is null", call);
  }
  if (size == 0 || size > SIZE_MAX - kLarge) {
    return fail(ACL_ERROR_RT_PARAM_INVALID,
                "{}: cannot allocate {} bytes; pass a size of at least 1", call, size);
  }
  size_t bytes = (size + kGranule - 1) / kGranule * kGranule;
  std::lock_guard lock(mutex_);
  uint64_t& used = used_[device];
  void* memory = nullptr;
  bool fits = device == kHost || (bytes <= capacity_ && used <= capacity_ - bytes);
  if (!fits ||
      ::posix_memalign(&memory, size >= kLarge ? kLargeAlignment : kAlignment, bytes) != 0) {
    return fail(ACL_ERROR_RT_MEMORY_ALLOCATION,
                "{}: no room for {} bytes; {} bytes are in use{}; free memory or raise "
                "SHMEM_DEVICE_MEMORY",
                call, size, used,
                device == kHost ? "" : fmt::format(" of {} on device {}", capacity_, device));
  }
  blocks_[reinterpret_cast<uintptr_t>(memory)] = {bytes, device};
  used += bytes;
  *out = memory;
  return ACL_SUCCESS;
}

aclError MemoryTable::release(void* memory, bool host, const char* call) {
  if (memory == nullptr) return fail(ACL_ERROR_INVALID_PARAM, "{}: the pointer is null", call);
  std::lock_guard lock(mutex_);
  auto at = blocks_.find(reinterpret_cast<uintptr_t>(memory));
  if (at == blocks_.end()) {
    return fail(ACL_ERROR_RT_PARAM_INVALID,
                "{}: {} is not the start of memory from aclrtMalloc or aclrtMallocHost, or is free "
                "already",
                call, memory);
  }
  if ((at->second.device == kHost) != host) {
    return fail(ACL_ERROR_RT_PARAM_INVALID, "{}: {} is {} memory; free it with {}", call, memory,
                host ? "device" : "host", host ? "aclrtFree" : "aclrtFreeHost");
  }
  used_[at->second.device] -= at->second.size;
  blocks_.erase(at);
  std::free(memory);
  return ACL_SUCCESS;
}

size_t MemoryTable::size_of(const void* memory) const {
  std::lock_guard lock(mutex_);
  auto at = blocks_.find(reinterpret_cast<uintptr_t>(memory));
  return at == blocks_.end() ? 0 : at->second.size;
}

bool MemoryTable::is_host_allocation(const void* address) const {
  std::lock_guard lock(mutex_);
  auto value = reinterpret_cast<uintptr_t>(address);
  auto at = blocks_.upper_bound(value);
  if (at == blocks_.begin()) return false;
  --at;
  return at->second.device == kHost && value < at->first + at->second.size;
}

uint64_t MemoryTable::used(int device) const {
  std::lock_guard lock(mutex_);
  auto at = used_.find(device);
  return at == used_.end() ? 0 : at->second;
}

}  // namespace symm::runtime
