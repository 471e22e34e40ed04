// What the checks of waits and tests need to know of a set of values.
#pragma once

#include "ops/value_wait.h"

namespace symm::capi {

template <typename T>
ops::ValueArguments arguments_of(const ops::ValueSet<T>& set) {
  return {set.values, set.count, sizeof(T), set.compare, "ivars", set.wanted};
}

template <typename T>
ops::ValueArguments arguments_of(const ops::ValueSet<T>& set, const void* result) {
  ops::ValueArguments arguments = arguments_of(set);
  arguments.wants_result = true;
  arguments.result = result;
  return arguments;
}

template <typename T>
ops::ValueArguments arguments_of(const ops::ValueSet<T>& set, const void* result,
                                 const size_t* indices) {
  ops::ValueArguments arguments = arguments_of(set, result);
  arguments.wants_indices = true;
  arguments.indices = indices;
  return arguments;
}

}  // namespace symm::capi
