// Rows F and G of the list of known faults, on the kernel side.
#define __CCE_AICORE__ 220
#include <gmock/gmock.h>

#include <atomic>

#include "device/shmem_device.h"
#include "tests/kernel/world.h"

namespace symm::test {
namespace {

template <typename T>
T* heap(uint64_t offset) {
  return reinterpret_cast<T*>(static_cast<char*>(aclshmemi_get_state()->heap_base) + offset);
}

// With MTE the core stores the signal itself; without, it goes through a queue, here a slow one.
struct Way {
  const char* name;
  uint8_t topology;
};
void PrintTo(const Way& way, std::ostream* out) { *out << way.name; }

class KernelFaults : public testing::TestWithParam<Way> {
 protected:
  WorldOptions options() const {
    return {.pes = 2, .topology = GetParam().topology, .depth = 4, .delay_us = 20};
  }
};
INSTANTIATE_TEST_SUITE_P(
    Ways, KernelFaults,
    testing::Values(Way{"mte", ACLSHMEM_TRANSPORT_MTE}, Way{"roce", ACLSHMEM_TRANSPORT_ROCE},
                    Way{"udma", ACLSHMEM_TRANSPORT_UDMA},
                    Way{"sdma", ACLSHMEM_TRANSPORT_SDMA | ACLSHMEM_TRANSPORT_MTE}),
    [](const auto& param) { return std::string(param.param.name); });

constexpr uint64_t kData = 4096;
constexpr uint64_t kSource = 65536;

// Eight puts that each add 1 to one signal: who sees 8 has all eight blocks.
TEST_P(KernelFaults, FaultF1_CountedSignalsCoverAllBlocks) {
  constexpr int kPuts = 8;
  constexpr size_t kWords = 100;
  World world(options());
  std::atomic<int> wrong{0};
  world.run_ok(1, [&](int me) {
    auto* signal = heap<int32_t>(0);
    for (int round = 1; round <= 20; ++round) {
      for (size_t i = 0; i < kPuts * kWords; ++i) {
        heap<int32_t>(kSource)[i] = round * 10'000 + static_cast<int32_t>(i);
      }
      for (size_t k = 0; me == 1 && k < kPuts; ++k) {
        aclshmem_int32_put_signal_nbi(heap<int32_t>(kData) + k * kWords,
                                      heap<int32_t>(kSource) + k * kWords, kWords, signal, 1,
                                      ACLSHMEM_SIGNAL_ADD, 0);
      }
      if (me == 0) {
        aclshmem_signal_wait_until(signal, ACLSHMEM_CMP_GE, round * kPuts);
        for (size_t i = 0; i < kPuts * kWords; ++i) {
          wrong += heap<int32_t>(kData)[i] != round * 10'000 + static_cast<int32_t>(i);
        }
      }
      aclshmem_quiet();
      aclshmemx_barrier_all_vec();
    }
  });
  EXPECT_EQ(wrong, 0);
}

// Data, then a signal; the other side waits for the signal and reads the data, back and forth.
TEST_P(KernelFaults, FaultF2_ReadsAfterASignalAreFresh) {
  const int rounds = GetParam().topology == ACLSHMEM_TRANSPORT_MTE ? 20'000 : 200;
  World world(options());
  std::atomic<int> stale{0};
  world.run_ok(1, [&](int me) {
    auto* signal = heap<int32_t>(0);
    auto* data = heap<int32_t>(kData);
    auto* source = heap<int32_t>(kSource);
    for (int round = 1; round <= rounds; ++round) {
      if (round % 2 == me) {
        aclshmem_quiet();  // the previous put no longer reads the source
        for (int i = 0; i < 4; ++i) source[i * 64] = round + i;
        aclshmem_int32_put_signal(data, source, 256, signal, round, ACLSHMEM_SIGNAL_SET, 1 - me);
      } else {
        aclshmem_signal_wait_until(signal, ACLSHMEM_CMP_GE, round);
        for (int i = 0; i < 4; ++i) stale += data[i * 64] != round + i;
      }
    }
    aclshmem_quiet();
    aclshmemx_barrier_all_vec();
  });
  EXPECT_EQ(stale, 0);
}

// A signal operation satisfies the ordinary wait on the same word, and a plain put the signal wait.
TEST_P(KernelFaults, FaultF3_SignalsAndWaitsMix) {
  World world(options());
  world.run_ok(1, [&](int me) {
    auto* word = heap<int32_t>(0);
    for (int round = 1; round <= 50; ++round) {
      if (me == 0) {
        aclshmemx_signal_op(word, round, ACLSHMEM_SIGNAL_SET, 1);
        aclshmem_signal_wait_until(word, ACLSHMEM_CMP_EQ, round);
      } else {
        aclshmem_int32_wait_until(word, ACLSHMEM_CMP_EQ, round);
        aclshmem_int32_p(word, round, 0);
      }
    }
    aclshmem_quiet();
    aclshmemx_barrier_all_vec();
  });
}

TEST_P(KernelFaults, FaultF8_CopiesToSelfAreCompleteOnReturn) {
  World world(options());
  std::atomic<int> wrong{0};
  world.run_ok(1, [&](int me) {
    for (int round = 1; round <= 50; ++round) {
      *heap<int32_t>(kSource) = round;
      aclshmem_int32_put(heap<int32_t>(kData), heap<int32_t>(kSource), 1, me);
      wrong += *heap<int32_t>(kData) != round;
      *heap<int32_t>(kSource) = -round;
      aclshmem_int32_put_nbi(heap<int32_t>(kData), heap<int32_t>(kSource), 1, me);
      aclshmem_quiet();
      wrong += *heap<int32_t>(kData) != -round;
    }
    aclshmemx_barrier_all_vec();
  });
  EXPECT_EQ(wrong, 0);
}

// The value of a fetching atomic comes through a queue: the frame that asked is left and written
// over.
int32_t fetch_in_a_frame(int pe) {
  return aclshmemx_roce_atomic_fetch_add(heap<int32_t>(0), 3, pe);
}
int64_t overwrite_the_stack(int seed) {
  volatile int64_t room[512];
  for (int i = 0; i < 512; ++i) room[i] = seed * i;
  return room[seed % 512];
}

TEST(KernelFault, FaultF10_FetchedValuesOutliveTheirFrame) {
  World world({.pes = 2, .depth = 4, .delay_us = 20});
  std::atomic<int> wrong{0};
  world.run_ok(1, [&](int me) {
    int32_t last = -1;
    for (int i = 0; i < 50; ++i) {
      const int32_t value = fetch_in_a_frame(1 - me);
      wrong += overwrite_the_stack(i) != int64_t{i} * (i % 512);
      wrong += value <= last || value % 3 != 0;
      last = value;
    }
    aclshmemx_barrier_all_vec();
    wrong += *heap<int32_t>(0) != 150;
  });
  EXPECT_EQ(wrong, 0);
}

// A PE that computes without any call stops nobody: atomics, gets and puts on its memory go on.
TEST(KernelFault, FaultG1_ABusyPeServesOthers) {
  World world({.pes = 2});
  std::atomic<bool> over{false};
  std::atomic<int> wrong{0};
  world.run_ok(1, [&](int me) {
    if (me == 1) {
      // acquire: pairs with the other PE's store
      while (!over.load(std::memory_order_acquire)) {
      }
      return;
    }
    for (int i = 0; i < 100; ++i) {
      wrong += aclshmemx_roce_atomic_fetch_add(heap<int32_t>(0), 1, 1) != i;
      wrong += aclshmem_int32_g(heap<int32_t>(0), 1) != i + 1;
    }
    over.store(true, std::memory_order_release);
  });
  EXPECT_EQ(wrong, 0);
  EXPECT_EQ(*world.at<int32_t>(1, 0), 100);
}

// Waits that sleep wake for every kind of writer.
TEST(KernelFault, FaultG2_EveryWriterWakesTheWaiter) {
  World world({.pes = 2, .delay_us = 2000});
  world.run_ok(2, [&](int me) {
    auto* words = heap<int32_t>(0);
    if (AscendC::GetBlockIdx() == 0 && me == 0) {
      aclshmem_int32_p(words + 0, 1, 1);
      aclshmemx_roce_atomic_add(words + 16, 1, 1);
      aclshmemx_udma_atomic_add(words + 32, 1, 1);
      aclshmem_int32_atomic_add(words + 48, 1, 1);
    }
    if (me == 1) {
      for (int i : {0, 16, 32, 48}) aclshmem_int32_wait_until(words + i, ACLSHMEM_CMP_EQ, 1);
      // A core of the same PE.
      if (AscendC::GetBlockIdx() == 0) aclshmem_int32_p(words + 64, 1, 1);
      aclshmem_int32_wait_until(words + 64, ACLSHMEM_CMP_EQ, 1);
    }
    aclshmem_quiet();
  });
}

}  // namespace
}  // namespace symm::test
