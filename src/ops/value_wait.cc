#include "ops/value_wait.h"

#include "ops/rma.h"

namespace symm::ops {

Status check_values(const Instance& instance, const ValueArguments& arguments, const char* call) {
  if (!known_compare(arguments.compare)) {
    return SYMM_ERROR(kInvalidParam,
                      "{} on PE {}: comparison {} is none; pass one of ACLSHMEM_CMP_EQ to "
                      "ACLSHMEM_CMP_LE",
                      call, instance.pe(), arguments.compare);
  }
  if (arguments.count == 0) return {};
  auto missing = [&](const char* name, const char* cure) {
    return SYMM_ERROR(kInvalidParam, "{} on PE {}: {} is null for {} values; {}", call,
                      instance.pe(), name, arguments.count, cure);
  };
  if (arguments.values == nullptr) {
    return missing(arguments.name, "pass memory from aclshmem_malloc");
  }
  if (arguments.wanted == nullptr) return missing("cmp_values", "pass one value for each element");
  if (arguments.wants_result && arguments.result == nullptr) {
    return missing("res_out", "pass where the result goes");
  }
  if (arguments.wants_indices && arguments.indices == nullptr) {
    return missing("indices", "pass room for an index for each element");
  }
  if (!aligned(arguments.values, arguments.size)) {
    return SYMM_ERROR(kInvalidParam, "{} on PE {}: {} {} is not aligned to {} bytes", call,
                      instance.pe(), arguments.name, arguments.values, arguments.size);
  }
  SYMM_TRY(check_local(instance, arguments.values, {arguments.count, arguments.size},
                       arguments.name, call));
  if (instance.check_level() != 2 || arguments.indices == nullptr) return {};
  const auto values = reinterpret_cast<uintptr_t>(arguments.values);
  const auto indices = reinterpret_cast<uintptr_t>(arguments.indices);
  if (indices >= values + arguments.count * arguments.size ||
      values >= indices + arguments.count * sizeof(size_t)) {
    return {};
  }
  return SYMM_ERROR(kInvalidParam,
                    "{} on PE {}: indices at {} overlap {} at {} ({} elements); "
                    "give them arrays of their own",
                    call, instance.pe(), arguments.indices, arguments.name, arguments.values,
                    arguments.count);
}

Status over(const char* call, const Instance& instance) {
  return SYMM_ERROR(kTimeout, "{} on PE {}: not so at this moment", call, instance.pe());
}

// All of it relaxed: these are hints, the event count carries the order. The final look at the
// condition comes after, in os::wait.
Watch::Watch(const Instance& instance, const void* address, size_t bytes)
    : page_(instance.route(instance.pe()).control) {
  const uint64_t begin =
      reinterpret_cast<uintptr_t>(address) - reinterpret_cast<uintptr_t>(instance.heap_base());
  for (symm_control_page::symm_watch& slot : page_->watch) {
    uint64_t empty = 0;
    if (!__atomic_compare_exchange_n(&slot.end, &empty, begin + bytes, false, __ATOMIC_RELAXED,
                                     __ATOMIC_RELAXED)) {
      continue;
    }
    __atomic_store_n(&slot.begin, begin, __ATOMIC_RELAXED);
    slot_ = &slot;
    break;
  }
  if (slot_ == nullptr) __atomic_fetch_add(&page_->watchers_elsewhere, 1u, __ATOMIC_RELAXED);
  __atomic_fetch_add(&page_->watchers, 1u, __ATOMIC_RELAXED);
}

Watch::~Watch() {
  __atomic_fetch_sub(&page_->watchers, 1u, __ATOMIC_RELAXED);
  if (slot_ == nullptr) {
    __atomic_fetch_sub(&page_->watchers_elsewhere, 1u, __ATOMIC_RELAXED);
  } else {
    __atomic_store_n(&slot_->begin, uint64_t{0}, __ATOMIC_RELAXED);
    __atomic_store_n(&slot_->end, uint64_t{0}, __ATOMIC_RELAXED);
  }
}

}  // namespace symm::ops
