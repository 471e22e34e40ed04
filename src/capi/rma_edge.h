// The short way of puts and gets: no Status is made unless something is wrong.
#pragma once

#include <type_traits>

#include "capi/edge.h"
#include "ops/rma.h"

namespace symm::capi {

[[gnu::cold]] void put_checked(const char* call, void* to, const void* from, size_t count,
                               size_t unit, int pe, bool non_blocking);
[[gnu::cold]] void get_checked(const char* call, void* to, const void* from, size_t count,
                               size_t unit, int pe, bool non_blocking);

// The short way of the instance that the calls of this thread mean.
[[gnu::always_inline]] inline const FastPath& fast_path() {
  if (detail::t_selected != nullptr) [[unlikely]]
    return detail::t_selected->fast();
  return process_fast_path();
}

// Whether the value of a non-blocking atomic may be written there; false after an error.
bool may_write(const char* call, void* result, size_t bytes, int pe);

enum Blocking : bool { kBlocking = false, kNonBlocking = true };

// `count` units of `unit` bytes.
template <Blocking kMode = kBlocking>
[[gnu::always_inline]] inline void put(const char* call, void* to, const void* from, size_t count,
                                       size_t unit, int pe) {
  size_t bytes = 0;
  if (!__builtin_mul_overflow(count, unit, &bytes) &&
      ops::try_put(fast_path(), to, from, bytes, pe)) [[likely]]
    return;
  put_checked(call, to, from, count, unit, pe, kMode);
}

template <Blocking kMode = kBlocking>
[[gnu::always_inline]] inline void get(const char* call, void* to, const void* from, size_t count,
                                       size_t unit, int pe) {
  size_t bytes = 0;
  if (!__builtin_mul_overflow(count, unit, &bytes) &&
      ops::try_get(fast_path(), to, from, bytes, pe)) [[likely]]
    return;
  get_checked(call, to, from, count, unit, pe, kMode);
}

// The unsigned type of the size of T: what moves as one.
template <typename T>
using WordOf =
    std::conditional_t<sizeof(T) == 8, uint64_t,
                       std::conditional_t<sizeof(T) == 4, uint32_t,
                                          std::conditional_t<sizeof(T) == 2, uint16_t, uint8_t>>>;

// The value goes to memory only when something is wrong.
template <typename T>
[[gnu::cold, gnu::noinline]] void put_value_checked(const char* call, T* to, T value, int pe) {
  put_checked(call, to, &value, 1, sizeof(T), pe, false);
}

template <typename T>
[[gnu::cold, gnu::noinline]] T get_value_checked(const char* call, const T* from, int pe) {
  T value{};
  get_checked(call, &value, from, 1, sizeof(T), pe, false);
  return value;
}

template <typename T>
[[gnu::always_inline]] inline void put_value(const char* call, T* to, T value, int pe) {
  if (ops::try_put_word(fast_path(), to, __builtin_bit_cast(WordOf<T>, value), pe)) [[likely]]
    return;
  put_value_checked(call, to, value, pe);
}

template <typename T>
[[gnu::always_inline]] inline T get_value(const char* call, const T* from, int pe) {
  const std::byte* source = ops::fast_word(fast_path(), from, pe);
  if (source != nullptr) [[likely]]
    return __builtin_bit_cast(T, ops::load_word<WordOf<T>>(source));
  return get_value_checked(call, from, pe);
}

}  // namespace symm::capi
