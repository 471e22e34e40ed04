// C edge: address ranges, physical memory and second views of memory.
#include "acl/acl.h"
#include "runtime/device.h"

using namespace symm::runtime;  // NOLINT: this file is the C edge

namespace {

aclError find_physical(void* handle, std::shared_ptr<PhysicalMemory>& out, const char* call) {
  out = runtime().physical.find(handle);
  if (out != nullptr) return ACL_SUCCESS;
  return fail(ACL_ERROR_RT_PARAM_INVALID, "{}: {} is not memory from aclrtMallocPhysical", call,
              handle);
}

}  // namespace

// Where the range lies is ours to choose: expectPtr is a hint only.
aclError aclrtReserveMemAddress(void** virPtr, size_t size, size_t alignment, void*, uint64_t) {
  int device = 0;
  SYMM_ACL_TRY(runtime().current_device(device, "aclrtReserveMemAddress"));
  return runtime().virtual_memory.reserve(virPtr, size, alignment, "aclrtReserveMemAddress");
}

aclError aclrtReleaseMemAddress(void* virPtr) {
  return runtime().virtual_memory.release(virPtr, "aclrtReleaseMemAddress");
}

aclError aclrtMallocPhysical(aclrtDrvMemHandle* handle, size_t size, const aclrtPhysicalMemProp*,
                             uint64_t) {
  constexpr const char* kCall = "aclrtMallocPhysical";
  int device = 0;
  SYMM_ACL_TRY(runtime().current_device(device, kCall));
  const size_t page = symm::os::page_size();
  if (handle == nullptr || size == 0 || size > SIZE_MAX - page) {
    return fail(ACL_ERROR_INVALID_PARAM, "{}: {} bytes into handle {}", kCall, size,
                static_cast<void*>(handle));
  }
  auto made = symm::os::SharedMemory::create("acl_physical", symm::os::round_up(size, page));
  if (!made.ok()) {
    return fail(ACL_ERROR_RT_MEMORY_ALLOCATION, "{}: {}", kCall, made.status().text());
  }
  auto memory = std::make_shared<PhysicalMemory>();
  memory->memory = std::move(made).value();
  *handle = runtime().physical.add(std::move(memory));
  return ACL_SUCCESS;
}

aclError aclrtFreePhysical(aclrtDrvMemHandle handle) {
  constexpr const char* kCall = "aclrtFreePhysical";
  std::shared_ptr<PhysicalMemory> memory;
  SYMM_ACL_TRY(find_physical(handle, memory, kCall));
  if (runtime().virtual_memory.is_mapped(*memory)) {
    return fail(ACL_ERROR_RT_PARAM_INVALID, "{}: the memory is mapped; call aclrtUnmapMem first",
                kCall);
  }
  runtime().physical.remove(handle);
  return ACL_SUCCESS;
}

aclError aclrtMapMem(void* virPtr, size_t size, size_t offset, aclrtDrvMemHandle handle, uint64_t) {
  std::shared_ptr<PhysicalMemory> memory;
  SYMM_ACL_TRY(find_physical(handle, memory, "aclrtMapMem"));
  return runtime().virtual_memory.map_physical(virPtr, size, offset, memory, "aclrtMapMem");
}

aclError aclrtMemMapSelectedLink(void* dst, size_t size, void* src, uint32_t link) {
  constexpr const char* kCall = "aclrtMemMapSelectedLink";
  if (link != ACL_RT_MEM_LINK_IDX_0 && link != ACL_RT_MEM_LINK_IDX_1) {
    return fail(ACL_ERROR_INVALID_PARAM, "{}: there is no link {}; pass ACL_RT_MEM_LINK_IDX_0 or 1",
                kCall, link);
  }
  return runtime().virtual_memory.map_alias(dst, size, src, kCall);
}

aclError aclrtUnmapMem(void* virPtr) {
  return runtime().virtual_memory.unmap(virPtr, "aclrtUnmapMem");
}
