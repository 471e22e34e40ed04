// What every C function needs: finding the instance, handing it to the body, and ending an error:
// logged once, kept in the instance, turned into a number. Nothing is thrown through.
#pragma once

#include <exception>

#include "base/status.h"
#include "base/trace.h"
#include "core/current.h"
#include "core/instance.h"

namespace symm::capi {

inline int code_of(const Status& status) { return static_cast<int>(status.code()); }

[[gnu::cold]] int fail(Instance* instance, const Status& status);
[[gnu::cold]] int fail_without_instance(const char* call);

// Runs body(instance), which returns a Status; the code is the result.
template <typename Body>
inline int with_instance(const char* call, Body body) noexcept {
  Instance* instance = current();
  if (instance == nullptr) [[unlikely]]
    return fail_without_instance(call);
  try {
    const trace::Span span("call", call);
    Status status = body(*instance);
    if (!status.ok()) [[unlikely]]
      return fail(instance, status);
    return 0;
  } catch (const std::exception& error) {
    return fail(instance, SYMM_ERROR(kInternal, "{}: {}", call, error.what()));
  }
}

// For calls that need no instance.
template <typename Body>
inline int without_instance(const char* call, Body body) noexcept {
  try {
    Status status = body();
    if (!status.ok()) [[unlikely]]
      return fail(nullptr, status);
    return 0;
  } catch (const std::exception& error) {
    return fail(nullptr, SYMM_ERROR(kInternal, "{}: {}", call, error.what()));
  }
}

}  // namespace symm::capi
