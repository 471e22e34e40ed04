// What shmem-cc makes of a [[block_local]] variable: one copy per running core, made with its
// initialiser when the core first uses it.
#pragma once

#include <new>
#include <type_traits>

#include "ascendc/core_abi.h"

namespace symm {

// `Holder` has the variable as its only member; `key` is an address of its own.
template <typename Holder>
inline Holder& core_local(const void* key) {
  static_assert(std::is_trivially_destructible_v<Holder>,
                "[[block_local]] variables hold plain data: nothing destroys them");
  int fresh = 0;
  void* memory = symm_rt_core_local(key, sizeof(Holder), &fresh);
  if (fresh) return *new (memory) Holder();
  return *std::launder(static_cast<Holder*>(memory));
}

}  // namespace symm
