#include "ops/amo.h"

#include "ops/rma.h"

namespace symm::ops {

Result<std::byte*> atomic_target(Instance& instance, const void* address, size_t size, int pe,
                                 const char* call) {
  SYMM_ASSIGN(std::byte * target,
              locate(instance, address, {1, size}, pe, "address of the element", call));
  if (!aligned(target, size)) {
    return SYMM_ERROR(kInvalidParam,
                      "{} on PE {}: the element at {} for PE {} is not aligned to {} bytes", call,
                      instance.pe(), address, pe, size);
  }
  if (instance.check_level() == 2) {
    SYMM_TRY(instance.pending().conflict({call, target, size, pe, PendingBuffers::Use::kWrites},
                                         instance.pe()));
  }
  return target;
}

Status check_result(Instance& instance, void* result, size_t bytes, int pe, const char* call) {
  if (result == nullptr) {
    return SYMM_ERROR(kInvalidParam,
                      "{} on PE {}: the address for the value is null; pass memory of this process "
                      "that lives until quiet",
                      call, instance.pe());
  }
  if (instance.check_level() != 2) return {};
  const PendingBuffers::Buffer buffer{call, result, bytes, pe, PendingBuffers::Use::kWrites};
  SYMM_TRY(instance.pending().conflict(buffer, instance.pe()));
  instance.pending().add(buffer);
  return {};
}

}  // namespace symm::ops
