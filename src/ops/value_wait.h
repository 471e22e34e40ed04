// Waiting for and testing values in this PE's memory, which other PEs change. Level-triggered: a
// value that changes back may be missed. What the writer ordered before its update is visible after
// the wait (acquire). Threads: any.
#pragma once

#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "base/status.h"
#include "core/instance.h"
#include "os/wait.h"

namespace symm::ops {

inline bool known_compare(int compare) { return compare >= 0 && compare <= ACLSHMEM_CMP_LE; }

// The arguments of a wait or test as far as their type does not matter.
struct ValueArguments {
  const void* values;
  size_t count;
  size_t size;  // of a value in bytes
  int compare;
  const char* name;  // of the argument `values`
  const void* wanted = nullptr;
  bool wants_result = false;  // the call has a result, at `result`
  const void* result = nullptr;
  bool wants_indices = false;
  const void* indices = nullptr;
};

// What is wrong with the arguments: an unknown comparison, null where something is to be read or
// written, values that are not aligned or more than memory can hold. No values at all need no
// addresses.
Status check_values(const Instance& instance, const ValueArguments& arguments, const char* call);

template <typename T>
bool compares(T value, int compare, T with) {
  switch (compare) {
    case ACLSHMEM_CMP_EQ:
      return value == with;
    case ACLSHMEM_CMP_NE:
      return value != with;
    case ACLSHMEM_CMP_GT:
      return value > with;
    case ACLSHMEM_CMP_GE:
      return value >= with;
    case ACLSHMEM_CMP_LT:
      return value < with;
    case ACLSHMEM_CMP_LE:
      return value <= with;
    default:
      return false;
  }
}

template <typename T>
T read_value(const T* address) {
  T value;
  // acquire: what the writer ordered before this value is visible afterwards
  __atomic_load(address, &value, __ATOMIC_ACQUIRE);
  return value;
}

// A set of values: elements with a non-zero status entry are left out; null status: none is. `each`
// true: element i is compared with wanted[i], else all with wanted[0].
template <typename T>
struct ValueSet {
  const T* values;
  size_t count;
  const int* status;
  int compare;
  const T* wanted;
  bool each;

  bool included(size_t i) const { return status == nullptr || status[i] == 0; }
  bool met(size_t i) const {
    return compares(read_value(values + i), compare, wanted[each ? i : 0]);
  }
  bool empty() const {
    for (size_t i = 0; i < count; ++i) {
      if (included(i)) return false;
    }
    return true;
  }
  bool all_met() const {
    for (size_t i = 0; i < count; ++i) {
      if (included(i) && !met(i)) return false;
    }
    return true;
  }
  // The first met element at or after `from`, going round; SIZE_MAX when none is.
  size_t any_met(size_t from) const {
    for (size_t n = 0; n < count; ++n) {
      const size_t i = (from + n) % count;
      if (included(i) && met(i)) return i;
    }
    return SIZE_MAX;
  }
  // Writes the numbers of the met elements; returns how many.
  size_t some_met(size_t* indices) const {
    size_t found = 0;
    for (size_t i = 0; i < count; ++i) {
      if (included(i) && met(i)) indices[found++] = i;
    }
    return found;
  }
};

// While it lives, small puts to [address, address + bytes) of this PE's heap wake this PE.
class Watch {
 public:
  Watch(const Instance& instance, const void* address, size_t bytes);
  ~Watch();
  Watch(const Watch&) = delete;
  Watch& operator=(const Watch&) = delete;

 private:
  symm_control_page* page_;
  symm_control_page::symm_watch* slot_ = nullptr;
};

// How long a wait may last; not timed: as SHMEM_WAIT_TIMEOUT says.
struct Limit {
  bool timed = false;
  uint64_t milliseconds = 0;  // 0: one look
};

// kTimeout of a wait that only looks.
Status over(const char* call, const Instance& instance);

template <typename Condition>
Status wait_until(Instance& instance, const char* call, const void* address, size_t bytes,
                  int compare, int64_t wanted, const Limit& limit, Condition condition) {
  if (condition()) return {};
  if (limit.timed && limit.milliseconds == 0) return over(call, instance);
  const Watch watch(instance, address, bytes);
  symm_wait wait{[](void* argument) { return (*static_cast<Condition*>(argument))() ? 1 : 0; },
                 &condition,
                 instance.wait_domain(),
                 call,
                 limit.timed ? limit.milliseconds : 0,
                 -1,
                 -1,
                 address,
                 wanted,
                 compare,
                 SYMM_WAIT_KIND_VALUE};
  return os::wait(wait);
}

template <typename T>
Status wait_value(Instance& instance, const T* address, int compare, T wanted, const char* call,
                  const Limit& limit = {}, T* seen = nullptr) {
  T value{};
  SYMM_TRY(wait_until(instance, call, address, sizeof(T), compare, static_cast<int64_t>(wanted),
                      limit, [&value, address, compare, wanted] {
                        return compares(value = read_value(address), compare, wanted);
                      }));
  // the value that compared, though it may have changed since
  if (seen != nullptr) *seen = value;
  return {};
}

template <typename T>
Status wait_all(Instance& instance, const ValueSet<T>& set, const char* call,
                const Limit& limit = {}) {
  if (set.empty()) return {};
  return wait_until(instance, call, set.values, set.count * sizeof(T), set.compare,
                    static_cast<int64_t>(set.wanted[0]), limit, [&] { return set.all_met(); });
}

template <typename T>
Status wait_any(Instance& instance, const ValueSet<T>& set, const char* call, size_t& index,
                const Limit& limit = {}) {
  index = SIZE_MAX;
  if (set.empty()) return {};
  return wait_until(instance, call, set.values, set.count * sizeof(T), set.compare,
                    static_cast<int64_t>(set.wanted[0]), limit,
                    [&] { return (index = set.any_met(0)) != SIZE_MAX; });
}

template <typename T>
Status wait_some(Instance& instance, const ValueSet<T>& set, const char* call, size_t* indices,
                 size_t& found, const Limit& limit = {}) {
  found = 0;
  if (set.empty()) return {};
  return wait_until(instance, call, set.values, set.count * sizeof(T), set.compare,
                    static_cast<int64_t>(set.wanted[0]), limit,
                    [&] { return (found = set.some_met(indices)) != 0; });
}

}  // namespace symm::ops
