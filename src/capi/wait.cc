// Waits and tests of values.
#include "capi/edge.h"
#include "capi/value_arguments.h"
#include "host/data_plane/shmem_host_p2p_sync.h"
#include "ops/value_wait.h"

using symm::Instance;
using symm::Status;
using symm::capi::arguments_of;
using symm::ops::ValueSet;
namespace capi = symm::capi;
namespace ops = symm::ops;

namespace {

// Wrong arguments are an error. Work queued before the call on the default stream comes first.
template <typename Body>
void after_queue(const char* call, const ops::ValueArguments& arguments, Body body) {
  capi::with_instance(call, [&](Instance& instance) -> Status {
    SYMM_TRY(ops::check_values(instance, arguments, call));
    SYMM_TRY(instance.stream().drain());
    return body(instance);
  });
}

// The result of a call whose arguments may be wrong.
template <typename R>
void give(R* result, R value) {
  if (result != nullptr) *result = value;
}

template <typename T>
void wait_one(const char* call, const char* name, T* value, int compare, T with) {
  after_queue(call, {value, 1, sizeof(T), compare, name, &with}, [&](Instance& instance) {
    return ops::wait_value<T>(instance, value, compare, with, call);
  });
}

template <typename T>
void wait_all(const char* call, const ValueSet<T>& set) {
  after_queue(call, arguments_of(set),
              [&](Instance& instance) { return ops::wait_all(instance, set, call); });
}

template <typename T>
void wait_any(const char* call, const ValueSet<T>& set, size_t* result) {
  size_t index = SIZE_MAX;
  after_queue(call, arguments_of(set, result),
              [&](Instance& instance) { return ops::wait_any(instance, set, call, index); });
  give(result, index);
}

template <typename T>
void wait_some(const char* call, const ValueSet<T>& set, size_t* indices, size_t* result) {
  size_t found = 0;
  after_queue(call, arguments_of(set, result, indices), [&](Instance& instance) {
    return ops::wait_some(instance, set, call, indices, found);
  });
  give(result, found);
}

template <typename T>
void test_all(const char* call, const ValueSet<T>& set, int* result) {
  give(result, 0);
  after_queue(call, arguments_of(set, result), [&](Instance&) -> Status {
    give(result, set.all_met() ? 1 : 0);
    return {};
  });
}

template <typename T>
void test_any(const char* call, const ValueSet<T>& set, size_t* result) {
  give(result, SIZE_MAX);
  after_queue(call, arguments_of(set, result), [&](Instance&) -> Status {
    give(result, set.any_met(0));
    return {};
  });
}

template <typename T>
void test_some(const char* call, const ValueSet<T>& set, size_t* indices, size_t* result) {
  give(result, size_t{0});
  after_queue(call, arguments_of(set, result, indices), [&](Instance&) -> Status {
    give(result, set.some_met(indices));
    return {};
  });
}

}  // namespace

uint64_t util_get_ffts_config(void) { return 0; }

void aclshmem_signal_wait_until(int32_t* sig_addr, int cmp, int32_t cmp_val) {
  wait_one("aclshmem_signal_wait_until", "the signal address", sig_addr, cmp, cmp_val);
}

#define SYMM_DEFINE_WAIT(NAME, TYPE)                                                            \
  void aclshmem_##NAME##_wait_until(TYPE* ivar, int cmp, TYPE cmp_value) {                      \
    wait_one<TYPE>("aclshmem_" #NAME "_wait_until", "ivar", ivar, cmp, cmp_value);              \
  }                                                                                             \
  void aclshmem_##NAME##_wait(TYPE* ivar, TYPE cmp_value) {                                     \
    wait_one<TYPE>("aclshmem_" #NAME "_wait", "ivar", ivar, ACLSHMEM_CMP_NE, cmp_value);        \
  }                                                                                             \
  void aclshmem_##NAME##_wait_until_all(TYPE* ivars, size_t nelems, const int* status, int cmp, \
                                        TYPE cmp_value) {                                       \
    wait_all<TYPE>("aclshmem_" #NAME "_wait_until_all",                                         \
                   {ivars, nelems, status, cmp, &cmp_value, false});                            \
  }                                                                                             \
  void aclshmem_##NAME##_wait_until_any(TYPE* ivars, size_t nelems, const int* status, int cmp, \
                                        TYPE cmp_value, size_t* res_out) {                      \
    wait_any<TYPE>("aclshmem_" #NAME "_wait_until_any",                                         \
                   {ivars, nelems, status, cmp, &cmp_value, false}, res_out);                   \
  }                                                                                             \
  void aclshmem_##NAME##_wait_until_some(TYPE* ivars, size_t nelems, size_t* indices,           \
                                         const int* status, int cmp, TYPE cmp_value,            \
                                         size_t* res_out) {                                     \
    wait_some<TYPE>("aclshmem_" #NAME "_wait_until_some",                                       \
                    {ivars, nelems, status, cmp, &cmp_value, false}, indices, res_out);         \
  }                                                                                             \
  void aclshmem_##NAME##_wait_until_all_vector(TYPE* ivars, size_t nelems, const int* status,   \
                                               int cmp, TYPE* cmp_values) {                     \
    wait_all<TYPE>("aclshmem_" #NAME "_wait_until_all_vector",                                  \
                   {ivars, nelems, status, cmp, cmp_values, true});                             \
  }                                                                                             \
  void aclshmem_##NAME##_wait_until_any_vector(TYPE* ivars, size_t nelems, const int* status,   \
                                               int cmp, TYPE* cmp_values, size_t* res_out) {    \
    wait_any<TYPE>("aclshmem_" #NAME "_wait_until_any_vector",                                  \
                   {ivars, nelems, status, cmp, cmp_values, true}, res_out);                    \
  }                                                                                             \
  void aclshmem_##NAME##_wait_until_some_vector(TYPE* ivars, size_t nelems, size_t* indices,    \
                                                const int* status, int cmp, TYPE* cmp_values,   \
                                                size_t* res_out) {                              \
    wait_some<TYPE>("aclshmem_" #NAME "_wait_until_some_vector",                                \
                    {ivars, nelems, status, cmp, cmp_values, true}, indices, res_out);          \
  }                                                                                             \
  static_assert(sizeof(TYPE) <= 8)
ACLSHMEM_P2P_SYNC_TYPE_FUNC(SYMM_DEFINE_WAIT);

#define SYMM_DEFINE_TEST(NAME, TYPE)                                                               \
  void aclshmem_##NAME##_test(TYPE* ivars, int cmp, TYPE cmp_value, int* res_out) {                \
    test_all<TYPE>("aclshmem_" #NAME "_test", {ivars, 1, nullptr, cmp, &cmp_value, false},         \
                   res_out);                                                                       \
  }                                                                                                \
  void aclshmem_##NAME##_test_any(TYPE* ivars, size_t nelems, const int* status, int cmp,          \
                                  TYPE cmp_value, size_t* res_out) {                               \
    test_any<TYPE>("aclshmem_" #NAME "_test_any", {ivars, nelems, status, cmp, &cmp_value, false}, \
                   res_out);                                                                       \
  }                                                                                                \
  void aclshmem_##NAME##_test_some(TYPE* ivars, size_t nelems, size_t* indices, const int* status, \
                                   int cmp, TYPE cmp_value, size_t* res_out) {                     \
    test_some<TYPE>("aclshmem_" #NAME "_test_some",                                                \
                    {ivars, nelems, status, cmp, &cmp_value, false}, indices, res_out);            \
  }                                                                                                \
  void aclshmem_##NAME##_test_all_vector(TYPE* ivars, size_t nelems, const int* status, int cmp,   \
                                         TYPE* cmp_values, int* res_out) {                         \
    test_all<TYPE>("aclshmem_" #NAME "_test_all_vector",                                           \
                   {ivars, nelems, status, cmp, cmp_values, true}, res_out);                       \
  }                                                                                                \
  void aclshmem_##NAME##_test_any_vector(TYPE* ivars, size_t nelems, const int* status, int cmp,   \
                                         TYPE* cmp_values, size_t* res_out) {                      \
    test_any<TYPE>("aclshmem_" #NAME "_test_any_vector",                                           \
                   {ivars, nelems, status, cmp, cmp_values, true}, res_out);                       \
  }                                                                                                \
  void aclshmem_##NAME##_test_some_vector(TYPE* ivars, size_t nelems, size_t* indices,             \
                                          const int* status, int cmp, TYPE* cmp_values,            \
                                          size_t* res_out) {                                       \
    test_some<TYPE>("aclshmem_" #NAME "_test_some_vector",                                         \
                    {ivars, nelems, status, cmp, cmp_values, true}, indices, res_out);             \
  }                                                                                                \
  static_assert(sizeof(TYPE) <= 8)
ACLSHMEM_P2P_SYNC_TYPE_FUNC(SYMM_DEFINE_TEST);
