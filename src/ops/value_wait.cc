#include "ops/value_wait.h"

namespace symm::ops {

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
