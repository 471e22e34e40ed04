// Atomics.
#include "host/data_plane/shmem_host_amo.h"

#include "capi/rma_edge.h"
#include "ops/amo.h"

namespace capi = symm::capi;
namespace ops = symm::ops;
using capi::fast_path;

namespace {

// Where the element lies when the short way may not be taken; null after an error.
[[gnu::cold, gnu::noinline]] std::byte* checked_target(const char* call, const void* address,
                                                       size_t size, int pe) {
  std::byte* target = nullptr;
  capi::with_instance(call, [&](symm::Instance& instance) -> symm::Status {
    SYMM_ASSIGN(target, ops::atomic_target(instance, address, size, pe, call));
    return {};
  });
  return target;
}

// change(element) does it and returns the old value.
template <typename T, typename Change>
[[gnu::always_inline]] inline T atomic(const char* call, const T* address, int pe, Change change) {
  const symm::FastPath& fast = fast_path();
  std::byte* target = ops::fast_word(fast, address, pe);
  if (target == nullptr || !ops::aligned(target, sizeof(T))) [[unlikely]] {
    target = checked_target(call, address, sizeof(T), pe);
    if (target == nullptr) return T{};
  }
  const T old = change(reinterpret_cast<T*>(target));
  ops::notify_if_watched(fast.routes[pe], target, sizeof(T));
  return old;
}

// A read changes nothing that anybody could wait for.
template <typename T>
[[gnu::always_inline]] inline T fetch(const char* call, const T* address, int pe) {
  std::byte* target = ops::fast_word(fast_path(), address, pe);
  if (target == nullptr || !ops::aligned(target, sizeof(T))) [[unlikely]] {
    target = checked_target(call, address, sizeof(T), pe);
    if (target == nullptr) return T{};
  }
  return ops::amo_fetch(reinterpret_cast<const T*>(target));
}

// The value is there at once, so nothing of ours outlives the call; the program must not rely on it
// before quiet.
template <typename T, typename Call>
void give(const char* call, T* result, int pe, Call fetching) {
  if (!capi::may_write(call, result, sizeof(T), pe)) return;
  *result = fetching();
}

}  // namespace

bool capi::may_write(const char* call, void* result, size_t bytes, int pe) {
  return capi::with_instance(call, [=](symm::Instance& instance) {
           return ops::check_result(instance, result, bytes, pe, call);
         }) == 0;
}

#define SYMM_CALL(NAME, VERB) "aclshmem_" #NAME "_atomic_" #VERB

// dest, value → old; with its fetching and non-blocking forms.
#define SYMM_DEFINE_FETCH(PREFIX, NAME, TYPE, VERB, FUNCTION)                               \
  TYPE PREFIX##_##NAME##_atomic_##VERB(TYPE* dest, TYPE value, int pe) {                    \
    return atomic(#PREFIX "_" #NAME "_atomic_" #VERB, dest, pe,                             \
                  [=](TYPE* element) { return FUNCTION(element, value); });                 \
  }                                                                                         \
  void PREFIX##_##NAME##_atomic_##VERB##_nbi(TYPE* fetch, TYPE* dest, TYPE value, int pe) { \
    give(#PREFIX "_" #NAME "_atomic_" #VERB "_nbi", fetch, pe, [=] {                        \
      return atomic(#PREFIX "_" #NAME "_atomic_" #VERB "_nbi", dest, pe,                    \
                    [=](TYPE* element) { return FUNCTION(element, value); });               \
    });                                                                                     \
  }
#define SYMM_DEFINE_BOTH(PREFIX, NAME, TYPE, VERB, FUNCTION)             \
  void PREFIX##_##NAME##_atomic_##VERB(TYPE* dest, TYPE value, int pe) { \
    atomic(#PREFIX "_" #NAME "_atomic_" #VERB, dest, pe,                 \
           [=](TYPE* element) { return FUNCTION(element, value); });     \
  }                                                                      \
  SYMM_DEFINE_FETCH(PREFIX, NAME, TYPE, fetch_##VERB, FUNCTION)

#define SYMM_DEFINE_EXTENDED(NAME, TYPE)                                              \
  TYPE aclshmem_##NAME##_atomic_fetch(const TYPE* source, int pe) {                   \
    return fetch(SYMM_CALL(NAME, fetch), source, pe);                                 \
  }                                                                                   \
  void aclshmem_##NAME##_atomic_fetch_nbi(TYPE* result, const TYPE* source, int pe) { \
    give(SYMM_CALL(NAME, fetch_nbi), result, pe,                                      \
         [=] { return fetch(SYMM_CALL(NAME, fetch_nbi), source, pe); });              \
  }                                                                                   \
  void aclshmem_##NAME##_atomic_set(TYPE* dest, TYPE value, int pe) {                 \
    atomic(SYMM_CALL(NAME, set), dest, pe,                                            \
           [=](TYPE* element) { return ops::amo_set(element, value); });              \
  }                                                                                   \
  SYMM_DEFINE_FETCH(aclshmem, NAME, TYPE, swap, ops::amo_swap)                        \
  static_assert(sizeof(TYPE) <= 8)
SYMM_AMO_EXTENDED_TYPES(SYMM_DEFINE_EXTENDED);

#define SYMM_DEFINE_STANDARD(NAME, TYPE)                                                         \
  SYMM_DEFINE_BOTH(aclshmem, NAME, TYPE, add, ops::amo_add)                                      \
  void aclshmem_##NAME##_atomic_inc(TYPE* dest, int pe) {                                        \
    atomic(SYMM_CALL(NAME, inc), dest, pe,                                                       \
           [](TYPE* element) { return ops::amo_increment(element); });                           \
  }                                                                                              \
  TYPE aclshmem_##NAME##_atomic_fetch_inc(TYPE* dest, int pe) {                                  \
    return atomic(SYMM_CALL(NAME, fetch_inc), dest, pe,                                          \
                  [](TYPE* element) { return ops::amo_increment(element); });                    \
  }                                                                                              \
  void aclshmem_##NAME##_atomic_fetch_inc_nbi(TYPE* fetch, TYPE* dest, int pe) {                 \
    give(SYMM_CALL(NAME, fetch_inc_nbi), fetch, pe, [=] {                                        \
      return atomic(SYMM_CALL(NAME, fetch_inc_nbi), dest, pe,                                    \
                    [](TYPE* element) { return ops::amo_increment(element); });                  \
    });                                                                                          \
  }                                                                                              \
  TYPE aclshmem_##NAME##_atomic_compare_swap(TYPE* dest, TYPE cond, TYPE value, int pe) {        \
    return atomic(SYMM_CALL(NAME, compare_swap), dest, pe,                                       \
                  [=](TYPE* element) { return ops::amo_compare_swap(element, cond, value); });   \
  }                                                                                              \
  void aclshmem_##NAME##_atomic_compare_swap_nbi(TYPE* fetch, TYPE* dest, TYPE cond, TYPE value, \
                                                 int pe) {                                       \
    give(SYMM_CALL(NAME, compare_swap_nbi), fetch, pe, [=] {                                     \
      return atomic(SYMM_CALL(NAME, compare_swap_nbi), dest, pe,                                 \
                    [=](TYPE* element) { return ops::amo_compare_swap(element, cond, value); }); \
    });                                                                                          \
  }                                                                                              \
  static_assert(sizeof(TYPE) <= 8)
SYMM_AMO_TYPES(SYMM_DEFINE_STANDARD);

#define SYMM_DEFINE_BITWISE(NAME, TYPE)                     \
  SYMM_DEFINE_BOTH(aclshmem, NAME, TYPE, and, ops::amo_and) \
  SYMM_DEFINE_BOTH(aclshmem, NAME, TYPE, or, ops::amo_or)   \
  SYMM_DEFINE_BOTH(aclshmem, NAME, TYPE, xor, ops::amo_xor) \
  static_assert(sizeof(TYPE) <= 8)
SYMM_AMO_BITWISE_TYPES(SYMM_DEFINE_BITWISE);

#define SYMM_DEFINE_FLOAT(NAME, TYPE)                              \
  SYMM_DEFINE_BOTH(aclshmemx, NAME, TYPE, add, ops::amo_add_float) \
  static_assert(sizeof(TYPE) <= 8)
SYMM_AMO_FLOAT_TYPES(SYMM_DEFINE_FLOAT);
