// Symmetric memory.
#include "host/mem/shmem_host_heap.h"

#include "capi/edge.h"

namespace symm::capi {
namespace {

void* allocate(const char* call, MemoryCall kind, size_t bytes, size_t alignment,
               aclshmem_mem_type_t type) {
  void* block = nullptr;
  with_instance(call, [&](Instance& instance) -> Status {
    if (type != DEVICE_SIDE) {
      return SYMM_ERROR(kNotSupported, "{}: there is no memory of kind {} here", call,
                        static_cast<int>(type));
    }
    auto got = instance.heap().allocate(kind, bytes, alignment);
    if (got.ok()) block = got.value();
    return std::move(got.status()).with_context(call);
  });
  return block;
}

void* allocate_array(const char* call, size_t count, size_t size, aclshmem_mem_type_t type) {
  size_t bytes = 0;
  if (__builtin_mul_overflow(count, size, &bytes)) {
    fail(current(),
         SYMM_ERROR(kInvalidParam, "{}({}, {}): the product overflows", call, count, size));
    return nullptr;
  }
  return allocate(call, MemoryCall::kCalloc, bytes, 0, type);
}

void release(const char* call, void* block, aclshmem_mem_type_t type) {
  if (block == nullptr) return;
  with_instance(call, [&](Instance& instance) -> Status {
    if (type != DEVICE_SIDE) {
      return SYMM_ERROR(kNotSupported, "{}: there is no memory of kind {} here", call,
                        static_cast<int>(type));
    }
    return instance.heap().release(block).with_context(call);
  });
}

}  // namespace
}  // namespace symm::capi

using symm::MemoryCall;
namespace capi = symm::capi;

void* aclshmem_malloc(size_t size) {
  return capi::allocate("aclshmem_malloc", MemoryCall::kMalloc, size, 0, DEVICE_SIDE);
}

void* aclshmem_calloc(size_t nmemb, size_t size) {
  return capi::allocate_array("aclshmem_calloc", nmemb, size, DEVICE_SIDE);
}

void* aclshmem_align(size_t alignment, size_t size) {
  return capi::allocate("aclshmem_align", MemoryCall::kAlign, size, alignment, DEVICE_SIDE);
}

void aclshmem_free(void* ptr) { capi::release("aclshmem_free", ptr, DEVICE_SIDE); }

void* aclshmemx_malloc(size_t size, aclshmem_mem_type_t mem_type) {
  return capi::allocate("aclshmemx_malloc", MemoryCall::kMalloc, size, 0, mem_type);
}

void* aclshmemx_calloc(size_t count, size_t size, aclshmem_mem_type_t mem_type) {
  return capi::allocate_array("aclshmemx_calloc", count, size, mem_type);
}

void* aclshmemx_align(size_t alignment, size_t size, aclshmem_mem_type_t mem_type) {
  return capi::allocate("aclshmemx_align", MemoryCall::kAlign, size, alignment, mem_type);
}

void aclshmemx_free(void* ptr, aclshmem_mem_type_t mem_type) {
  capi::release("aclshmemx_free", ptr, mem_type);
}

void* aclshmemx_get_heap_base(aclshmem_mem_type_t mem_type) {
  symm::Instance* instance = symm::current();
  return instance != nullptr && mem_type == DEVICE_SIDE ? instance->heap_base() : nullptr;
}
