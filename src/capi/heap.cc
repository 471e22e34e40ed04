// Symmetric memory.
#include "host/mem/shmem_host_heap.h"

#include "capi/edge.h"

namespace symm::capi {
namespace {

Status unknown_kind(aclshmem_mem_type_t type) {
  return SYMM_ERROR(kInvalidParam, "there is no memory of kind {}; use DEVICE_SIDE or HOST_SIDE",
                    static_cast<int>(type));
}

// The heap of that kind; makes the HOST_SIDE one when it does not exist yet.
Result<SymmetricHeap*> heap_of(Instance& instance, aclshmem_mem_type_t type, const void* site) {
  if (type == DEVICE_SIDE) return &instance.heap();
  if (type == HOST_SIDE) return instance.spaces().host_side(site);
  return unknown_kind(type);
}

// Only a look: null when there is none.
SymmetricHeap* existing_heap(Instance& instance, aclshmem_mem_type_t type) {
  if (type == DEVICE_SIDE) return &instance.heap();
  return type == HOST_SIDE ? instance.spaces().host_heap() : nullptr;
}

struct Request {
  MemoryCall kind;
  size_t bytes;
  size_t argument;  // alignment or hints
  const void* site;
};

void* allocate(const char* call, const Request& request, aclshmem_mem_type_t type) {
  void* block = nullptr;
  with_instance(call, [&](Instance& instance) -> Status {
    if (request.bytes == 0 && request.kind != MemoryCall::kAlign) return {};
    auto run = [&]() -> Status {
      SYMM_ASSIGN(SymmetricHeap * heap, heap_of(instance, type, request.site));
      SYMM_ASSIGN(block,
                  heap->allocate(request.kind, request.bytes, request.argument, request.site));
      return {};
    };
    return run().with_context(call);
  });
  return block;
}

void* allocate_array(const char* call, size_t count, size_t size, aclshmem_mem_type_t type,
                     const void* site) {
  size_t bytes = 0;
  if (!__builtin_mul_overflow(count, size, &bytes)) {
    return allocate(call, {MemoryCall::kCalloc, bytes, 0, site}, type);
  }
  with_instance(call, [&](Instance& instance) {
    Status why = SYMM_ERROR(kInvalidParam, "{}({}, {}): the product overflows", call, count, size);
    return instance.heap().refuse(MemoryCall::kCalloc, std::move(why), site);
  });
  return nullptr;
}

void release(const char* call, void* block, aclshmem_mem_type_t type, const void* site) {
  if (block == nullptr) return;
  with_instance(call, [&](Instance& instance) -> Status {
    SymmetricHeap* heap = instance.spaces().heap_around(block);
    if (heap == nullptr) heap = existing_heap(instance, type);
    Status why;
    if (heap == nullptr) why = unknown_kind(type);
    SymmetricHeap* host = instance.spaces().host_heap();
    if (heap != nullptr && heap != host && host != nullptr && host->contains(block)) {
      why = SYMM_ERROR(kInvalidParam, "{} is HOST_SIDE memory; pass HOST_SIDE to aclshmemx_free",
                       block);
    }
    if (why.ok()) return heap->release(block, site).with_context(call);
    return instance.heap().refuse(MemoryCall::kFree, std::move(why), site).with_context(call);
  });
}

void* reallocate(const char* call, void* block, size_t bytes, const void* site) {
  void* moved = nullptr;
  with_instance(call, [&](Instance& instance) -> Status {
    SymmetricHeap* heap = instance.spaces().heap_around(block);
    SymmetricHeap* host = instance.spaces().host_heap();
    if (heap == nullptr && host != nullptr && host->contains(block)) heap = host;
    if (heap == nullptr) heap = &instance.heap();
    auto got = heap->reallocate(block, bytes, site);
    if (got.ok()) moved = got.value();
    return std::move(got.status()).with_context(call);
  });
  return moved;
}

Status write_info(const SymmetricHeap* heap, aclshmemx_heap_info_t* info) {
  if (heap == nullptr) return SYMM_ERROR(kInvalidParam, "aclshmemx_heap_info: no such heap");
  if (info == nullptr) return SYMM_ERROR(kInvalidParam, "aclshmemx_heap_info: info is null");
  const HeapUsage usage = heap->usage();
  *info = {usage.capacity, usage.in_use, usage.most_in_use, usage.largest_free, usage.blocks};
  return {};
}

Status check_reserved(int flags, const void* reserved) {
  if (flags == 0 && reserved == nullptr) return {};
  return SYMM_ERROR(kInvalidParam, "flags {} and reserved {} must be 0 and null", flags, reserved);
}

}  // namespace
}  // namespace symm::capi

// Where the program called, for messages and the leak report.
#define SYMM_SITE __builtin_return_address(0)

using symm::Instance;
using symm::MemoryCall;
using symm::Status;
namespace capi = symm::capi;

void* aclshmem_malloc(size_t size) {
  return capi::allocate("aclshmem_malloc", {MemoryCall::kMalloc, size, 0, SYMM_SITE}, DEVICE_SIDE);
}

void* aclshmem_calloc(size_t nmemb, size_t size) {
  return capi::allocate_array("aclshmem_calloc", nmemb, size, DEVICE_SIDE, SYMM_SITE);
}

void* aclshmem_align(size_t alignment, size_t size) {
  return capi::allocate("aclshmem_align", {MemoryCall::kAlign, size, alignment, SYMM_SITE},
                        DEVICE_SIDE);
}

void* aclshmem_realloc(void* ptr, size_t size) {
  const void* site = SYMM_SITE;
  if (ptr == nullptr) {
    return capi::allocate("aclshmem_realloc", {MemoryCall::kMalloc, size, 0, site}, DEVICE_SIDE);
  }
  if (size != 0) return capi::reallocate("aclshmem_realloc", ptr, size, site);
  capi::release("aclshmem_realloc", ptr, DEVICE_SIDE, site);
  return nullptr;
}

void* aclshmem_malloc_with_hints(size_t size, long hints) {
  return capi::allocate("aclshmem_malloc_with_hints",
                        {MemoryCall::kMallocHints, size, static_cast<size_t>(hints), SYMM_SITE},
                        DEVICE_SIDE);
}

void aclshmem_free(void* ptr) { capi::release("aclshmem_free", ptr, DEVICE_SIDE, SYMM_SITE); }

void* aclshmemx_malloc(size_t size, aclshmem_mem_type_t mem_type) {
  return capi::allocate("aclshmemx_malloc", {MemoryCall::kMalloc, size, 0, SYMM_SITE}, mem_type);
}

void* aclshmemx_calloc(size_t count, size_t size, aclshmem_mem_type_t mem_type) {
  return capi::allocate_array("aclshmemx_calloc", count, size, mem_type, SYMM_SITE);
}

void* aclshmemx_align(size_t alignment, size_t size, aclshmem_mem_type_t mem_type) {
  return capi::allocate("aclshmemx_align", {MemoryCall::kAlign, size, alignment, SYMM_SITE},
                        mem_type);
}

void aclshmemx_free(void* ptr, aclshmem_mem_type_t mem_type) {
  capi::release("aclshmemx_free", ptr, mem_type, SYMM_SITE);
}

void* aclshmemx_get_heap_base(aclshmem_mem_type_t mem_type) {
  Instance* instance = symm::current();
  if (instance == nullptr) return nullptr;
  symm::SymmetricHeap* heap = capi::existing_heap(*instance, mem_type);
  return heap != nullptr ? heap->base() : nullptr;
}

int aclshmemx_heap_info(aclshmemx_heap_info_t* info, aclshmem_mem_type_t mem_type) {
  return capi::with_instance("aclshmemx_heap_info", [=](Instance& instance) {
    return capi::write_info(capi::existing_heap(instance, mem_type), info);
  });
}

int aclshmemx_heap_info(aclshmemx_heap_info_t* info, aclshmemx_heap_t heap) {
  return capi::with_instance("aclshmemx_heap_info", [=](Instance& instance) {
    return capi::write_info(instance.spaces().heap(heap.number), info);
  });
}

int aclshmemx_buffer_register(void* address, size_t size) {
  const void* site = SYMM_SITE;
  return capi::with_instance("aclshmemx_buffer_register", [=](Instance& instance) {
    return instance.spaces()
        .register_buffer(address, size, site)
        .with_context("aclshmemx_buffer_register");
  });
}

int aclshmemx_buffer_unregister(void* address) {
  const void* site = SYMM_SITE;
  return capi::with_instance("aclshmemx_buffer_unregister", [=](Instance& instance) {
    return instance.spaces()
        .unregister_buffer(address, site)
        .with_context("aclshmemx_buffer_unregister");
  });
}

int32_t aclshmemx_create_heap(const aclshmemx_heap_attr_t* attributes, aclshmemx_heap_t* heap) {
  const void* site = SYMM_SITE;
  return capi::with_instance("aclshmemx_create_heap", [=](Instance& instance) -> Status {
    const bool given = attributes != nullptr && heap != nullptr;
    if (heap != nullptr) *heap = {};
    // A size of 0 is refused on all PEs.
    auto made = instance.spaces().make_heap(given ? attributes->heap_size : 0,
                                            given ? attributes->alignment : 0, site);
    if (made.ok()) heap->number = made.value();
    return std::move(made.status()).with_context("aclshmemx_create_heap");
  });
}

int32_t aclshmemx_destroy_heap(aclshmemx_heap_t heap, int flags, void* reserved) {
  const void* site = SYMM_SITE;
  return capi::with_instance("aclshmemx_destroy_heap", [=](Instance& instance) -> Status {
    // Wrong arguments name no heap, so all PEs hear of it.
    Status wrong = capi::check_reserved(flags, reserved);
    Status done = instance.spaces().destroy_heap(wrong.ok() ? heap.number : 0, site);
    return (wrong.ok() ? std::move(done) : std::move(wrong)).with_context("aclshmemx_destroy_heap");
  });
}

int32_t aclshmemx_malloc(aclshmemx_heap_t heap, size_t size, void** block) {
  const void* site = SYMM_SITE;
  if (block != nullptr) *block = nullptr;
  return capi::with_instance("aclshmemx_malloc", [=](Instance& instance) -> Status {
    symm::SymmetricHeap* found = instance.spaces().heap(heap.number);
    if (found == nullptr || block == nullptr) {
      Status why = SYMM_ERROR(
          kInvalidParam, "aclshmemx_malloc: there is no heap {}, or block is null", heap.number);
      return instance.heap().refuse(MemoryCall::kMalloc, std::move(why), site);
    }
    auto got = found->allocate(MemoryCall::kMalloc, size, 0, site);
    if (got.ok()) *block = got.value();
    return std::move(got.status()).with_context("aclshmemx_malloc");
  });
}
