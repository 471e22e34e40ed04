// Many transfers in one call: all are checked before any moves. Threads: any.
#pragma once

#include <concepts>
#include <span>
#include <string>

#include "base/status.h"
#include "core/instance.h"
#include "ops/rma.h"

namespace symm::ops {

// A transfer as the interface has it: dest, source, bytes, pe.
template <typename T>
concept Transfer = requires(const T& t) {
  { t.dest } -> std::convertible_to<void*>;
  { t.source } -> std::convertible_to<const void*>;
  { t.bytes } -> std::convertible_to<size_t>;
  { t.pe } -> std::convertible_to<int>;
};

// Checks one transfer; where its remote side is mapped here, null when nothing moves.
Result<std::byte*> check_one(Instance& instance, Direction direction, void* dest,
                             const void* source, size_t bytes, int pe, const char* call);

template <Transfer T>
Status check_many(Instance& instance, Direction direction, std::span<const T> list,
                  const char* call) {
  for (size_t i = 0; i < list.size(); ++i) {
    const T& t = list[i];
    Status status =
        std::move(check_one(instance, direction, t.dest, t.source, t.bytes, t.pe, call).status());
    if (!status.ok()) return std::move(status).with_context("transfer " + std::to_string(i));
  }
  return {};
}

// Sources may be reused on return. kInvalidParam with the index of the first wrong one, and nothing
// moved.
template <Transfer T>
Status put_many(Instance& instance, std::span<const T> list, const char* call) {
  SYMM_TRY(check_many(instance, Direction::kPut, list, call));
  for (const T& t : list) {
    if (try_put(instance.fast(), t.dest, t.source, t.bytes, t.pe)) [[likely]]
      continue;
    SYMM_TRY(put_slow(instance, t.dest, t.source, {t.bytes}, t.pe, call));
  }
  return {};
}

template <Transfer T>
Status get_many(Instance& instance, std::span<const T> list, const char* call) {
  SYMM_TRY(check_many(instance, Direction::kGet, list, call));
  for (const T& t : list) {
    if (try_get(instance.fast(), t.dest, t.source, t.bytes, t.pe)) [[likely]]
      continue;
    SYMM_TRY(get_slow(instance, t.dest, t.source, {t.bytes}, t.pe, call));
  }
  return {};
}

}  // namespace symm::ops
