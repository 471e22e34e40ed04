// Ordering, reachability, signals of 64 bits, waits with limits, requests and batches, with PEs as
// threads of one process.
#include <array>
#include <cstring>
#include <numeric>

#include "shmem.h"
#include "tests/multi_pe/thread_job.h"

namespace symm::test {
namespace {

class HostOps : public testing::TestWithParam<int> {
 protected:
  int n() const { return GetParam(); }
};
INSTANTIATE_TEST_SUITE_P(Counts, HostOps, testing::Values(1, 2, 3));

int right() { return (aclshmem_my_pe() + 1) % aclshmem_n_pes(); }

void expect_error(std::initializer_list<const char*> parts) {
  char text[512] = "";
  EXPECT_EQ(aclshmemx_last_error(text, sizeof(text), true), ACLSHMEM_INVALID_PARAM);
  for (const char* part : parts) EXPECT_NE(std::string(text).find(part), std::string::npos) << text;
}

void expect_no_error() {
  char text[512] = "";
  EXPECT_EQ(aclshmemx_last_error(text, sizeof(text), true), 0) << text;
}

TEST_P(HostOps, QuietsAndFences) {
  run_threads(n(), [&](Instance& instance) {
    auto* words = static_cast<int64_t*>(aclshmem_calloc(4, sizeof(int64_t)));
    int64_t value = 7;
    aclshmem_putmem_nbi(words, &value, sizeof(value), right());
    aclshmem_fence();
    aclshmem_putmem_nbi(words + 1, &value, sizeof(value), right());
    aclshmemx_local_quiet();
    aclshmem_quiet();
    EXPECT_EQ(aclshmem_int64_g(words + 1, right()), 7);
    const int pes[] = {right(), right(), 0};
    aclshmem_pe_quiet(pes, 3);
    aclshmemx_pe_fence(pes, 3);
    expect_no_error();
    // A7: no PEs, no look at the list.
    const int nobody[] = {99};
    aclshmem_pe_quiet(nobody, 0);
    aclshmem_pe_quiet(nullptr, 0);
    expect_no_error();
    aclshmem_pe_quiet(nobody, 1);
    expect_error({"aclshmem_pe_quiet", "PE 99 is not one of"});
    aclshmemx_pe_fence(nobody, 1);
    expect_error({"aclshmemx_pe_fence", "PE 99"});
    (void)instance;
    aclshmem_barrier_all();
  });
}

TEST_P(HostOps, Reachability) {
  run_threads(n(), [&](Instance& instance) {
    auto* words = static_cast<int64_t*>(aclshmem_calloc(4, sizeof(int64_t)));
    int64_t local = 0;
    for (int pe = 0; pe < n(); ++pe) {
      EXPECT_EQ(aclshmem_pe_accessible(pe), 1);
      EXPECT_EQ(aclshmem_addr_accessible(words, pe), 1);
      EXPECT_EQ(aclshmem_addr_accessible(&local, pe), 0);
      EXPECT_EQ(aclshmem_addr_accessible(nullptr, pe), 0);
      if (pe == instance.pe()) continue;
      // D11: what aclshmem_ptr returns is for loads and stores only.
      EXPECT_EQ(aclshmem_addr_accessible(aclshmem_ptr(words, pe), instance.pe()), 0);
    }
    for (int pe : {-1, n(), INT_MAX, INT_MIN}) {
      EXPECT_EQ(aclshmem_pe_accessible(pe), 0);
      EXPECT_EQ(aclshmem_addr_accessible(words, pe), 0);
    }
    expect_no_error();
    aclshmem_barrier_all();
  });
  EXPECT_EQ(aclshmem_pe_accessible(0), 0);
  EXPECT_EQ(aclshmem_addr_accessible("text", 0), 0);
}

TEST_P(HostOps, Signals64) {
  run_threads(n(), [&](Instance& instance) {
    auto* block = static_cast<int32_t*>(aclshmem_calloc(16, sizeof(int32_t)));
    auto* signals = static_cast<uint64_t*>(aclshmem_calloc(4, sizeof(uint64_t)));
    const uint64_t large = uint64_t{1} << 40;
    int32_t source[16];
    std::iota(source, source + 16, instance.pe() * 100);
    const int left = (instance.pe() + n() - 1) % n();
    aclshmemx_int32_put_signal64(block, source, 16, signals, large + 1, ACLSHMEM_SIGNAL_SET,
                                 right());
    EXPECT_EQ(aclshmemx_signal64_wait_until(signals, ACLSHMEM_CMP_GT, large), large + 1);
    EXPECT_EQ(block[15], left * 100 + 15);
    EXPECT_EQ(aclshmemx_signal64_fetch(signals), large + 1);
    aclshmem_barrier_all();
    // C9: nothing to move, still a signal.
    aclshmemx_putmem_signal64(nullptr, nullptr, 0, signals, 1, ACLSHMEM_SIGNAL_ADD, right());
    EXPECT_EQ(aclshmemx_signal64_wait_until(signals, ACLSHMEM_CMP_EQ, large + 2), large + 2);
    aclshmemx_putmem_signal64_nbi(block, source, 4, signals + 1, 3, ACLSHMEM_SIGNAL_SET, right());
    aclshmemx_int32_put_signal64_nbi(block + 1, source + 1, 1, signals + 1, 4, ACLSHMEM_SIGNAL_ADD,
                                     right());
    aclshmemx_signal64_op(signals + 1, large, ACLSHMEM_SIGNAL_ADD, right());
    uint64_t seen = 0;
    EXPECT_EQ(
        aclshmemx_signal64_wait_until_timed(signals + 1, ACLSHMEM_CMP_EQ, large + 7, 60000, &seen),
        0);
    EXPECT_EQ(seen, large + 7);
    expect_no_error();
    aclshmemx_signal64_op(signals + 1, 1, 9, right());
    expect_error({"aclshmemx_signal64_op", "no signal operation 9"});
    auto* odd = reinterpret_cast<uint64_t*>(reinterpret_cast<char*>(signals) + 4);
    aclshmemx_signal64_op(odd, 1, ACLSHMEM_SIGNAL_SET, right());
    expect_error({"aclshmemx_signal64_op", "not aligned to 8 bytes"});
    aclshmem_barrier_all();
  });
}

TEST_P(HostOps, EveryTypeHasASignalOf64Bits) {
  run_threads(n(), [&](Instance&) {
#define SYMM_TEST_TYPE(NAME, TYPE)                                                                 \
  {                                                                                                \
    SCOPED_TRACE(#NAME);                                                                           \
    auto* block = static_cast<TYPE*>(aclshmem_calloc(3, sizeof(TYPE)));                            \
    auto* signal = static_cast<uint64_t*>(aclshmem_calloc(1, sizeof(uint64_t)));                   \
    const TYPE source[3] = {TYPE(1), TYPE(2), TYPE(3)};                                            \
    aclshmemx_##NAME##_put_signal64(block, source, 2, signal, 1, ACLSHMEM_SIGNAL_ADD, right());    \
    aclshmemx_##NAME##_put_signal64_nbi(block + 2, source + 2, 1, signal, 1, ACLSHMEM_SIGNAL_ADD,  \
                                        right());                                                  \
    EXPECT_EQ(aclshmemx_signal64_wait_until(signal, ACLSHMEM_CMP_GE, 2), 2u);                      \
    EXPECT_EQ(std::memcmp(block, source, sizeof(source)), 0);                                      \
    aclshmem_barrier_all();                                                                        \
    auto put = aclshmemx_##NAME##_put_nbi_request(block, source + 1, 1, right());                  \
    EXPECT_EQ(aclshmemx_request_wait(put), 0);                                                     \
    TYPE back[1] = {};                                                                             \
    EXPECT_EQ(aclshmemx_request_wait(aclshmemx_##NAME##_get_nbi_request(back, block, 1, right())), \
              0);                                                                                  \
    EXPECT_EQ(back[0], TYPE(2));                                                                   \
    aclshmem_barrier_all();                                                                        \
  }                                                                                                \
  static_assert(sizeof(TYPE) <= 8)
    SYMM_HOST_TYPES(SYMM_TEST_TYPE);
#undef SYMM_TEST_TYPE
  });
}

// FAULTS F3: a signal operation ends an ordinary wait, and the other way round.
TEST_P(HostOps, FaultF3_SignalsAndWaitsShareTheirWords) {
  run_threads(n(), [&](Instance&) {
    auto* word = static_cast<int32_t*>(aclshmem_calloc(2, sizeof(int32_t)));
    auto* wide = static_cast<uint64_t*>(aclshmem_calloc(2, sizeof(uint64_t)));
    aclshmemx_signal_op(word, 5, ACLSHMEM_SIGNAL_SET, right());
    aclshmem_int32_wait_until(word, ACLSHMEM_CMP_EQ, 5);
    EXPECT_EQ(aclshmemx_signal_fetch(word), 5);
    aclshmemx_signal64_op(wide, 5, ACLSHMEM_SIGNAL_ADD, right());
    aclshmem_uint64_wait_until(wide, ACLSHMEM_CMP_EQ, 5);
    aclshmem_barrier_all();
    aclshmem_int32_atomic_add(word, 2, right());
    aclshmem_signal_wait_until(word, ACLSHMEM_CMP_EQ, 7);
    aclshmem_uint64_atomic_add(wide, 2, right());
    EXPECT_EQ(aclshmemx_signal64_wait_until(wide, ACLSHMEM_CMP_EQ, 7), 7u);
    aclshmem_barrier_all();
  });
}

// FAULTS F10: the value of a non-blocking atomic goes to the caller's place and nowhere else.
[[gnu::noinline]] void start_fetch(int64_t* result, int64_t* word, int pe) {
  int64_t scratch[16] = {};
  aclshmem_int64_atomic_fetch_add_nbi(result, word, 1, pe);
  EXPECT_EQ(scratch[0], 0);
}
[[gnu::noinline]] int64_t overwrite_stack() {
  volatile int64_t block[256];
  for (auto& word : block) word = 0x5a5a5a5a;
  return block[100];
}
TEST_P(HostOps, FaultF10_FetchedValuesOutliveTheCaller) {
  run_threads(n(), [&](Instance&) {
    auto* word = static_cast<int64_t*>(aclshmem_calloc(1, sizeof(int64_t)));
    for (int64_t i = 0; i < 100; ++i) {
      int64_t result = -1;
      start_fetch(&result, word, right());
      EXPECT_EQ(overwrite_stack(), 0x5a5a5a5a);
      aclshmem_quiet();
      EXPECT_EQ(result, i);
    }
    aclshmem_barrier_all();
  });
}

TEST(TimedWaits, EveryFormAndType) {
  run_threads(2, [](Instance&) {
    constexpr int kTimeout = ACLSHMEM_TIMEOUT_ERROR;
    constexpr int kEq = ACLSHMEM_CMP_EQ;
#define SYMM_TEST_TYPE(NAME, TYPE)                                                                 \
  {                                                                                                \
    SCOPED_TRACE(#NAME);                                                                           \
    auto* values = static_cast<TYPE*>(aclshmem_calloc(3, sizeof(TYPE)));                           \
    const int skip[3] = {0, 1, 0};                                                                 \
    const int none[3] = {1, 1, 1};                                                                 \
    const TYPE wanted[3] = {TYPE(4), TYPE(9), TYPE(6)};                                            \
    size_t indices[3] = {77, 77, 77};                                                              \
    size_t found = 99;                                                                             \
    for (uint64_t limit : {0, 5}) {                                                                \
      EXPECT_EQ(aclshmemx_##NAME##_wait_until_timed(values, kEq, TYPE(4), limit), kTimeout);       \
      EXPECT_EQ(aclshmemx_##NAME##_wait_until_all_timed(values, 3, nullptr, kEq, TYPE(4), limit),  \
                kTimeout);                                                                         \
      EXPECT_EQ(aclshmemx_##NAME##_wait_until_any_timed(values, 3, nullptr, kEq, TYPE(4), &found,  \
                                                        limit),                                    \
                kTimeout);                                                                         \
      EXPECT_EQ(found, SIZE_MAX);                                                                  \
      EXPECT_EQ(aclshmemx_##NAME##_wait_until_some_timed(values, 3, indices, nullptr, kEq,         \
                                                         TYPE(4), &found, limit),                  \
                kTimeout);                                                                         \
      EXPECT_EQ(found, 0u);                                                                        \
      EXPECT_EQ(indices[0], 77u);                                                                  \
      EXPECT_EQ(                                                                                   \
          aclshmemx_##NAME##_wait_until_all_vector_timed(values, 3, skip, kEq, wanted, limit),     \
          kTimeout);                                                                               \
      EXPECT_EQ(aclshmemx_##NAME##_wait_until_any_vector_timed(values, 3, skip, kEq, wanted,       \
                                                               &found, limit),                     \
                kTimeout);                                                                         \
      EXPECT_EQ(aclshmemx_##NAME##_wait_until_some_vector_timed(values, 3, indices, skip, kEq,     \
                                                                wanted, &found, limit),            \
                kTimeout);                                                                         \
      /* B3: an empty set does not wait. */                                                        \
      EXPECT_EQ(aclshmemx_##NAME##_wait_until_all_timed(values, 3, none, kEq, TYPE(4), limit), 0); \
      EXPECT_EQ(aclshmemx_##NAME##_wait_until_any_timed(values, 0, nullptr, kEq, TYPE(4), &found,  \
                                                        limit),                                    \
                0);                                                                                \
      EXPECT_EQ(found, SIZE_MAX);                                                                  \
    }                                                                                              \
    aclshmem_barrier_all();                                                                        \
    aclshmem_##NAME##_p(values, TYPE(4), right());                                                 \
    aclshmem_##NAME##_p(values + 2, TYPE(6), right());                                             \
    EXPECT_EQ(aclshmemx_##NAME##_wait_until_timed(values, kEq, TYPE(4), 60000), 0);                \
    EXPECT_EQ(aclshmemx_##NAME##_wait_until_all_vector_timed(values, 3, skip, kEq, wanted, 60000), \
              0);                                                                                  \
    EXPECT_EQ(aclshmemx_##NAME##_wait_until_any_vector_timed(values, 3, skip, kEq, wanted, &found, \
                                                             60000),                               \
              0);                                                                                  \
    EXPECT_TRUE(found == 0 || found == 2);                                                         \
    EXPECT_EQ(aclshmemx_##NAME##_wait_until_some_vector_timed(values, 3, indices, skip, kEq,       \
                                                              wanted, &found, 60000),              \
              0);                                                                                  \
    EXPECT_EQ(found, 2u);                                                                          \
    EXPECT_EQ(indices[0] + indices[1], 2u);                                                        \
    EXPECT_EQ(indices[2], 77u);                                                                    \
    aclshmem_barrier_all();                                                                        \
  }                                                                                                \
  static_assert(sizeof(TYPE) <= 8)
    ACLSHMEM_P2P_SYNC_TYPE_FUNC(SYMM_TEST_TYPE);
#undef SYMM_TEST_TYPE
    expect_no_error();
    auto* signal = static_cast<int32_t*>(aclshmem_calloc(1, sizeof(int32_t)));
    auto* wide = static_cast<uint64_t*>(aclshmem_calloc(1, sizeof(uint64_t)));
    EXPECT_EQ(aclshmemx_signal_wait_until_timed(signal, kEq, 1, 3, nullptr), kTimeout);
    EXPECT_EQ(aclshmemx_signal64_wait_until_timed(wide, kEq, 1, 3, nullptr), kTimeout);
    expect_no_error();
    EXPECT_EQ(aclshmemx_signal_wait_until_timed(signal, 17, 1, 3, nullptr), ACLSHMEM_INVALID_PARAM);
    expect_error({"aclshmemx_signal_wait_until_timed", "comparison 17"});
  });
}

TEST_P(HostOps, Requests) {
  run_threads(n(), [&](Instance&) {
    auto* block = static_cast<char*>(aclshmem_calloc(1, 100000));
    std::vector<char> source(100000, 'x');
    std::vector<char> back(100000, '-');
    aclshmemx_request_t put =
        aclshmemx_putmem_nbi_request(block, source.data(), source.size(), right());
    ASSERT_NE(put, ACLSHMEMX_REQUEST_INVALID);
    EXPECT_EQ(aclshmemx_request_wait(put), 0);
    aclshmemx_request_t get =
        aclshmemx_getmem_nbi_request(back.data(), block, back.size(), right());
    int done = 0;
    while (done == 0) ASSERT_EQ(aclshmemx_request_test(get, &done), 0);
    EXPECT_EQ(back, source);
    const aclshmemx_request_t all[] = {put, ACLSHMEMX_REQUEST_INVALID, get};
    EXPECT_EQ(aclshmemx_request_wait_all(all, 3), 0);
    EXPECT_EQ(aclshmemx_request_wait_all(nullptr, 0), 0);
    expect_no_error();
    EXPECT_EQ(aclshmemx_putmem_nbi_request(block, source.data(), 8, 99), ACLSHMEMX_REQUEST_INVALID);
    expect_error({"aclshmemx_putmem_nbi_request", "PE 99"});
    EXPECT_EQ(aclshmemx_request_wait(ACLSHMEMX_REQUEST_INVALID), ACLSHMEM_INVALID_PARAM);
    expect_error({"aclshmemx_request_wait", "names no transfer"});
    EXPECT_EQ(aclshmemx_request_test(get, nullptr), ACLSHMEM_INVALID_PARAM);
    expect_error({"aclshmemx_request_test", "done is null"});
    EXPECT_EQ(aclshmemx_request_wait_all(nullptr, 2), ACLSHMEM_INVALID_PARAM);
    expect_error({"aclshmemx_request_wait_all", "null"});
    aclshmem_barrier_all();
  });
}

TEST_P(HostOps, Batches) {
  run_threads(n(), [&](Instance& instance) {
    constexpr int kBlocks = 50;
    auto* block = static_cast<int32_t*>(aclshmem_calloc(static_cast<size_t>(n()) * kBlocks, 16));
    std::array<int32_t, kBlocks * 4> source{};
    std::iota(source.begin(), source.end(), instance.pe() * 1000);
    std::vector<aclshmemx_transfer_t> puts;
    for (int pe = 0; pe < n(); ++pe) {
      for (int i = 0; i < kBlocks; ++i) {
        puts.push_back({block + (instance.pe() * kBlocks + i) * 4,
                        &source[static_cast<size_t>(i) * 4], static_cast<size_t>(i % 17), pe});
      }
    }
    EXPECT_EQ(aclshmemx_put_many(puts.data(), puts.size()), 0);
    aclshmem_barrier_all();
    for (int pe = 0; pe < n(); ++pe) {
      for (int i = 0; i < kBlocks; ++i) {
        int32_t expected[4];
        std::iota(expected, expected + 4, pe * 1000 + i * 4);
        const int32_t* got = block + (pe * kBlocks + i) * 4;
        EXPECT_EQ(std::memcmp(got, expected, static_cast<size_t>(i % 17)), 0) << pe << " " << i;
      }
    }
    std::vector<int32_t> back(static_cast<size_t>(n()));
    std::vector<aclshmemx_transfer_t> gets;
    for (int pe = 0; pe < n(); ++pe) {
      gets.push_back({&back[static_cast<size_t>(pe)], block + (pe * kBlocks + 16) * 4, 4, pe});
    }
    EXPECT_EQ(aclshmemx_get_many(gets.data(), gets.size()), 0);
    for (int pe = 0; pe < n(); ++pe) EXPECT_EQ(back[static_cast<size_t>(pe)], pe * 1000 + 64);
    EXPECT_EQ(aclshmemx_put_many(nullptr, 0), 0);
    expect_no_error();
    aclshmem_barrier_all();
    // One wrong one: nothing moves.
    std::memset(block, 0, static_cast<size_t>(n()) * kBlocks * 16);
    aclshmem_barrier_all();
    puts[7].pe = n();
    EXPECT_EQ(aclshmemx_put_many(puts.data(), puts.size()), ACLSHMEM_INVALID_PARAM);
    expect_error({"aclshmemx_put_many", "transfer 7", "is not one of"});
    EXPECT_EQ(aclshmemx_get_many(nullptr, 3), ACLSHMEM_INVALID_PARAM);
    expect_error({"aclshmemx_get_many", "list of 3 transfers is null"});
    aclshmem_barrier_all();
    for (int i = 0; i < n() * kBlocks * 4; ++i) ASSERT_EQ(block[i], 0);
  });
}

// FAULTS J4: no bytes, no addresses, no error.
TEST_P(HostOps, FaultJ4_NothingNeedsNoPlace) {
  run_threads(n(), [&](Instance&) {
#define SYMM_TEST_TYPE(NAME, TYPE)                                            \
  aclshmem_##NAME##_put(nullptr, nullptr, 0, right());                        \
  aclshmem_##NAME##_put_nbi(nullptr, nullptr, 0, right());                    \
  aclshmem_##NAME##_get(nullptr, nullptr, 0, right());                        \
  aclshmem_##NAME##_get_nbi(nullptr, nullptr, 0, right());                    \
  EXPECT_NE(aclshmemx_##NAME##_put_nbi_request(nullptr, nullptr, 0, right()), \
            ACLSHMEMX_REQUEST_INVALID);                                       \
  static_assert(sizeof(TYPE) <= 8)
    SYMM_HOST_TYPES(SYMM_TEST_TYPE);
#undef SYMM_TEST_TYPE
    const aclshmemx_transfer_t nothing{nullptr, nullptr, 0, right()};
    EXPECT_EQ(aclshmemx_put_many(&nothing, 1), 0);
    expect_no_error();
    aclshmem_barrier_all();
  });
}

// Every size around the words and the vectors, at every alignment: what the inlined copies do.
TEST(Copies, EverySizeAndAlignment) {
  run_threads(2, [](Instance&) {
    auto* block = static_cast<char*>(aclshmem_calloc(1, 256));
    std::array<char, 256> source{};
    std::iota(source.begin(), source.end(), 1);
    for (size_t at = 0; at < 9; ++at) {
      for (size_t size = 0; size < 70; ++size) {
        std::memset(block, 0, 256);
        aclshmem_barrier_all();
        aclshmem_putmem(block + at, source.data() + 3, size, right());
        aclshmem_barrier_all();
        std::array<char, 256> expected{};
        std::memcpy(expected.data() + at, source.data() + 3, size);
        ASSERT_EQ(std::memcmp(block, expected.data(), 256), 0) << size << " at " << at;
        std::array<char, 256> back{};
        std::array<char, 256> wanted{};
        aclshmem_getmem(back.data() + 1, block + at, size, right());
        std::memcpy(wanted.data() + 1, source.data() + 3, size);
        ASSERT_EQ(back, wanted) << size << " at " << at;
        aclshmem_barrier_all();
      }
    }
  });
}

// FAULTS J5: to oneself, ranges that overlap give what memmove gives.
TEST(Copies, FaultJ5_OverlapOnSelfIsMemmove) {
  run_threads(1, [](Instance&) {
    auto* block = static_cast<char*>(aclshmem_calloc(1, 600));
    for (size_t size : {3, 7, 8, 9, 12, 16, 40, 300}) {
      for (size_t shift : {1, 5, 8, 100}) {
        std::string expected(600, '\0');
        std::iota(expected.begin(), expected.end(), 1);
        std::memcpy(block, expected.data(), 600);
        std::memmove(expected.data() + shift, expected.data(), size);
        aclshmem_putmem(block + shift, block, size, 0);
        ASSERT_EQ(std::string(block, 600), expected) << size << " by " << shift;
        std::memmove(expected.data(), expected.data() + shift, size);
        aclshmem_getmem(block, block + shift, size, 0);
        ASSERT_EQ(std::string(block, 600), expected) << size << " by " << shift;
      }
    }
    expect_no_error();
  });
}

}  // namespace
}  // namespace symm::test
