// The short way of puts and gets: no Status is made unless something is wrong.
#pragma once

#include "capi/edge.h"
#include "ops/rma.h"

namespace symm::capi {

[[gnu::cold]] void put_checked(const char* call, void* to, const void* from, size_t bytes, int pe);
[[gnu::cold]] void get_checked(const char* call, void* to, const void* from, size_t bytes, int pe);

[[gnu::always_inline]] inline void put(const char* call, void* to, const void* from, size_t bytes,
                                       int pe) {
  Instance* instance = current();
  if (instance != nullptr && ops::try_put(*instance, to, from, bytes, pe)) [[likely]]
    return;
  put_checked(call, to, from, bytes, pe);
}

[[gnu::always_inline]] inline void get(const char* call, void* to, const void* from, size_t bytes,
                                       int pe) {
  Instance* instance = current();
  if (instance != nullptr && ops::try_get(*instance, to, from, bytes, pe)) [[likely]]
    return;
  get_checked(call, to, from, bytes, pe);
}

}  // namespace symm::capi
