// PEs as threads of one process: memory, puts and gets, barriers, signals with {1, 2, 3, 8} PEs.
#include <algorithm>
#include <cstring>

#include "tests/multi_pe/thread_pes.h"

namespace symm::test {
namespace {

class ThreadCalls : public ThreadPes {};
INSTANTIATE_TEST_SUITE_P(Counts, ThreadCalls, testing::Values(1, 2, 3, 8));

TEST_P(ThreadCalls, NumbersAndStatus) {
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

TEST_P(ThreadCalls, AllocationsAreSymmetricAndReusable) {
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
TEST_P(ThreadCalls, HeapLimits) {
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

TEST_P(ThreadCalls, ZeroBytesAndNullNeedNobodyElse) {
  run_threads(n(), [&](Instance& instance) {
    if (instance.pe() != 0) return;
    EXPECT_EQ(aclshmem_malloc(0), nullptr);
    EXPECT_EQ(aclshmem_calloc(0, 8), nullptr);
    EXPECT_EQ(aclshmem_calloc(8, 0), nullptr);
    aclshmem_free(nullptr);
  });
}

TEST_P(ThreadCalls, DifferentCallsAreNamedOnAllPes) {
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

TEST_P(ThreadCalls, PointersReachThePeers) {
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

TEST_P(ThreadCalls, PutAndGetMoveBytesOfAnySizeAndPlace) {
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

TEST_P(ThreadCalls, WrongTargetsAreNamedAndMoveNothing) {
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

TEST_P(ThreadCalls, BarrierOrdersManyRounds) {
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

TEST_P(ThreadCalls, SignalsCarryTheirData) {
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

}  // namespace
}  // namespace symm::test
