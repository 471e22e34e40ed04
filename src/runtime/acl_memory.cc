// C edge: memory, copies, fills.
#include <cstring>

#include "acl/acl.h"
#include "ascendc/core_abi.h"
#include "runtime/device.h"
#include "runtime/tasks.h"

using namespace symm::runtime;  // NOLINT: this file is the C edge

namespace {

aclError check_range(const char* call, const void* pointer, const char* name, size_t limit,
                     size_t count) {
  if (pointer == nullptr && count != 0) {
    return fail(ACL_ERROR_INVALID_PARAM, "{}: {} is null", call, name);
  }
  if (count <= limit) return ACL_SUCCESS;
  return fail(ACL_ERROR_INVALID_PARAM,
              "{}: {} bytes do not fit the {} bytes that the destination has room for", call, count,
              limit);
}

aclError check_copy(const char* call, const void* dst, size_t limit, const void* src, size_t count,
                    int kind) {
  if (kind < ACL_MEMCPY_HOST_TO_HOST || kind > ACL_MEMCPY_INTER_DEVICE_TO_DEVICE) {
    return fail(ACL_ERROR_INVALID_PARAM, "{}: {} is not a kind of copy", call, kind);
  }
  SYMM_ACL_TRY(check_range(call, dst, "dst", limit, count));
  return check_range(call, src, "src", count, count);
}

// Whether the host side of the copy is memory that the program may change as soon as the call
// returns.
bool has_pageable_side(const void* dst, const void* src, int kind) {
  MemoryTable& memory = runtime().memory();
  switch (kind) {
    case ACL_MEMCPY_HOST_TO_DEVICE:
    case ACL_MEMCPY_HOST_TO_BUF_TO_DEVICE:
      return !memory.is_host_allocation(src);
    case ACL_MEMCPY_DEVICE_TO_HOST:
      return !memory.is_host_allocation(dst);
    case ACL_MEMCPY_HOST_TO_HOST:
      return !memory.is_host_allocation(src) || !memory.is_host_allocation(dst);
    default:
      return false;
  }
}

aclError release(void* memory, bool host, const char* call) {
  if (const size_t bytes = runtime().memory().size_of(memory); bytes != 0) {
    SYMM_ACL_TRY(symm_rt_release_memory(memory, bytes, call));
  }
  return runtime().memory().release(memory, host, call);
}

}  // namespace

aclError aclrtMalloc(void** devPtr, size_t size, aclrtMemMallocPolicy) {
  int device = 0;
  SYMM_ACL_TRY(runtime().current_device(device, "aclrtMalloc"));
  return runtime().memory().allocate(devPtr, size, device, "aclrtMalloc");
}

aclError aclrtFree(void* devPtr) { return release(devPtr, false, "aclrtFree"); }

aclError aclrtMallocHost(void** hostPtr, size_t size) {
  return runtime().memory().allocate(hostPtr, size, MemoryTable::kHost, "aclrtMallocHost");
}

aclError aclrtFreeHost(void* hostPtr) { return release(hostPtr, true, "aclrtFreeHost"); }

int symm_rt_release_memory(const void* memory, uint64_t bytes, const char* call) {
  return runtime().release_memory({reinterpret_cast<uintptr_t>(memory), bytes}, call);
}

aclError aclrtGetMemInfo(aclrtMemAttr, size_t* freeBytes, size_t* totalBytes) {
  if (freeBytes == nullptr || totalBytes == nullptr) {
    return fail(ACL_ERROR_INVALID_PARAM, "aclrtGetMemInfo: a pointer for the result is null");
  }
  int device = 0;
  SYMM_ACL_TRY(runtime().current_device(device, "aclrtGetMemInfo"));
  MemoryTable& memory = runtime().memory();
  *totalBytes = memory.capacity();
  *freeBytes = memory.capacity() - memory.used(device);
  return ACL_SUCCESS;
}

aclError aclrtMemcpy(void* dst, size_t destMax, const void* src, size_t count,
                     aclrtMemcpyKind kind) {
  SYMM_ACL_TRY(check_copy("aclrtMemcpy", dst, destMax, src, count, kind));
  SYMM_ACL_TRY(runtime().check_capture_allows("aclrtMemcpy"));
  if (count != 0) std::memmove(dst, src, count);
  return ACL_SUCCESS;
}

aclError aclrtMemset(void* devPtr, size_t maxCount, int32_t value, size_t count) {
  SYMM_ACL_TRY(check_range("aclrtMemset", devPtr, "devPtr", maxCount, count));
  SYMM_ACL_TRY(runtime().check_capture_allows("aclrtMemset"));
  if (count != 0) std::memset(devPtr, value, count);
  return ACL_SUCCESS;
}

aclError aclrtMemcpyAsync(void* dst, size_t destMax, const void* src, size_t count,
                          aclrtMemcpyKind kind, aclrtStream stream) {
  SYMM_ACL_TRY(check_copy("aclrtMemcpyAsync", dst, destMax, src, count, kind));
  std::shared_ptr<Stream> target;
  SYMM_ACL_TRY(runtime().find_stream(stream, target, "aclrtMemcpyAsync"));
  SYMM_ACL_TRY(target->submit(std::make_shared<CopyTask>(dst, src, count), "aclrtMemcpyAsync"));
  if (target->capture() != nullptr || !has_pageable_side(dst, src, kind)) return ACL_SUCCESS;
  return target->synchronize(0, "aclrtMemcpyAsync");
}

aclError aclrtMemsetAsync(void* devPtr, size_t maxCount, int32_t value, size_t count,
                          aclrtStream stream) {
  SYMM_ACL_TRY(check_range("aclrtMemsetAsync", devPtr, "devPtr", maxCount, count));
  std::shared_ptr<Stream> target;
  SYMM_ACL_TRY(runtime().find_stream(stream, target, "aclrtMemsetAsync"));
  return target->submit(std::make_shared<FillTask>(devPtr, value, count), "aclrtMemsetAsync");
}

aclError aclrtCmoAsync(void* src, size_t size, aclrtCmoType cmoType, aclrtStream stream) {
  SYMM_ACL_TRY(check_range("aclrtCmoAsync", src, "src", size, size));
  if (cmoType < ACL_RT_CMO_TYPE_PREFETCH || cmoType > ACL_RT_CMO_TYPE_FLUSH) {
    return fail(ACL_ERROR_INVALID_PARAM, "aclrtCmoAsync: {} is not a cache operation",
                static_cast<int>(cmoType));
  }
  std::shared_ptr<Stream> target;
  SYMM_ACL_TRY(runtime().find_stream(stream, target, "aclrtCmoAsync"));
  return target->submit(std::make_shared<MarkTask>("cache operation"), "aclrtCmoAsync");
}
