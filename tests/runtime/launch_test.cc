// Launches: cores of a block, barriers between cores, waits, failures.
#include <chrono>
#include <cstring>
#include <stdexcept>
#include <thread>
#include <vector>

#include "tests/runtime/kernel.h"

namespace symm::test {
namespace {

using testing::HasSubstr;

class LaunchTest : public RuntimeTest {};
class LaunchSizes : public RuntimeTest,
                    public testing::WithParamInterface<std::tuple<uint32_t, int>> {
 protected:
  uint32_t blocks() const { return std::get<0>(GetParam()); }
  int aiv() const { return std::get<1>(GetParam()); }
  size_t cores() const { return blocks() * static_cast<size_t>(aiv()); }
};

TEST_P(LaunchSizes, EveryCoreRunsOnceWithItsNumbers) {
  std::vector<int> runs(cores(), 0);
  ASSERT_EQ(launch(
                blocks(), stream_,
                [&](symm_core& core) {
                  EXPECT_EQ(core.block_num, blocks());
                  EXPECT_EQ(core.ratio, aiv());
                  EXPECT_EQ(reinterpret_cast<uintptr_t>(core.ub) % 64, 0u);
                  EXPECT_EQ(core.ub_size, 192u * 1024);
                  EXPECT_EQ(core.ub_used, 0u);
                  core.ub[0] = 1;
                  core.ub[core.ub_size - 1] = 1;
                  ++runs[static_cast<size_t>(core.block * core.ratio + core.sub_block)];
                },
                aiv()),
            ACL_SUCCESS);
  ASSERT_EQ(aclrtSynchronizeStream(stream_), ACL_SUCCESS);
  EXPECT_EQ(runs, std::vector<int>(cores(), 1));
}

TEST_P(LaunchSizes, SyncAllSeparatesPhases) {
  constexpr int kPhases = 20;
  std::vector<int> values(cores(), 0);
  std::atomic<int> wrong{0};
  ASSERT_EQ(launch(
                blocks(), stream_,
                [&](symm_core& core) {
                  auto me = static_cast<size_t>(core.block * core.ratio + core.sub_block);
                  for (int phase = 1; phase <= kPhases; ++phase) {
                    values[me] = phase;
                    symm_rt_sync_all();
                    for (int value : values) wrong += value != phase;
                    symm_rt_sync_all();
                  }
                },
                aiv()),
            ACL_SUCCESS);
  ASSERT_EQ(aclrtSynchronizeStream(stream_), ACL_SUCCESS) << last_error();
  EXPECT_EQ(wrong, 0);
}

TEST_P(LaunchSizes, CoresSignalEachOtherInARing) {
  std::vector<std::atomic<uint64_t>> flags(cores());
  std::vector<int> data(cores(), 0);
  ASSERT_EQ(launch(
                blocks(), stream_,
                [&](symm_core& core) {
                  auto me = static_cast<size_t>(core.block * core.ratio + core.sub_block);
                  for (uint64_t lap = 1; lap <= 5; ++lap) {
                    // Core 0 starts the lap; it comes round to it at the end.
                    if (me != 0) WordWait(flags[me], lap)();
                    data[(me + 1) % data.size()] = data[me] + 1;
                    flags[(me + 1) % flags.size()].fetch_add(1, std::memory_order_acq_rel);
                    if (me == 0) WordWait(flags[0], lap)();
                  }
                },
                aiv()),
            ACL_SUCCESS);
  ASSERT_EQ(aclrtSynchronizeStream(stream_), ACL_SUCCESS) << last_error();
  EXPECT_EQ(data[0], static_cast<int>(5 * cores()));
}

INSTANTIATE_TEST_SUITE_P(All, LaunchSizes,
                         testing::Combine(testing::Values(1u, 3u, 20u, 48u),
                                          testing::Values(1, 2)));

TEST_F(LaunchTest, HundredsOfBlocks) {
  std::atomic<int> runs{0};
  ASSERT_EQ(launch(700, stream_,
                   [&](symm_core&) {
                     symm_rt_sync_all();
                     ++runs;
                   }),
            ACL_SUCCESS);
  ASSERT_EQ(aclrtSynchronizeStream(stream_), ACL_SUCCESS) << last_error();
  EXPECT_EQ(runs, 700);
}

TEST_F(LaunchTest, ThousandLaunchesInOrder) {
  uint64_t value = 0;
  for (uint64_t i = 0; i < 1000; ++i) {
    ASSERT_EQ(launch(3, stream_,
                     [&value, i](symm_core& core) {
                       if (core.block == 0) value = value == i ? i + 1 : UINT64_MAX / 2;
                     }),
              ACL_SUCCESS);
  }
  ASSERT_EQ(aclrtSynchronizeStream(stream_), ACL_SUCCESS);
  EXPECT_EQ(value, 1000u);
}

TEST_F(LaunchTest, RawPollingWithYieldSeesAnotherCore) {
  std::atomic<int> flag{0};
  ASSERT_EQ(launch(4, stream_,
                   [&](symm_core& core) {
                     if (core.block == 3) {
                       for (int i = 0; i < 100; ++i) symm_rt_yield();
                       flag.store(1, std::memory_order_release);
                     }
                     while (flag.load(std::memory_order_acquire) == 0) symm_rt_yield();
                   }),
            ACL_SUCCESS);
  EXPECT_EQ(aclrtSynchronizeStream(stream_), ACL_SUCCESS);
}

TEST_F(LaunchTest, KernelWaitsForTheHost) {
  std::atomic<uint64_t> word{0};
  symm_event_count events{};
  symm_wait_domain domain{};
  domain.events = &events;
  domain.pe = 0;
  ASSERT_EQ(launch(8, stream_, [&](symm_core&) { WordWait(word, 1, &domain)(); }), ACL_SUCCESS);
  // Somebody has to be asleep first, so that the wake-up is what ends it.
  while (__atomic_load_n(&events.waiters, __ATOMIC_SEQ_CST) == 0) std::this_thread::yield();
  word.store(1, std::memory_order_release);
  symm_rt_notify(&events);
  EXPECT_EQ(aclrtSynchronizeStream(stream_), ACL_SUCCESS);
}

TEST_F(LaunchTest, KernelsOfTwoStreamsWaitForEachOther) {
  aclrtStream other = nullptr;
  ASSERT_EQ(aclrtCreateStream(&other), ACL_SUCCESS);
  std::atomic<uint64_t> ping{0};
  std::atomic<uint64_t> pong{0};
  ASSERT_EQ(launch(4, stream_,
                   [&](symm_core& core) {
                     if (core.block != 0) return;
                     for (uint64_t i = 1; i <= 50; ++i) {
                       ping.store(i, std::memory_order_release);
                       WordWait(pong, i)();
                     }
                   }),
            ACL_SUCCESS);
  ASSERT_EQ(launch(4, other,
                   [&](symm_core& core) {
                     if (core.block != 0) return;
                     for (uint64_t i = 1; i <= 50; ++i) {
                       WordWait(ping, i)();
                       pong.store(i, std::memory_order_release);
                     }
                   }),
            ACL_SUCCESS);
  EXPECT_EQ(aclrtSynchronizeStream(stream_), ACL_SUCCESS);
  EXPECT_EQ(aclrtSynchronizeStream(other), ACL_SUCCESS);
  EXPECT_EQ(aclrtDestroyStream(other), ACL_SUCCESS);
}

TEST_F(LaunchTest, ExceptionsOfCoresStayApart) {
  // Each core waits inside its catch block and rethrows: it must get its own exception back.
  std::vector<int> caught(20, -1);
  ASSERT_EQ(launch(20, stream_,
                   [&](symm_core& core) {
                     try {
                       try {
                         throw static_cast<int>(core.block);
                       } catch (int) {
                         symm_rt_sync_all();
                         for (int64_t i = 0; i < core.block % 3; ++i) symm_rt_yield();
                         throw;
                       }
                     } catch (int value) {
                       caught[static_cast<size_t>(core.block)] = value;
                     }
                   }),
            ACL_SUCCESS);
  ASSERT_EQ(aclrtSynchronizeStream(stream_), ACL_SUCCESS) << last_error();
  for (int i = 0; i < 20; ++i) EXPECT_EQ(caught[static_cast<size_t>(i)], i);
}

TEST_F(LaunchTest, EscapingExceptionIsTheErrorOfTheLaunch) {
  ASSERT_EQ(launch(6, stream_,
                   [](symm_core& core) {
                     if (core.block == 4) throw std::runtime_error("tile 17 is odd");
                     symm_rt_sync_all();
                   }),
            ACL_SUCCESS);
  EXPECT_EQ(aclrtSynchronizeStream(stream_), ACL_ERROR_INTERNAL_ERROR);
  EXPECT_THAT(last_error(), HasSubstr("block 4"));
  EXPECT_THAT(last_error(), HasSubstr("tile 17 is odd"));
  // Reported once; the stream goes on.
  EXPECT_EQ(aclrtSynchronizeStream(stream_), ACL_SUCCESS);
}

TEST_F(LaunchTest, TrapEndsTheLaunch) {
  ASSERT_EQ(launch(3, stream_,
                   [](symm_core& core) {
                     if (core.block == 1) symm_rt_trap("UB is full");
                     while (true) symm_rt_yield();
                   }),
            ACL_SUCCESS);
  EXPECT_EQ(aclrtSynchronizeStream(stream_), ACL_ERROR_INTERNAL_ERROR);
  EXPECT_THAT(last_error(), HasSubstr("block 1: UB is full"));
}

TEST_F(LaunchTest, CoreThatSkipsSyncAllIsNamed) {
  ASSERT_EQ(launch(5, stream_,
                   [](symm_core& core) {
                     if (core.block != 2) symm_rt_sync_all();
                   }),
            ACL_SUCCESS);
  EXPECT_EQ(aclrtSynchronizeStream(stream_), ACL_ERROR_INTERNAL_ERROR);
  EXPECT_THAT(last_error(), HasSubstr("SyncAll"));
  EXPECT_THAT(last_error(), testing::ContainsRegex("(core|block) 2"));
}

TEST_F(LaunchTest, LostPeerUnwindsAllCores) {
  symm_event_count events{};
  uint32_t failure = 0;
  symm_wait_domain domain{};
  domain.events = &events;
  domain.failure = &failure;
  domain.pe = 0;
  domain.why = [](const symm_wait_domain*, char* text, size_t size) {
    std::strncpy(text, "PE 3 ended", size - 1);
  };
  std::atomic<uint64_t> never{0};
  std::atomic<int> started{0};
  std::atomic<int> unwound{0};
  struct Counter {
    std::atomic<int>& count;
    ~Counter() { ++count; }
  };
  ASSERT_EQ(launch(20, stream_,
                   [&](symm_core& core) {
                     Counter counter{unwound};
                     ++started;
                     if (core.block % 2 == 0) symm_rt_sync_all();  // never complete
                     WordWait(never, 1, &domain)();
                     ADD_FAILURE() << "a wait returned";
                   }),
            ACL_SUCCESS);
  while (started < 20 || __atomic_load_n(&events.waiters, __ATOMIC_SEQ_CST) == 0) {
    std::this_thread::yield();
  }
  __atomic_store_n(&failure, 1, __ATOMIC_RELEASE);
  symm_rt_notify(&events);
  EXPECT_EQ(aclrtSynchronizeStream(stream_), ACL_ERROR_INTERNAL_ERROR);
  EXPECT_THAT(last_error(), HasSubstr("PE 3 ended"));
  EXPECT_THAT(last_error(), HasSubstr("word_wait"));
  EXPECT_EQ(unwound, 20);
}

TEST_F(LaunchTest, WaitPastItsTimeLimitEndsTheLaunch) {
  std::atomic<uint64_t> never{0};
  ASSERT_EQ(launch(2, stream_,
                   [&](symm_core&) {
                     WordWait wait(never, 7);
                     wait.wait.timeout_ms = 5;
                     wait();
                   }),
            ACL_SUCCESS);
  EXPECT_EQ(aclrtSynchronizeStream(stream_), ACL_ERROR_RT_STREAM_SYNC_TIMEOUT);
  EXPECT_THAT(last_error(), HasSubstr("word_wait"));
  EXPECT_THAT(last_error(), HasSubstr("value 7"));
}

TEST_F(LaunchTest, MixedRatiosAreRefused) {
  auto run = [](void*) {
    int64_t block = symm_rt_core()->block;
    if (!symm_rt_enter("odd", 0, block == 0 ? 1 : 2)) return;
    symm_rt_sync_all();
  };
  ASSERT_EQ(symm_rt_launch(2, stream_, run, nullptr, nullptr, nullptr, "odd"), ACL_SUCCESS);
  EXPECT_EQ(aclrtSynchronizeStream(stream_), ACL_ERROR_INTERNAL_ERROR);
  EXPECT_THAT(last_error(), HasSubstr("vector cores per block"));
}

TEST_F(LaunchTest, StateReachesTheCores) {
  int state = 5;
  auto run = [](void*) {
    if (!symm_rt_enter("state", 0, 1)) return;
    ++*static_cast<int*>(symm_rt_core()->state);
  };
  ASSERT_EQ(symm_rt_launch(1, stream_, run, nullptr, nullptr, &state, "state"), ACL_SUCCESS);
  ASSERT_EQ(aclrtSynchronizeStream(stream_), ACL_SUCCESS);
  EXPECT_EQ(state, 6);
}

TEST_F(LaunchTest, BadLaunchesAreRefusedAndDropped) {
  EXPECT_EQ(launch(0, stream_, [](symm_core&) {}), ACL_ERROR_RT_PARAM_INVALID);
  int nothing = 0;
  EXPECT_EQ(launch(1, &nothing, [](symm_core&) {}), ACL_ERROR_RT_STREAM_CONTEXT);
  EXPECT_EQ(live_closures, 0);
}

TEST_F(LaunchTest, HostThreadIsNoCore) {
  EXPECT_EQ(symm_rt_core(), nullptr);
  EXPECT_EQ(symm_rt_enter("direct", 0, 1), 0);
  EXPECT_THAT(last_error(), HasSubstr("direct"));
  std::atomic<uint64_t> word{1};
  EXPECT_EQ(WordWait(word, 1)(), SYMM_WAIT_DONE);
  WordWait late(word, 2);
  late.wait.timeout_ms = 3;
  EXPECT_EQ(late(), SYMM_WAIT_TIMEOUT);
  EXPECT_THAT(last_error(), HasSubstr("word_wait"));
}

}  // namespace
}  // namespace symm::test
