// PEs as threads of one process: every host call with {1, 2, 3, 8} PEs. Also run under
// ThreadSanitizer.
#include <algorithm>
#include <cstring>
#include <numeric>

#include "os/wait.h"
#include "shmem.h"
#include "tests/multi_pe/thread_job.h"

namespace symm::test {
namespace {

class ThreadPes : public testing::TestWithParam<int> {
 protected:
  int n() const { return GetParam(); }
};
INSTANTIATE_TEST_SUITE_P(Counts, ThreadPes, testing::Values(1, 2, 3, 8));

// Blocks until the counter has reached the value.
void wait_for_count(std::atomic<int>& counter, int value) {
  struct Wanted {
    std::atomic<int>* counter;
    int value;
  } wanted{&counter, value};
  symm_wait wait{[](void* argument) {
                   const auto& what = *static_cast<const Wanted*>(argument);
                   return what.counter->load() >= what.value ? 1 : 0;
                 },
                 &wanted,
                 nullptr,
                 "wait_for_count",
                 20000,
                 -1,
                 -1,
                 nullptr,
                 value,
                 -1,
                 0};
  Status status = os::wait(wait);
  ASSERT_TRUE(status.ok()) << status.to_string();
}

int right_of(int pe) { return (pe + 1) % aclshmem_n_pes(); }
int left_of(int pe) { return (pe + aclshmem_n_pes() - 1) % aclshmem_n_pes(); }

TEST_P(ThreadPes, NumbersAndStatus) {
  run_threads(n(), [&](Instance& instance) {
    EXPECT_EQ(aclshmem_my_pe(), instance.pe());
    EXPECT_EQ(aclshmem_n_pes(), n());
    EXPECT_EQ(aclshmem_team_my_pe(ACLSHMEM_TEAM_WORLD), instance.pe());
    EXPECT_EQ(aclshmem_team_n_pes(ACLSHMEM_TEAM_WORLD), n());
    EXPECT_EQ(aclshmem_team_n_pes(7), -1);
    EXPECT_EQ(aclshmem_team_n_pes(-1), -1);
    EXPECT_EQ(aclshmem_team_translate_pe(0, 0, 0), 0);
    EXPECT_EQ(aclshmem_team_translate_pe(0, n(), 0), -1);
    EXPECT_EQ(aclshmem_team_translate_pe(0, -1, 0), -1);
    EXPECT_EQ(aclshmemx_init_status(), ACLSHMEM_STATUS_IS_INITIALIZED);
  });
  EXPECT_EQ(aclshmem_my_pe(), -1);
  EXPECT_EQ(aclshmemx_init_status(), ACLSHMEM_STATUS_NOT_INITIALIZED);
}

TEST_P(ThreadPes, AllocationsAreSymmetricAndReusable) {
  std::vector<uint64_t> offsets(static_cast<size_t>(n()));
  run_threads(n(), [&](Instance& instance) {
    char* first = static_cast<char*>(aclshmem_malloc(100));
    char* second = static_cast<char*>(aclshmem_align(4096, 5000));
    char* third = static_cast<char*>(aclshmem_calloc(10, 100));
    ASSERT_NE(first, nullptr);
    ASSERT_NE(second, nullptr);
    ASSERT_NE(third, nullptr);
    EXPECT_EQ(reinterpret_cast<uintptr_t>(second) % 4096, 0u);
    EXPECT_TRUE(std::all_of(third, third + 1000, [](char c) { return c == 0; }));
    auto offset =
        static_cast<uint64_t>(reinterpret_cast<std::byte*>(second) - instance.heap_base());
    offsets[static_cast<size_t>(instance.pe())] = offset;
    aclshmem_free(first);
    aclshmem_free(second);
    aclshmem_free(third);
    EXPECT_EQ(instance.heap().in_use(), 0u);
  });
  for (uint64_t offset : offsets) EXPECT_EQ(offset, offsets[0]);
}

// The cases of a heap of 4 MiB that the interface promises.
TEST_P(ThreadPes, HeapLimits) {
  run_threads(n(), [&](Instance&) {
    constexpr size_t kMiB = 1 << 20;
    void* all = aclshmem_malloc(4 * kMiB);
    EXPECT_NE(all, nullptr);
    aclshmem_free(all);
    EXPECT_EQ(aclshmem_malloc(10 * kMiB + 1), nullptr);
    void* blocks[4];
    for (void*& block : blocks) block = aclshmem_malloc(kMiB);
    aclshmem_free(blocks[1]);
    aclshmem_free(blocks[3]);
    EXPECT_EQ(aclshmem_malloc(2 * kMiB), nullptr);
    aclshmem_free(blocks[2]);
    void* three = aclshmem_malloc(3 * kMiB);
    EXPECT_NE(three, nullptr);
    aclshmem_free(static_cast<char*>(three) + 64);
    aclshmem_free(three);
    aclshmem_free(three);
    aclshmem_free(blocks[0]);
    EXPECT_NE(aclshmem_malloc(4 * kMiB), nullptr);
    EXPECT_EQ(aclshmem_calloc(SIZE_MAX / 2, 3), nullptr);
    EXPECT_EQ(aclshmem_align(24, 64), nullptr);
    EXPECT_EQ(aclshmem_align(0, 64), nullptr);
  });
}

TEST_P(ThreadPes, ZeroBytesAndNullNeedNobodyElse) {
  run_threads(n(), [&](Instance& instance) {
    if (instance.pe() != 0) return;
    EXPECT_EQ(aclshmem_malloc(0), nullptr);
    EXPECT_EQ(aclshmem_calloc(0, 8), nullptr);
    EXPECT_EQ(aclshmem_calloc(8, 0), nullptr);
    aclshmem_free(nullptr);
  });
}

TEST_P(ThreadPes, DifferentCallsAreNamedOnAllPes) {
  if (n() == 1) return;  // nobody to differ from
  run_threads(n(), [&](Instance& instance) {
    const size_t bytes = instance.pe() == n() - 1 ? 200 : 100;
    EXPECT_EQ(aclshmem_malloc(bytes), nullptr);
    char text[512];
    EXPECT_EQ(aclshmemx_last_error(text, sizeof(text), true), ACLSHMEM_INVALID_PARAM);
    const std::string message = text;
    EXPECT_NE(message.find("PE 0 calls aclshmem_malloc(100)"), std::string::npos) << message;
    EXPECT_NE(message.find(fmt::format("PE {} calls aclshmem_malloc(200)", n() - 1)),
              std::string::npos)
        << message;
    // The heap is as before, on all PEs.
    EXPECT_EQ(instance.heap().in_use(), 0u);
    if (instance.pe() == 0) {
      EXPECT_EQ(aclshmem_calloc(10, 10), nullptr);
    } else {
      EXPECT_EQ(aclshmem_malloc(100), nullptr);
    }
    EXPECT_EQ(aclshmemx_last_error(text, sizeof(text), true), ACLSHMEM_INVALID_PARAM);
    EXPECT_NE(aclshmem_malloc(100), nullptr);
  });
}

TEST_P(ThreadPes, PointersReachThePeers) {
  run_threads(n(), [&](Instance& instance) {
    auto* word = static_cast<int64_t*>(aclshmem_calloc(1, sizeof(int64_t)));
    EXPECT_EQ(aclshmem_ptr(word, instance.pe()), word);
    EXPECT_EQ(aclshmem_ptr(word, -1), nullptr);
    EXPECT_EQ(aclshmem_ptr(word, n()), nullptr);
    int local = 0;
    EXPECT_EQ(aclshmem_ptr(&local, instance.pe()), nullptr);
    auto* remote = static_cast<int64_t*>(aclshmem_ptr(word, right_of(instance.pe())));
    ASSERT_NE(remote, nullptr);
    *remote = 1000 + instance.pe();
    aclshmem_barrier_all();
    EXPECT_EQ(*word, 1000 + left_of(instance.pe()));
  });
}

TEST_P(ThreadPes, PutAndGetMoveBytesOfAnySizeAndPlace) {
  run_threads(n(), [&](Instance& instance) {
    constexpr size_t kBytes = 300000;
    auto* block = static_cast<uint8_t*>(aclshmem_calloc(1, kBytes + 64));
    const int pe = instance.pe();
    for (size_t size : {size_t{0}, size_t{1}, size_t{2}, size_t{3}, size_t{4}, size_t{7}, size_t{8},
                        size_t{9}, size_t{64}, size_t{1000}, kBytes}) {
      for (size_t shift : {size_t{0}, size_t{1}, size_t{5}}) {
        std::vector<uint8_t> mine(size + 1);
        for (size_t i = 0; i < size; ++i) mine[i] = static_cast<uint8_t>(i * 7 + size + shift);
        aclshmem_putmem(block + shift, mine.data(), size, right_of(pe));
        aclshmem_barrier_all();
        EXPECT_EQ(std::memcmp(block + shift, mine.data(), size), 0) << size << " " << shift;
        EXPECT_EQ(block[shift + size], 0);
        std::vector<uint8_t> back(size + 1, 0xee);
        aclshmem_getmem_nbi(back.data(), block + shift, size, left_of(pe));
        EXPECT_EQ(std::memcmp(back.data(), mine.data(), size), 0);
        EXPECT_EQ(back[size], 0xee);
        aclshmem_barrier_all();
        std::memset(block, 0, kBytes + 64);
        aclshmem_barrier_all();
      }
    }
  });
}

TEST_P(ThreadPes, WrongTargetsAreNamedAndMoveNothing) {
  run_threads(n(), [&](Instance& instance) {
    auto* block = static_cast<char*>(aclshmem_calloc(1, 64));
    char source[64] = "data";
    char text[512];
    auto expect = [&](const char* part) {
      EXPECT_EQ(aclshmemx_last_error(text, sizeof(text), true), ACLSHMEM_INVALID_PARAM);
      EXPECT_NE(std::string(text).find(part), std::string::npos) << text;
      EXPECT_NE(std::string(text).find("aclshmem_putmem on PE"), std::string::npos) << text;
    };
    aclshmem_putmem(block, source, 4, n());
    expect("is not one of 0..");
    aclshmem_putmem(block, source, 4, -1);
    expect("PE -1 is not one of");
    aclshmem_putmem(instance.heap_base() + instance.heap_limit() - 8, source, 16, 0);
    expect("run 8 bytes over the end of the symmetric heap");
    // The library's own part lies behind: nobody's target, also not the own PE's.
    for (int pe : {0, instance.pe()}) {
      aclshmem_putmem(instance.heap_base() + instance.heap_bytes() - 8, source, 8, pe);
      expect("the library's own memory lies there");
    }
    EXPECT_EQ(aclshmem_ptr(instance.heap_base() + instance.heap_limit(), 0), nullptr);
    aclshmem_putmem(block, source, SIZE_MAX, 0);
    expect("over the end");
    if (n() > 1) {
      char local[64] = "";
      aclshmem_putmem(local, source, 4, right_of(instance.pe()));
      expect("outside the symmetric heap");
      EXPECT_EQ(local[0], 0);
      void* remote = aclshmem_ptr(block, right_of(instance.pe()));
      aclshmem_putmem(remote, source, 4, right_of(instance.pe()));
      expect("as aclshmem_ptr shows it");
    }
    // The own PE may name memory that is not symmetric.
    char own[8] = "";
    aclshmem_putmem(own, source, 5, instance.pe());
    EXPECT_STREQ(own, "data");
    EXPECT_EQ(aclshmemx_last_error(nullptr, 0, true), 0);
    EXPECT_EQ(block[0], 0);
    aclshmem_barrier_all();
  });
}

TEST_P(ThreadPes, BarrierOrdersManyRounds) {
  run_threads(n(), [&](Instance& instance) {
    auto* slots = static_cast<int64_t*>(aclshmem_calloc(static_cast<size_t>(n()), sizeof(int64_t)));
    for (int64_t round = 1; round <= 200; ++round) {
      for (int pe = 0; pe < n(); ++pe) {
        auto* remote = static_cast<int64_t*>(aclshmem_ptr(slots, pe));
        remote[instance.pe()] = round;
      }
      if (round % 2 == 0) {
        aclshmem_barrier_all();
      } else {
        aclshmem_sync_all();
      }
      for (int pe = 0; pe < n(); ++pe) ASSERT_EQ(slots[pe], round);
      aclshmem_barrier(ACLSHMEM_TEAM_WORLD);
    }
    aclshmem_barrier(ACLSHMEM_TEAM_INVALID);
    aclshmem_barrier(12);
    EXPECT_EQ(aclshmemx_last_error(nullptr, 0, true), ACLSHMEM_INVALID_PARAM);
  });
}

TEST_P(ThreadPes, SignalsCarryTheirData) {
  run_threads(n(), [&](Instance& instance) {
    auto* data = static_cast<double*>(aclshmem_calloc(100, sizeof(double)));
    auto* signal = static_cast<int32_t*>(aclshmem_calloc(2, sizeof(int32_t)));
    const int pe = instance.pe();
    for (int round = 1; round <= 100; ++round) {
      std::vector<double> mine(100, round + 0.5);
      aclshmem_double_put_signal(data, mine.data(), mine.size(), reinterpret_cast<uint8_t*>(signal),
                                 round, ACLSHMEM_SIGNAL_SET, right_of(pe));
      aclshmem_signal_wait_until(signal, ACLSHMEM_CMP_GE, round);
      for (int i = 0; i < 100; ++i) ASSERT_EQ(data[i], round + 0.5);
      aclshmem_barrier_all();
    }
    // Everybody adds to PE 0; zero bytes still signal.
    aclshmemx_putmem_signal(data, data, 0, signal + 1, 1, ACLSHMEM_SIGNAL_ADD, 0);
    if (pe == 0) aclshmem_signal_wait_until(signal + 1, ACLSHMEM_CMP_EQ, n());
    aclshmem_barrier_all();
  });
}

// Every type of a family with put, get, strided forms, p and g.
#define SYMM_TEST_TYPE(NAME, TYPE)                                                          \
  do {                                                                                      \
    auto* block = static_cast<TYPE*>(aclshmem_calloc(64, sizeof(TYPE)));                    \
    TYPE mine[64];                                                                          \
    TYPE back[64] = {};                                                                     \
    for (int i = 0; i < 64; ++i) mine[i] = static_cast<TYPE>(i + pe);                       \
    aclshmem_##NAME##_put(block, mine, 16, right);                                          \
    aclshmem_##NAME##_put_nbi(block + 16, mine + 16, 16, right);                            \
    aclshmem_##NAME##_iput(block + 32, mine + 32, 2, 1, 8, right);                          \
    aclshmem_##NAME##_p(block + 63, mine[63], right);                                       \
    aclshmem_barrier_all();                                                                 \
    for (int i = 0; i < 32; ++i) ASSERT_EQ(block[i], static_cast<TYPE>(i + left)) << #NAME; \
    for (int i = 0; i < 8; ++i) {                                                           \
      ASSERT_EQ(block[32 + 2 * i], static_cast<TYPE>(32 + i + left)) << #NAME;              \
      ASSERT_EQ(block[33 + 2 * i], static_cast<TYPE>(0)) << #NAME;                          \
    }                                                                                       \
    ASSERT_EQ(aclshmem_##NAME##_g(block + 63, right), static_cast<TYPE>(63 + pe));          \
    aclshmem_##NAME##_get(back, block, 16, right);                                          \
    aclshmem_##NAME##_get_nbi(back + 16, block + 16, 16, right);                            \
    aclshmem_##NAME##_iget(back + 32, block, 1, 3, 8, right);                               \
    for (int i = 0; i < 32; ++i) ASSERT_EQ(back[i], static_cast<TYPE>(i + pe)) << #NAME;    \
    for (int i = 0; i < 8; ++i) ASSERT_EQ(back[32 + i], static_cast<TYPE>(3 * i + pe));     \
    aclshmem_free(block);                                                                   \
  } while (0)

TEST_P(ThreadPes, TypedFamilies) {
  run_threads(n(), [&](Instance& instance) {
    const int pe = instance.pe();
    const int right = right_of(pe);
    const int left = left_of(pe);
    SYMM_HOST_TYPES(SYMM_TEST_TYPE);
  });
}

#define SYMM_TEST_SIZE(BITS)                                                                    \
  do {                                                                                          \
    constexpr size_t kUnit = BITS / 8;                                                          \
    auto* block = static_cast<uint8_t*>(aclshmem_calloc(32, kUnit));                            \
    auto* signal = static_cast<int32_t*>(aclshmem_calloc(1, sizeof(int32_t)));                  \
    std::vector<uint8_t> mine(32 * kUnit);                                                      \
    std::iota(mine.begin(), mine.end(), static_cast<uint8_t>(3));                               \
    aclshmem_put##BITS(block, mine.data(), 4, right);                                           \
    aclshmem_put##BITS##_nbi(block + 4 * kUnit, mine.data() + 4 * kUnit, 4, right);             \
    aclshmem_iput##BITS(block + 8 * kUnit, mine.data() + 8 * kUnit, 1, 2, 4, right);            \
    aclshmem_put##BITS##_signal(block + 16 * kUnit, mine.data(), 2, signal, 5,                  \
                                ACLSHMEM_SIGNAL_SET, right);                                    \
    aclshmem_int32_wait_until(signal, ACLSHMEM_CMP_EQ, 5);                                      \
    ASSERT_EQ(std::memcmp(block + 16 * kUnit, mine.data(), 2 * kUnit), 0) << BITS;              \
    aclshmem_barrier_all();                                                                     \
    ASSERT_EQ(std::memcmp(block, mine.data(), 8 * kUnit), 0) << BITS;                           \
    for (size_t i = 0; i < 4; ++i) {                                                            \
      ASSERT_EQ(std::memcmp(block + (8 + i) * kUnit, mine.data() + (8 + 2 * i) * kUnit, kUnit), \
                0);                                                                             \
    }                                                                                           \
    std::vector<uint8_t> back(32 * kUnit);                                                      \
    aclshmem_get##BITS(back.data(), block, 4, right);                                           \
    aclshmem_get##BITS##_nbi(back.data() + 4 * kUnit, block + 4 * kUnit, 4, right);             \
    aclshmem_iget##BITS(back.data() + 8 * kUnit, block, 2, 1, 4, right);                        \
    ASSERT_EQ(std::memcmp(back.data(), mine.data(), 8 * kUnit), 0) << BITS;                     \
    ASSERT_EQ(std::memcmp(back.data() + 10 * kUnit, mine.data() + kUnit, kUnit), 0) << BITS;    \
    aclshmem_free(block);                                                                       \
    aclshmem_free(signal);                                                                      \
  } while (0)

TEST_P(ThreadPes, SizedFamilies) {
  run_threads(n(), [&](Instance& instance) {
    const int right = right_of(instance.pe());
    ACLSHMEM_SIZE_FUNC(SYMM_TEST_SIZE);
  });
}

#define SYMM_TEST_WAIT(NAME, TYPE)                                                                \
  do {                                                                                            \
    auto* words = static_cast<TYPE*>(aclshmem_calloc(8, sizeof(TYPE)));                           \
    const TYPE one = 1;                                                                           \
    const int odd_only[4] = {1, 0, 1, 0};                                                         \
    const int nobody[4] = {1, 1, 1, 1};                                                           \
    size_t indices[4] = {9, 9, 9, 9};                                                             \
    size_t found = 77;                                                                            \
    int answer = 77;                                                                              \
    TYPE wanted[4] = {1, 1, 1, 2};                                                                \
    aclshmem_##NAME##_test(words, ACLSHMEM_CMP_EQ, one, &answer);                                 \
    ASSERT_EQ(answer, 0);                                                                         \
    aclshmem_##NAME##_test_any(words, 4, nullptr, ACLSHMEM_CMP_EQ, one, &found);                  \
    ASSERT_EQ(found, SIZE_MAX);                                                                   \
    aclshmem_##NAME##_test_some(words, 4, indices, nullptr, ACLSHMEM_CMP_EQ, one, &found);        \
    ASSERT_EQ(found, 0u);                                                                         \
    aclshmem_barrier_all();                                                                       \
    aclshmem_##NAME##_p(words + 1, one, right);                                                   \
    aclshmem_##NAME##_wait_until(words + 1, ACLSHMEM_CMP_EQ, one);                                \
    aclshmem_##NAME##_wait(words + 1, static_cast<TYPE>(0));                                      \
    aclshmem_##NAME##_wait_until_any(words, 4, nullptr, ACLSHMEM_CMP_EQ, one, &found);            \
    ASSERT_EQ(found, 1u);                                                                         \
    aclshmem_##NAME##_wait_until_any(words, 4, nobody, ACLSHMEM_CMP_EQ, one, &found);             \
    ASSERT_EQ(found, SIZE_MAX);                                                                   \
    aclshmem_##NAME##_wait_until_some(words, 4, indices, nullptr, ACLSHMEM_CMP_EQ, one, &found);  \
    ASSERT_EQ(found, 1u);                                                                         \
    ASSERT_EQ(indices[0], 1u);                                                                    \
    ASSERT_EQ(indices[1], 9u);                                                                    \
    aclshmem_barrier_all();                                                                       \
    aclshmem_##NAME##_p(words + 3, static_cast<TYPE>(2), right);                                  \
    aclshmem_##NAME##_wait_until_all(words, 4, odd_only, ACLSHMEM_CMP_GE, one);                   \
    aclshmem_##NAME##_wait_until_all(words, 4, nobody, ACLSHMEM_CMP_GE, one);                     \
    aclshmem_##NAME##_wait_until_all_vector(words, 4, odd_only, ACLSHMEM_CMP_EQ, wanted);         \
    aclshmem_##NAME##_wait_until_any_vector(words + 2, 2, nullptr, ACLSHMEM_CMP_EQ, wanted + 2,   \
                                            &found);                                              \
    ASSERT_EQ(found, 1u);                                                                         \
    aclshmem_##NAME##_wait_until_some_vector(words, 4, indices, nullptr, ACLSHMEM_CMP_EQ, wanted, \
                                             &found);                                             \
    ASSERT_EQ(found, 2u);                                                                         \
    ASSERT_EQ(indices[0], 1u);                                                                    \
    ASSERT_EQ(indices[1], 3u);                                                                    \
    aclshmem_##NAME##_test_all_vector(words, 4, nullptr, ACLSHMEM_CMP_EQ, wanted, &answer);       \
    ASSERT_EQ(answer, 0);                                                                         \
    aclshmem_##NAME##_test_all_vector(words, 4, odd_only, ACLSHMEM_CMP_EQ, wanted, &answer);      \
    ASSERT_EQ(answer, 1);                                                                         \
    aclshmem_##NAME##_test_all_vector(words, 4, nobody, ACLSHMEM_CMP_EQ, wanted, &answer);        \
    ASSERT_EQ(answer, 1);                                                                         \
    aclshmem_##NAME##_test_any_vector(words, 4, odd_only, ACLSHMEM_CMP_EQ, wanted, &found);       \
    ASSERT_EQ(found, 1u);                                                                         \
    aclshmem_##NAME##_test_some_vector(words, 4, indices, nullptr, ACLSHMEM_CMP_EQ, wanted,       \
                                       &found);                                                   \
    ASSERT_EQ(found, 2u);                                                                         \
    aclshmem_##NAME##_test(words, 6, one, &answer);                                               \
    ASSERT_EQ(answer, 0);                                                                         \
    aclshmem_##NAME##_wait_until_any(words, 4, nullptr, -1, one, &found);                         \
    ASSERT_EQ(found, SIZE_MAX);                                                                   \
    aclshmem_barrier_all();                                                                       \
    aclshmem_free(words);                                                                         \
  } while (0)

TEST_P(ThreadPes, WaitFamilies) {
  run_threads(n(), [&](Instance& instance) {
    const int right = right_of(instance.pe());
    ACLSHMEM_P2P_SYNC_TYPE_FUNC(SYMM_TEST_WAIT);
  });
}

TEST(ThreadJob, LifeCyclesLeaveNothing) {
  for (int round = 0; round < 20; ++round) {
    run_threads(2, [](Instance&) {
      void* block = aclshmem_malloc(1000);
      EXPECT_NE(block, nullptr);
    });
  }
}

TEST(ThreadJob, DifferentAttributesFailOnAllPes) {
  auto outcomes = run_threads(
      3, [](Instance&) { FAIL() << "init should not succeed"; }, false,
      [](InstanceOptions& options) {
        if (options.pe == 2) options.heap_bytes = 8 << 20;
      });
  for (const Outcome& outcome : outcomes) {
    EXPECT_EQ(outcome.open.code(), Code::kInternal);
    EXPECT_NE(outcome.open.text().find("local_mem_size: PEs 0-1: 4194304, PE 2: 8388608"),
              std::string::npos)
        << outcome.open.text();
  }
}

// A PE dies while the others wait: every kind of wait ends with an error that names it.
TEST(ThreadJob, WaitsEndWhenAPeerIsLost) {
  const std::string address = fresh_address();
  std::atomic<int> waiting{0};
  run_threads(
      3,
      [&](Instance& instance) {
        auto* word = static_cast<int32_t*>(aclshmem_calloc(1, sizeof(int32_t)));
        waiting.fetch_add(1);
        if (instance.pe() == 2) {
          wait_for_count(waiting, 3);
          ASSERT_TRUE(bootstrap::mem_store_lose_peer(address, 2));
          instance.health().lose(Code::kPeerLost, 2, "PE 2 is lost: so says the test");
          return;
        }
        if (instance.pe() == 0) {
          aclshmem_barrier_all();
        } else {
          aclshmem_signal_wait_until(word, ACLSHMEM_CMP_EQ, 1);
        }
        char text[512];
        EXPECT_EQ(aclshmemx_last_error(text, sizeof(text), false), ACLSHMEM_PEER_LOST);
        EXPECT_NE(std::string(text).find("PE 2"), std::string::npos) << text;
        // Later waits fail at once.
        aclshmem_barrier_all();
        EXPECT_EQ(aclshmem_malloc(8), nullptr);
      },
      false, {}, address);
}

TEST(ThreadJob, ABarrierNobodyElseEntersNamesTheMissing) {
  std::atomic<int> done{0};
  run_threads(3, [&](Instance& instance) {
    if (instance.pe() == 0) {
      instance.wait_domain()->timeout_ms = 50;
      aclshmem_barrier_all();
      char text[512];
      EXPECT_EQ(aclshmemx_last_error(text, sizeof(text), true), ACLSHMEM_TIMEOUT_ERROR);
      EXPECT_NE(std::string(text).find("missing: PE 1 (not in a collective call; last in barrier"),
                std::string::npos)
          << text;
      done.store(1);
    } else {
      wait_for_count(done, 1);
    }
  });
}

// A PE leaves without finalize while another waits for it.
TEST(ThreadJob, ABarrierEndsWhenAMemberLeaves) {
  std::atomic<int> done{0};
  run_threads(
      3,
      [&](Instance& instance) {
        if (instance.pe() == 1) {
          instance.leave_at_exit();
          wait_for_count(done, 2);
          return;
        }
        aclshmem_barrier_all();
        char text[512];
        EXPECT_EQ(aclshmemx_last_error(text, sizeof(text), true), ACLSHMEM_PEER_LOST);
        EXPECT_NE(std::string(text).find("PE 1 ended without taking part"), std::string::npos)
            << text;
        done.fetch_add(1);
        wait_for_count(done, 2);
      },
      false);
}

TEST(ThreadJob, CallsWithoutAnInstanceAreErrors) {
  EXPECT_EQ(aclshmem_malloc(8), nullptr);
  aclshmem_free(nullptr);
  EXPECT_EQ(aclshmemx_get_heap_base(), nullptr);
  char byte = 0;
  EXPECT_EQ(aclshmem_ptr(&byte, 0), nullptr);
  EXPECT_EQ(aclshmem_finalize(), 0);
  EXPECT_EQ(aclshmemx_finalize(17), ACLSHMEM_INNER_ERROR);
  EXPECT_EQ(aclshmemx_instance_ctx_set(17), ACLSHMEM_INNER_ERROR);
  EXPECT_NE(aclshmemx_instance_ctx_get(), nullptr);
  EXPECT_EQ(aclshmemx_instance_ctx_get()->id, 0u);
  EXPECT_EQ(aclshmemi_control_barrier_all(), ACLSHMEM_NOT_INITED);
  EXPECT_EQ(g_state.mype, -1);
  EXPECT_EQ(g_state.heap_size, SIZE_MAX);
  int major = 0;
  int minor = 0;
  aclshmem_info_get_version(&major, &minor);
  EXPECT_EQ(major * 10 + minor, 11);
  char name[256];
  aclshmem_info_get_name(name);
  EXPECT_STREQ(name, "ACLSHMEM v1.1.1");
  aclshmem_info_get_name(nullptr);
  aclshmem_info_get_version(nullptr, &minor);
}

TEST(ThreadJob, AttributesAreChecked) {
  auto with = [](auto change) {
    aclshmemx_init_attr_t attributes;
    attributes.my_pe = 0;
    attributes.n_pes = 2;
    attributes.local_mem_size = 4 << 20;
    std::strcpy(attributes.ip_port, "tcp://127.0.0.1:8666");
    change(attributes);
    return aclshmemx_init_attr(ACLSHMEMX_INIT_WITH_DEFAULT, &attributes);
  };
  EXPECT_EQ(aclshmemx_init_attr(ACLSHMEMX_INIT_WITH_DEFAULT, nullptr), -1);
  EXPECT_EQ(with([](auto& a) { a.my_pe = -1; }), -2);
  EXPECT_EQ(with([](auto& a) { a.n_pes = 0; }), -2);
  EXPECT_EQ(with([](auto& a) { a.n_pes = 16385; }), -2);
  EXPECT_EQ(with([](auto& a) { a.my_pe = 2; }), -1);
  EXPECT_EQ(with([](auto& a) { a.local_mem_size = 0; }), -2);
  EXPECT_EQ(with([](auto& a) { a.local_mem_size = (40ULL << 30) + 1; }), -2);
  EXPECT_EQ(with([](auto& a) { a.option_attr.shm_init_timeout = 0; }), -2);
  EXPECT_EQ(with([](auto& a) { a.option_attr.control_operation_timeout = 0; }), -2);
  EXPECT_EQ(with([](auto& a) {
              a.option_attr.data_op_engine_type = static_cast<data_op_engine_type_t>(0x10);
            }),
            -2);
  EXPECT_EQ(with([](auto& a) { a.local_mem_size = (4 << 20) + 1; }), -1);
  EXPECT_EQ(with([](auto& a) { a.ip_port[0] = 'x'; }), -1);
  aclshmemx_init_attr_t attributes{0, 1, {}, 4 << 20};
  EXPECT_EQ(aclshmemx_init_attr(static_cast<aclshmemx_bootstrap_t>(4), &attributes), -1);
  EXPECT_EQ(aclshmemx_init_attr(ACLSHMEMX_INIT_WITH_UNIQUEID, &attributes), -1);
  EXPECT_EQ(aclshmemx_init_status(), 0);
}

}  // namespace
}  // namespace symm::test
