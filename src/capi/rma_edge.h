// The short way of puts and gets: no Status is made unless something is wrong.
#pragma once

#include "capi/edge.h"
#include "ops/rma.h"

namespace symm::capi {

[[gnu::cold]] void put_checked(const char* call, void* to, const void* from, size_t count,
                               size_t unit, int pe);
[[gnu::cold]] void get_checked(const char* call, void* to, const void* from, size_t count,
                               size_t unit, int pe);

// `count` units of `unit` bytes.
[[gnu::always_inline]] inline void put(const char* call, void* to, const void* from, size_t count,
                                       size_t unit, int pe) {
  Instance* instance = current();
  size_t bytes = 0;
  if (!__builtin_mul_overflow(count, unit, &bytes) && instance != nullptr &&
      ops::try_put(*instance, to, from, bytes, pe)) [[likely]]
    return;
  put_checked(call, to, from, count, unit, pe);
}

[[gnu::always_inline]] inline void get(const char* call, void* to, const void* from, size_t count,
                                       size_t unit, int pe) {
  Instance* instance = current();
  size_t bytes = 0;
  if (!__builtin_mul_overflow(count, unit, &bytes) && instance != nullptr &&
      ops::try_get(*instance, to, from, bytes, pe)) [[likely]]
    return;
  get_checked(call, to, from, count, unit, pe);
}

}  // namespace symm::capi
