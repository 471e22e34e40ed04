// Every atomic of every type, with PEs as threads of one process.
#include <cmath>
#include <limits>

#include "shmem.h"
#include "tests/multi_pe/thread_job.h"

namespace symm::test {
namespace {

class Atomics : public testing::TestWithParam<int> {
 protected:
  int n() const { return GetParam(); }
};
INSTANTIATE_TEST_SUITE_P(Counts, Atomics, testing::Values(1, 2, 3));

template <typename T>
T* fresh() {
  return static_cast<T*>(aclshmem_calloc(2, sizeof(T)));
}

int right() { return (aclshmem_my_pe() + 1) % aclshmem_n_pes(); }

#define SYMM_CALL(NAME, VERB) aclshmem_##NAME##_atomic_##VERB

// The element on the right neighbour is this PE's alone between the barriers.
#define SYMM_TEST_EXTENDED(NAME, TYPE)                           \
  {                                                              \
    using T = TYPE;                                              \
    SCOPED_TRACE(#NAME);                                         \
    TYPE* word = fresh<T>();                                     \
    TYPE fetched = T(99);                                        \
    SYMM_CALL(NAME, set)(word, T(5), right());                   \
    EXPECT_EQ(SYMM_CALL(NAME, fetch)(word, right()), T(5));      \
    EXPECT_EQ(SYMM_CALL(NAME, swap)(word, T(7), right()), T(5)); \
    SYMM_CALL(NAME, fetch_nbi)(&fetched, word, right());         \
    aclshmem_quiet();                                            \
    EXPECT_EQ(fetched, T(7));                                    \
    SYMM_CALL(NAME, swap_nbi)(&fetched, word, T(9), right());    \
    aclshmem_quiet();                                            \
    EXPECT_EQ(fetched, T(7));                                    \
    aclshmem_barrier_all();                                      \
    EXPECT_EQ(word[0], T(9));                                    \
    EXPECT_EQ(word[1], T(0));                                    \
    aclshmem_free(word);                                         \
  }                                                              \
  static_assert(sizeof(TYPE) <= 8)

#define SYMM_TEST_STANDARD(NAME, TYPE)                                               \
  {                                                                                  \
    using T = TYPE;                                                                  \
    SCOPED_TRACE(#NAME);                                                             \
    TYPE* word = fresh<T>();                                                         \
    TYPE fetched = T(99);                                                            \
    SYMM_CALL(NAME, add)(word, T(5), right());                                       \
    SYMM_CALL(NAME, inc)(word, right());                                             \
    EXPECT_EQ(SYMM_CALL(NAME, fetch_add)(word, T(2), right()), T(6));                \
    EXPECT_EQ(SYMM_CALL(NAME, fetch_inc)(word, right()), T(8));                      \
    EXPECT_EQ(SYMM_CALL(NAME, compare_swap)(word, T(3), T(50), right()), T(9));      \
    EXPECT_EQ(SYMM_CALL(NAME, compare_swap)(word, T(9), T(20), right()), T(9));      \
    SYMM_CALL(NAME, fetch_add_nbi)(&fetched, word, T(2), right());                   \
    aclshmem_quiet();                                                                \
    EXPECT_EQ(fetched, T(20));                                                       \
    SYMM_CALL(NAME, fetch_inc_nbi)(&fetched, word, right());                         \
    aclshmem_quiet();                                                                \
    EXPECT_EQ(fetched, T(22));                                                       \
    SYMM_CALL(NAME, compare_swap_nbi)(&fetched, word, T(23), T(30), right());        \
    aclshmem_quiet();                                                                \
    EXPECT_EQ(fetched, T(23));                                                       \
    aclshmem_barrier_all();                                                          \
    EXPECT_EQ(word[0], T(30));                                                       \
    aclshmem_barrier_all();                                                          \
    /* C12: integers wrap around, also signed ones. */                               \
    SYMM_CALL(NAME, set)(word, std::numeric_limits<T>::max(), right());              \
    SYMM_CALL(NAME, inc)(word, right());                                             \
    EXPECT_EQ(SYMM_CALL(NAME, fetch)(word, right()), std::numeric_limits<T>::min()); \
    aclshmem_barrier_all();                                                          \
    /* Everybody at once: nothing is lost. */                                        \
    SYMM_CALL(NAME, set)(word, T(0), right());                                       \
    aclshmem_barrier_all();                                                          \
    for (int i = 0; i < 100; ++i) SYMM_CALL(NAME, add)(word, T(3), 0);               \
    aclshmem_barrier_all();                                                          \
    EXPECT_EQ(SYMM_CALL(NAME, fetch)(word, 0), T(300 * n()));                        \
    EXPECT_EQ(word[1], T(0));                                                        \
    aclshmem_free(word);                                                             \
  }                                                                                  \
  static_assert(sizeof(TYPE) <= 8)

#define SYMM_TEST_BITWISE(NAME, TYPE)                                       \
  {                                                                         \
    using T = TYPE;                                                         \
    SCOPED_TRACE(#NAME);                                                    \
    TYPE* word = fresh<T>();                                                \
    TYPE fetched = T(99);                                                   \
    SYMM_CALL(NAME, or)(word, T(0x3c), right());                            \
    SYMM_CALL(NAME, and)(word, T(0x1f), right());                           \
    SYMM_CALL(NAME, xor)(word, T(0x11), right());                           \
    EXPECT_EQ(SYMM_CALL(NAME, fetch_or)(word, T(0x40), right()), T(0x0d));  \
    EXPECT_EQ(SYMM_CALL(NAME, fetch_and)(word, T(0x45), right()), T(0x4d)); \
    EXPECT_EQ(SYMM_CALL(NAME, fetch_xor)(word, T(0x0f), right()), T(0x45)); \
    SYMM_CALL(NAME, fetch_or_nbi)(&fetched, word, T(0x80), right());        \
    aclshmem_quiet();                                                       \
    EXPECT_EQ(fetched, T(0x4a));                                            \
    SYMM_CALL(NAME, fetch_and_nbi)(&fetched, word, T(0xc0), right());       \
    aclshmem_quiet();                                                       \
    EXPECT_EQ(fetched, T(0xca));                                            \
    SYMM_CALL(NAME, fetch_xor_nbi)(&fetched, word, T(0xff), right());       \
    aclshmem_quiet();                                                       \
    EXPECT_EQ(fetched, T(0xc0));                                            \
    aclshmem_barrier_all();                                                 \
    EXPECT_EQ(word[0], T(0x3f));                                            \
    EXPECT_EQ(word[1], T(0));                                               \
    aclshmem_free(word);                                                    \
  }                                                                         \
  static_assert(sizeof(TYPE) <= 8)

TEST_P(Atomics, FetchSetSwap) {
  run_threads(n(), [&](Instance&) { SYMM_AMO_EXTENDED_TYPES(SYMM_TEST_EXTENDED); });
}

TEST_P(Atomics, AddIncCompareSwap) {
  run_threads(n(), [&](Instance&) { SYMM_AMO_TYPES(SYMM_TEST_STANDARD); });
}

TEST_P(Atomics, AndOrXor) {
  run_threads(n(), [&](Instance&) { SYMM_AMO_BITWISE_TYPES(SYMM_TEST_BITWISE); });
}

#define SYMM_TEST_FLOAT(NAME, TYPE)                                                  \
  {                                                                                  \
    using T = TYPE;                                                                  \
    SCOPED_TRACE(#NAME);                                                             \
    TYPE* word = fresh<T>();                                                         \
    TYPE fetched = 99;                                                               \
    aclshmemx_##NAME##_atomic_add(word, T(1.5), right());                            \
    EXPECT_EQ(aclshmemx_##NAME##_atomic_fetch_add(word, T(0.25), right()), T(1.5));  \
    aclshmemx_##NAME##_atomic_fetch_add_nbi(&fetched, word, T(1), right());          \
    aclshmem_quiet();                                                                \
    EXPECT_EQ(fetched, T(1.75));                                                     \
    aclshmem_barrier_all();                                                          \
    EXPECT_EQ(word[0], T(2.75));                                                     \
    aclshmem_barrier_all();                                                          \
    for (int i = 0; i < 1000; ++i) aclshmemx_##NAME##_atomic_add(word + 1, T(2), 0); \
    aclshmem_barrier_all();                                                          \
    EXPECT_EQ(aclshmem_##NAME##_atomic_fetch(word + 1, 0), T(2000 * n()));           \
    /* A NaN ends the comparison of values, not the loop. */                         \
    aclshmem_##NAME##_atomic_set(word, T(NAN), right());                             \
    aclshmemx_##NAME##_atomic_add(word, T(1), right());                              \
    EXPECT_TRUE(std::isnan(aclshmem_##NAME##_atomic_fetch(word, right())));          \
    aclshmem_free(word);                                                             \
  }                                                                                  \
  static_assert(sizeof(TYPE) <= 8)

TEST_P(Atomics, FloatSumsAreAnExtension) {
  run_threads(n(), [&](Instance&) { SYMM_AMO_FLOAT_TYPES(SYMM_TEST_FLOAT); });
}

void expect_error(std::initializer_list<const char*> parts) {
  char text[512] = "";
  EXPECT_EQ(aclshmemx_last_error(text, sizeof(text), true), ACLSHMEM_INVALID_PARAM);
  for (const char* part : parts) EXPECT_NE(std::string(text).find(part), std::string::npos) << text;
}

TEST(AtomicArguments, WrongOnesAreNamedAndChangeNothing) {
  run_threads(2, [](Instance& instance) {
    auto* words = static_cast<int64_t*>(aclshmem_calloc(2, sizeof(int64_t)));
    auto* odd = reinterpret_cast<int64_t*>(reinterpret_cast<char*>(words) + 4);
    const std::string here = fmt::format("on PE {}", instance.pe());
    aclshmem_int64_atomic_add(words, 1, 2);
    expect_error({"aclshmem_int64_atomic_add", here.c_str(), "PE 2 is not one of 0..1"});
    EXPECT_EQ(aclshmem_int64_atomic_fetch(words, -1), 0);
    expect_error({"aclshmem_int64_atomic_fetch", "PE -1"});
    EXPECT_EQ(aclshmem_int64_atomic_fetch_add(odd, 1, 0), 0);
    expect_error({"aclshmem_int64_atomic_fetch_add", "not aligned to 8 bytes"});
    int64_t local = 3;
    EXPECT_EQ(aclshmem_int64_atomic_swap(&local, 1, 1 - instance.pe()), 0);
    expect_error({"aclshmem_int64_atomic_swap", "outside the symmetric heap"});
    EXPECT_EQ(local, 3);
    aclshmem_int64_atomic_inc(nullptr, 0);
    expect_error({"aclshmem_int64_atomic_inc", "is null"});
    aclshmem_int64_atomic_fetch_nbi(nullptr, words, 0);
    expect_error({"aclshmem_int64_atomic_fetch_nbi", "address for the value is null"});
    aclshmem_barrier_all();
    EXPECT_EQ(words[0], 0);
    EXPECT_EQ(words[1], 0);
  });
  EXPECT_EQ(aclshmem_int64_atomic_fetch(nullptr, 0), 0);
}

// The last element of the heap goes the long way and is as atomic.
TEST(AtomicArguments, TheEndOfTheHeap) {
  run_threads(2, [](Instance& instance) {
    auto* last = reinterpret_cast<int64_t*>(instance.heap_base() + instance.heap_limit()) - 1;
    if (instance.pe() == 0) *last = 0;
    aclshmem_barrier_all();
    for (int i = 0; i < 1000; ++i) aclshmem_int64_atomic_inc(last, 0);
    aclshmem_int64_p(last, 5, 1);
    aclshmem_barrier_all();
    EXPECT_EQ(aclshmem_int64_g(last, 0), 2000);
    EXPECT_EQ(aclshmem_int64_g(last, 1), 5);
  });
}

}  // namespace
}  // namespace symm::test
