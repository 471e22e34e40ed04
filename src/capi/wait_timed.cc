// Waits with a time limit, and waits that return the signal they saw.
#include "capi/edge.h"
#include "capi/value_arguments.h"
#include "host/data_plane/shmem_host_p2p_sync.h"
#include "host/data_plane/shmem_host_so.h"
#include "ops/value_wait.h"

using symm::Instance;
using symm::Status;
using symm::capi::arguments_of;
using symm::ops::Limit;
using symm::ops::ValueSet;
namespace capi = symm::capi;
namespace ops = symm::ops;

namespace {

// body(instance) waits. That the time was over is an answer, not an error.
template <typename Body>
int timed(const char* call, const ops::ValueArguments& arguments, Body body) {
  bool over = false;
  const int code = capi::with_instance(call, [&](Instance& instance) -> Status {
    SYMM_TRY(ops::check_values(instance, arguments, call));
    SYMM_TRY(instance.stream().drain());
    Status status = body(instance);
    over = status.code() == symm::Code::kTimeout;
    if (over) return {};
    return status;
  });
  return over ? static_cast<int>(ACLSHMEM_TIMEOUT_ERROR) : code;
}

template <typename T>
int wait_one(const char* call, const char* name, const T* value, int compare, T with, Limit limit,
             T* seen) {
  return timed(call, {value, 1, sizeof(T), compare, name, &with}, [&](Instance& instance) {
    return ops::wait_value<T>(instance, value, compare, with, call, limit, seen);
  });
}

template <typename T>
int wait_all(const char* call, const ValueSet<T>& set, Limit limit) {
  return timed(call, arguments_of(set),
               [&](Instance& instance) { return ops::wait_all(instance, set, call, limit); });
}

template <typename T>
int wait_any(const char* call, const ValueSet<T>& set, size_t* result, Limit limit) {
  size_t index = SIZE_MAX;
  const int code = timed(call, arguments_of(set, result), [&](Instance& instance) {
    return ops::wait_any(instance, set, call, index, limit);
  });
  if (result != nullptr) *result = index;
  return code;
}

template <typename T>
int wait_some(const char* call, const ValueSet<T>& set, size_t* indices, size_t* result,
              Limit limit) {
  size_t found = 0;
  const int code = timed(call, arguments_of(set, result, indices), [&](Instance& instance) {
    return ops::wait_some(instance, set, call, indices, found, limit);
  });
  if (result != nullptr) *result = found;
  return code;
}

template <typename Word>
Word fetch_signal(const char* call, const Word* signal) {
  Word value{};
  const Word any{};
  capi::with_instance(call, [&](Instance& instance) -> Status {
    SYMM_TRY(ops::check_values(
        instance, {signal, 1, sizeof(Word), ACLSHMEM_CMP_EQ, "the signal address", &any}, call));
    value = ops::read_value(signal);
    return {};
  });
  return value;
}

}  // namespace

#define SYMM_CALL(NAME, FORM) "aclshmemx_" #NAME "_wait_until" #FORM "_timed"
#define SYMM_DEFINE_TIMED(NAME, TYPE)                                                             \
  int aclshmemx_##NAME##_wait_until_timed(TYPE* ivar, int cmp, TYPE cmp_value,                    \
                                          uint64_t timeout_ms) {                                  \
    return wait_one<TYPE>(SYMM_CALL(NAME, ), "ivar", ivar, cmp, cmp_value, {true, timeout_ms},    \
                          nullptr);                                                               \
  }                                                                                               \
  int aclshmemx_##NAME##_wait_until_all_timed(TYPE* ivars, size_t nelems, const int* status,      \
                                              int cmp, TYPE cmp_value, uint64_t timeout_ms) {     \
    return wait_all<TYPE>(SYMM_CALL(NAME, _all), {ivars, nelems, status, cmp, &cmp_value, false}, \
                          {true, timeout_ms});                                                    \
  }                                                                                               \
  int aclshmemx_##NAME##_wait_until_any_timed(TYPE* ivars, size_t nelems, const int* status,      \
                                              int cmp, TYPE cmp_value, size_t* res_out,           \
                                              uint64_t timeout_ms) {                              \
    return wait_any<TYPE>(SYMM_CALL(NAME, _any), {ivars, nelems, status, cmp, &cmp_value, false}, \
                          res_out, {true, timeout_ms});                                           \
  }                                                                                               \
  int aclshmemx_##NAME##_wait_until_some_timed(TYPE* ivars, size_t nelems, size_t* indices,       \
                                               const int* status, int cmp, TYPE cmp_value,        \
                                               size_t* res_out, uint64_t timeout_ms) {            \
    return wait_some<TYPE>(SYMM_CALL(NAME, _some),                                                \
                           {ivars, nelems, status, cmp, &cmp_value, false}, indices, res_out,     \
                           {true, timeout_ms});                                                   \
  }                                                                                               \
  int aclshmemx_##NAME##_wait_until_all_vector_timed(                                             \
      TYPE* ivars, size_t nelems, const int* status, int cmp, const TYPE* cmp_values,             \
      uint64_t timeout_ms) {                                                                      \
    return wait_all<TYPE>(SYMM_CALL(NAME, _all_vector),                                           \
                          {ivars, nelems, status, cmp, cmp_values, true}, {true, timeout_ms});    \
  }                                                                                               \
  int aclshmemx_##NAME##_wait_until_any_vector_timed(                                             \
      TYPE* ivars, size_t nelems, const int* status, int cmp, const TYPE* cmp_values,             \
      size_t* res_out, uint64_t timeout_ms) {                                                     \
    return wait_any<TYPE>(SYMM_CALL(NAME, _any_vector),                                           \
                          {ivars, nelems, status, cmp, cmp_values, true}, res_out,                \
                          {true, timeout_ms});                                                    \
  }                                                                                               \
  int aclshmemx_##NAME##_wait_until_some_vector_timed(                                            \
      TYPE* ivars, size_t nelems, size_t* indices, const int* status, int cmp,                    \
      const TYPE* cmp_values, size_t* res_out, uint64_t timeout_ms) {                             \
    return wait_some<TYPE>(SYMM_CALL(NAME, _some_vector),                                         \
                           {ivars, nelems, status, cmp, cmp_values, true}, indices, res_out,      \
                           {true, timeout_ms});                                                   \
  }                                                                                               \
  static_assert(sizeof(TYPE) <= 8)
ACLSHMEM_P2P_SYNC_TYPE_FUNC(SYMM_DEFINE_TIMED);

uint64_t aclshmemx_signal64_fetch(const uint64_t* sig_addr) {
  return fetch_signal("aclshmemx_signal64_fetch", sig_addr);
}

int32_t aclshmemx_signal_fetch(const int32_t* sig_addr) {
  return fetch_signal("aclshmemx_signal_fetch", sig_addr);
}

uint64_t aclshmemx_signal64_wait_until(uint64_t* sig_addr, int cmp, uint64_t cmp_val) {
  uint64_t seen = 0;
  constexpr const char* kCall = "aclshmemx_signal64_wait_until";
  capi::with_instance(kCall, [&](Instance& instance) -> Status {
    SYMM_TRY(ops::check_values(
        instance, {sig_addr, 1, sizeof(*sig_addr), cmp, "the signal address", &cmp_val}, kCall));
    SYMM_TRY(instance.stream().drain());
    return ops::wait_value<uint64_t>(instance, sig_addr, cmp, cmp_val, kCall, {}, &seen);
  });
  return seen;
}

int aclshmemx_signal64_wait_until_timed(uint64_t* sig_addr, int cmp, uint64_t cmp_val,
                                        uint64_t timeout_ms, uint64_t* value) {
  return wait_one<uint64_t>("aclshmemx_signal64_wait_until_timed", "the signal address", sig_addr,
                            cmp, cmp_val, {true, timeout_ms}, value);
}

int aclshmemx_signal_wait_until_timed(int32_t* sig_addr, int cmp, int32_t cmp_val,
                                      uint64_t timeout_ms, int32_t* value) {
  return wait_one<int32_t>("aclshmemx_signal_wait_until_timed", "the signal address", sig_addr, cmp,
                           cmp_val, {true, timeout_ms}, value);
}
