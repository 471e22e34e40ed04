// Kernel side: barriers, signals, waits, quiets and their reach, and what ends a kernel.
#define __CCE_AICORE__ 220
#include <gmock/gmock.h>
#include <time.h>

#include "device/shmem_device.h"
#include "tests/kernel/host_symbols.h"
#include "tests/kernel/world.h"

namespace symm::test {
namespace {

using testing::HasSubstr;

template <typename T>
T* heap(uint64_t offset) {
  return reinterpret_cast<T*>(static_cast<char*>(aclshmemi_get_state()->heap_base) + offset);
}

template <typename T>
volatile T* ub(uint64_t offset = 0) {
  return symm::ub_cast<T>(offset);
}

uint64_t now_us() {
  timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return static_cast<uint64_t>(now.tv_sec) * 1'000'000 + static_cast<uint64_t>(now.tv_nsec) / 1000;
}

struct Shape {
  int pes;
  uint32_t blocks;
  int ratio;
};
void PrintTo(const Shape& s, std::ostream* out) {
  *out << s.pes << "PEs_" << s.blocks << "blocks_x" << s.ratio;
}

class KernelBarrier : public testing::TestWithParam<Shape> {};

// Every core writes its slot on every PE, and after the barrier sees everybody's.
TEST_P(KernelBarrier, SeparatesPhasesOfAllCoresOfAllPes) {
  const Shape shape = GetParam();
  World world({.pes = shape.pes});
  const int cores = static_cast<int>(shape.blocks) * shape.ratio;
  std::atomic<int> wrong{0};
  world.run_ok(
      shape.blocks,
      [&](int) {
        const int me = aclshmem_my_pe();
        const int n = aclshmem_n_pes();
        const int core = static_cast<int>(AscendC::GetBlockIdx());
        for (int round = 1; round <= 10; ++round) {
          for (int pe = 0; pe < n; ++pe) {
            auto* slot = heap<int32_t>(0) + me * cores + core;
            aclshmem_int32_put_nbi(slot, &round, 1, pe);
          }
          aclshmemx_barrier_all_vec();
          for (int i = 0; i < n * cores; ++i) wrong += heap<int32_t>(0)[i] != round;
          aclshmem_barrier_all();
        }
      },
      shape.ratio);
  EXPECT_EQ(wrong, 0);
  EXPECT_EQ(world.state(0).team_epoch[0], 20u);
}
INSTANTIATE_TEST_SUITE_P(Shapes, KernelBarrier,
                         testing::Values(Shape{1, 1, 1}, Shape{1, 20, 1}, Shape{2, 1, 1},
                                         Shape{2, 3, 2}, Shape{3, 20, 1}, Shape{5, 1, 1},
                                         Shape{2, 48, 1}, Shape{8, 2, 1}));

TEST(KernelBarrierTeam, MeetsOnlyItsMembers) {
  World world({.pes = 5});
  const int odd = world.make_team({1, 3});
  const int even = world.make_team({4, 2, 0});
  std::atomic<int> wrong{0};
  world.run_ok(2, [&](int pe) {
    const bool is_odd = pe % 2 == 1;
    const aclshmem_team_t team = is_odd ? odd : even;
    wrong += aclshmem_team_n_pes(team) != (is_odd ? 2 : 3);
    for (int round = 1; round <= (is_odd ? 7 : 3);
         ++round) {  // different numbers of barriers: no meeting across teams
      if (AscendC::GetBlockIdx() == 0) {
        for (int i = 0; i < aclshmem_team_n_pes(team); ++i) {
          aclshmem_int32_p(heap<int32_t>(64) + aclshmem_team_my_pe(team), round,
                           aclshmem_team_pe_mapping(team, i));
        }
      }
      aclshmem_barrier(team);
      for (int i = 0; i < aclshmem_team_n_pes(team); ++i) wrong += heap<int32_t>(64)[i] != round;
      aclshmem_sync(team);
    }
    aclshmem_barrier(ACLSHMEM_TEAM_INVALID);
  });
  EXPECT_EQ(wrong, 0);
}

TEST(KernelTeam, AnswersAboutMembers) {
  World world({.pes = 4});
  const int team = world.make_team({3, 1});
  world.run_ok(1, [&](int pe) {
    EXPECT_EQ(aclshmem_my_pe(), pe);
    EXPECT_EQ(aclshmem_n_pes(), 4);
    EXPECT_EQ(aclshmem_team_my_pe(ACLSHMEM_TEAM_WORLD), pe);
    EXPECT_EQ(aclshmem_team_my_pe(ACLSHMEM_TEAM_INVALID), -1);
    EXPECT_EQ(aclshmem_team_n_pes(ACLSHMEM_MAX_TEAMS), -1);
    const bool member = pe % 2 == 1;
    EXPECT_EQ(aclshmem_team_my_pe(team), member ? (pe == 3 ? 0 : 1) : -1);
    EXPECT_EQ(aclshmem_team_n_pes(team), member ? 2 : -1);
    EXPECT_EQ(aclshmem_team_pe_mapping(team, 0), member ? 3 : -1);
    EXPECT_EQ(aclshmem_team_pe_mapping(team, 2), -1);
    EXPECT_EQ(aclshmem_team_translate_pe(team, 1, ACLSHMEM_TEAM_WORLD), member ? 1 : -1);
    EXPECT_EQ(aclshmem_team_translate_pe(ACLSHMEM_TEAM_WORLD, 3, team), member ? 0 : -1);
    EXPECT_EQ(aclshmem_team_translate_pe(ACLSHMEM_TEAM_WORLD, 2, team), -1);
    EXPECT_EQ(aclshmem_team_translate_pe(ACLSHMEM_TEAM_WORLD, -1, ACLSHMEM_TEAM_WORLD), -1);
  });
}

// The flagship's allgather: barrier, put_nbi of the own slice to every peer, barrier; many rounds,
// few queue slots.
TEST(KernelRoce, AllgatherByPutsBetweenBarriers) {
  for (int pes : {1, 2, 3, 5}) {
    World world({.pes = pes, .depth = 2});
    std::atomic<int> wrong{0};
    world.run_ok(1, [&](int me) {
      auto* slices = heap<int32_t>(0);
      for (int round = 1; round <= 100; ++round) {
        for (int i = 0; i < 16; ++i) slices[me * 16 + i] = round * 1000 + me * 16 + i;
        aclshmemx_roce_barrier_all();
        for (int pe = 0; pe < pes; ++pe) {
          if (pe != me)
            aclshmemx_roce_put_nbi(slices + me * 16, slices + me * 16, ub<int32_t>(), 16, pe);
        }
        aclshmemx_roce_barrier_all(ub<int32_t>(), EVENT_ID0);
        for (int i = 0; i < pes * 16; ++i) wrong += slices[i] != round * 1000 + i;
        aclshmemx_roce_sync_all();  // nobody overwrites what others still read
      }
    });
    EXPECT_EQ(wrong, 0) << pes << " PEs";
  }
}

// What a quiet reaches: with slow engines, only the right one makes the data arrive.
struct Reach {
  const char* name;
  void (*put)(int32_t* target, int32_t* source, int pe);
  void (*quiet)(int pe);
  bool completes;
};
void PrintTo(const Reach& r, std::ostream* out) { *out << r.name; }

void roce(int32_t* t, int32_t* s, int pe) { aclshmemx_roce_put_nbi(t, s, ub<int32_t>(), 4, pe); }
void sdma(int32_t* t, int32_t* s, int pe) {
  aclshmemx_sdma_put_nbi(t, s, ub<int32_t>(), 64, 4, pe, 0);
}
void udma(int32_t* t, int32_t* s, int pe) {
  aclshmemx_udma_put_nbi<int32_t>(t, s, ub<int32_t>(), 4, pe);
}
void mte(int32_t* t, int32_t* s, int pe) {
  aclshmemx_mte_put_nbi(t, s, ub<int32_t>(), 64, 4, pe, 0);
}
void roce_quiet(int pe) { aclshmemx_roce_quiet(static_cast<uint32_t>(pe), ub<int32_t>(), 0); }
void other_roce_quiet(int pe) {
  aclshmemx_roce_quiet(static_cast<uint32_t>(1 - pe), ub<int32_t>(), 0);
}
void sdma_quiet(int) { aclshmemx_sdma_quiet(ub<int32_t>(), 64, 0); }
void udma_quiet(int pe) { aclshmemx_udma_quiet(pe); }
void mte_quiet(int) { aclshmemx_mte_quiet(); }
void quiet(int) { aclshmem_quiet(); }
void fence(int) { aclshmem_fence(); }
void barrier(int) { aclshmem_barrier_all(); }
void sync(int) { aclshmem_sync_all(); }
void roce_sync(int) { aclshmemx_roce_sync_all(); }
void roce_barrier(int) { aclshmemx_roce_barrier_all(); }

class QuietReach : public testing::TestWithParam<Reach> {};

TEST_P(QuietReach, IsExactlyItsOwn) {
  constexpr uint64_t kDelayUs = 150'000;
  const Reach& reach = GetParam();
  World world({.pes = 2, .delay_us = kDelayUs});
  world.run_ok(1, [&](int me) {
    auto* source = heap<int32_t>(0);
    auto* target = heap<int32_t>(4096);
    for (int i = 0; i < 4; ++i) source[i] = 7;
    aclshmem_barrier_all();
    const uint64_t start = now_us();
    reach.put(target, source, 1 - me);
    reach.quiet(1 - me);
    const int32_t* remote = static_cast<const int32_t*>(aclshmem_ptr(target, 1 - me));
    const int32_t seen = symm_dev::load_acquire(remote + 3);
    const bool early = now_us() < start + kDelayUs;
    if (reach.completes) {
      EXPECT_EQ(seen, 7);
    } else if (early) {
      EXPECT_EQ(seen, 0) << "completed by a quiet that does not reach it";
    }
    aclshmem_quiet();
    EXPECT_EQ(symm_dev::load_acquire(remote), 7);
    aclshmem_barrier_all();
  });
}
INSTANTIATE_TEST_SUITE_P(All, QuietReach,
                         testing::Values(Reach{"roce_quiet", roce, roce_quiet, true},
                                         Reach{"roce_other_pe", roce, other_roce_quiet, false},
                                         Reach{"roce_mte_quiet", roce, mte_quiet, false},
                                         Reach{"roce_sdma_quiet", roce, sdma_quiet, false},
                                         Reach{"roce_udma_quiet", roce, udma_quiet, false},
                                         Reach{"roce_any_quiet", roce, quiet, true},
                                         Reach{"roce_fence", roce, fence, true},
                                         Reach{"roce_barrier_all", roce, barrier, true},
                                         Reach{"roce_sync_all", roce, sync, false},
                                         Reach{"roce_roce_sync", roce, roce_sync, false},
                                         Reach{"roce_roce_barrier", roce, roce_barrier, true},
                                         Reach{"sdma_quiet", sdma, sdma_quiet, true},
                                         Reach{"sdma_roce_quiet", sdma, roce_quiet, false},
                                         Reach{"sdma_mte_quiet", sdma, mte_quiet, false},
                                         Reach{"sdma_roce_barrier", sdma, roce_barrier, false},
                                         Reach{"sdma_any_quiet", sdma, quiet, true},
                                         Reach{"udma_quiet", udma, udma_quiet, true},
                                         Reach{"udma_roce_quiet", udma, roce_quiet, false},
                                         Reach{"udma_any_quiet", udma, quiet, true},
                                         Reach{"mte_quiet", mte, mte_quiet, true}),
                         [](const auto& param) { return param.param.name; });

TEST(KernelSdma, QuietCoversOnlyTheCallingCore) {
  constexpr uint64_t kDelayUs = 150'000;
  World world({.pes = 1, .delay_us = kDelayUs});
  world.run_ok(2, [&](int) {
    auto* source = heap<int32_t>(0);
    auto* target = heap<int32_t>(4096);
    const uint64_t start = now_us();
    if (AscendC::GetBlockIdx() == 1) {
      source[0] = 7;
      aclshmemx_sdma_put_nbi(target, source, ub<int32_t>(), 64, 1, 0, 0);
    }
    symm_rt_sync_all();
    if (AscendC::GetBlockIdx() == 0) {
      aclshmemx_sdma_quiet(ub<int32_t>(), 64, 0);
      const int32_t seen = symm_dev::load_acquire(target);
      if (now_us() < start + kDelayUs) {
        EXPECT_EQ(seen, 0);
      }
    }
    symm_rt_sync_all();
    if (AscendC::GetBlockIdx() == 1) {
      aclshmemx_sdma_quiet(ub<int32_t>(), 64, 0);
      EXPECT_EQ(symm_dev::load_acquire(target), 7);
    }
  });
}

TEST(KernelSignal, RingOfSetsAndAdds) {
  for (int pes : {1, 2, 3}) {
    World world({.pes = pes});
    world.run_ok(1, [&](int me) {
      auto* set = heap<int32_t>(0);
      auto* add = heap<int32_t>(64);
      auto* data = heap<int64_t>(128);
      for (int round = 1; round <= 200; ++round) {
        const int next = (me + 1) % pes;
        const int64_t value = round * 100 + me;
        aclshmem_int64_put_nbi(data + round % 2, const_cast<int64_t*>(&value), 1, next);
        aclshmemx_signal_op(set, round, ACLSHMEM_SIGNAL_SET, next);
        aclshmemx_signal_op(add, 2, ACLSHMEM_SIGNAL_ADD, next);
        aclshmemx_signal_op(add, 99, 7, next);  // no such operation: nothing happens
        EXPECT_GE(aclshmem_signal_wait_until(set, ACLSHMEM_CMP_GE, round), round);
        EXPECT_GE(aclshmem_signal_wait_until(add, ACLSHMEM_CMP_GT, 2 * round - 1), 2 * round);
        EXPECT_EQ(data[round % 2], round * 100 + (me + pes - 1) % pes);
        aclshmemx_barrier_all_vec();
      }
      EXPECT_EQ(*add, 400);
    });
  }
}

TEST(KernelSignal, UnknownComparisonReturnsAtOnce) {
  World world({.pes = 1});
  world.run_ok(1, [](int) {
    auto* word = heap<int32_t>(0);
    *word = 5;
    EXPECT_EQ(aclshmem_signal_wait_until(word, 6, 9), 5);
    aclshmem_int32_wait_until(word, -1, 9);
    EXPECT_EQ(aclshmem_int32_test(word, 17, 5), 0);
  });
}

// A program that polls with calls that do not wait lets the other cores run.
TEST(KernelPolling, CallsThatProgramsPollWithLetOthersRun) {
  World world({.pes = 2});
  using Poll = bool (*)(int32_t * flag, int me);
  const Poll polls[] = {
      [](int32_t* flag, int me) { return aclshmem_int32_g(flag, me) == 1; },
      [](int32_t* flag, int) { return aclshmem_int32_test(flag, ACLSHMEM_CMP_EQ, 1) == 1; },
      [](int32_t* flag, int me) { return aclshmem_int32_atomic_fetch(flag, me) == 1; },
      [](int32_t* flag, int) { return aclshmemi_load(flag) == 1; },
      [](int32_t* flag, int) {
        dcci_cacheline(flag);
        return __atomic_load_n(flag, __ATOMIC_RELAXED) == 1;  // programs read it plainly
      },
      [](int32_t* flag, int) {
        aclshmem_quiet();
        return __atomic_load_n(flag, __ATOMIC_RELAXED) == 1;
      },
      [](int32_t* flag, int me) {
        int32_t value = 0;
        aclshmem_getmem(&value, flag, 4, me);
        return value == 1;
      },
  };
  for (size_t i = 0; i < std::size(polls); ++i) {
    world.run_ok(6, [&](int me) {
      auto* flag = heap<int32_t>(256 * i);
      // The last core sets the flag when all others poll already.
      if (AscendC::GetBlockIdx() == 5) {
        __atomic_store_n(flag, 1, __ATOMIC_RELEASE);
      } else {
        while (!polls[i](flag, me)) {
        }
      }
    });
  }
}

struct Fault {
  const char* name;
  void (*body)(int me);
  std::vector<const char*> texts;
};
void PrintTo(const Fault& f, std::ostream* out) { *out << f.name; }
class KernelFault : public testing::TestWithParam<Fault> {};

TEST_P(KernelFault, EndsTheKernelWithAClearText) {
  World world({.pes = 3, .unmapped = {2}});
  const auto errors = world.run(1, [&](int me) {
    if (me == 0) GetParam().body(me);
  });
  for (const char* text : GetParam().texts) EXPECT_THAT(errors[0], HasSubstr(text));
  EXPECT_EQ(errors[1], "");
}
INSTANTIATE_TEST_SUITE_P(
    All, KernelFault,
    testing::Values(
        Fault{"pe_out_of_range",
              [](int) { aclshmem_int32_p(heap<int32_t>(0), 1, 3); },
              {"aclshmem_int32_p on PE 0", "no PE 3", "0..2"}},
        Fault{"negative_pe",
              [](int) { aclshmem_int32_put(heap<int32_t>(0), heap<int32_t>(64), 1, -1); },
              {"no PE -1"}},
        Fault{"not_mapped",
              [](int) { aclshmem_float_p(heap<float>(0), 1, 2); },
              {"aclshmem_float_p on PE 0", "PE 2 is not mapped", "roce"}},
        Fault{"mte_not_mapped",
              [](int) {
                aclshmemx_mte_put_nbi(heap<float>(0), heap<float>(64), ub<float>(), 64, 1, 2, 0);
              },
              {"aclshmemx_mte_put_nbi", "PE 2 is not mapped"}},
        Fault{"no_engine",
              [](int) { aclshmem_putmem(heap<char>(0), heap<char>(64), 8, 2); },
              {"aclshmem_putmem", "no engine reaches PE 2"}},
        Fault{"not_symmetric",
              [](int) {
                int32_t local = 0;
                aclshmem_int32_p(&local, 1, 1);
              },
              {"not symmetric memory", "aclshmem_malloc"}},
        Fault{"over_the_end",
              [](int) { aclshmem_getmem(heap<char>(0), heap<char>(World::kHeapBytes - 8), 16, 1); },
              {"16 bytes at offset 1048568", "run over its end"}},
        Fault{"peer_pointer",
              [](int) {
                aclshmem_int32_p(static_cast<int32_t*>(aclshmem_ptr(heap<int32_t>(0), 1)), 1, 1);
              },
              {"lies in the heap of PE 1", "aclshmem_ptr"}},
        Fault{
            "no_team", [](int) { aclshmem_barrier(5); }, {"aclshmem_barrier on PE 0", "no team 5"}},
        Fault{"no_instance", [](int) { aclshmemx_instance_ctx_set(9); }, {"no instance 9"}}),
    [](const auto& param) { return param.param.name; });

TEST(KernelFault, LostPeerEndsEveryKindOfWait) {
  void (*waits[])() = {
      [] { aclshmem_signal_wait_until(heap<int32_t>(0), ACLSHMEM_CMP_EQ, 1); },
      [] { aclshmem_barrier_all(); },
      [] { aclshmemx_roce_barrier_all(); },
      [] {
        aclshmemx_roce_put_nbi(heap<int32_t>(0), heap<int32_t>(64), ub<int32_t>(), 4, 1);
        aclshmemx_roce_quiet(1, ub<int32_t>(), 0);
      },
      [] {
        for (int i = 0; i < 3; ++i) {
          aclshmemx_roce_put_nbi(heap<int32_t>(0), heap<int32_t>(64), ub<int32_t>(), 4, 1);
        }
      },
      [] { aclshmemx_roce_atomic_fetch_add(heap<int32_t>(0), 1, 1); },
  };
  for (auto& wait : waits) {
    World world({.pes = 2, .depth = 2, .delay_us = 900'000});
    world.lose_peer(0);
    const auto errors = world.run(1, [&](int me) {
      if (me == 0) wait();
    });
    EXPECT_NE(errors[0], "");
    EXPECT_EQ(errors[1], "");
  }
}

TEST(KernelFault, TimeoutNamesTheCall) {
  World world({.pes = 1, .timeout_ms = 30});
  const auto errors =
      world.run(1, [](int) { aclshmem_int32_wait_until(heap<int32_t>(0), ACLSHMEM_CMP_EQ, 1); });
  EXPECT_THAT(errors[0], HasSubstr("aclshmem_int32_wait_until"));
}

TEST(KernelDual, HostThreadsTakeTheHostWayAndKernelsNeverDo) {
  World world({.pes = 1});
  int32_t value = 0, other = 0;
  int before = host_calls;
  aclshmem_int32_put(&value, &other, 1, 0);
  aclshmem_int32_get_nbi(&value, &other, int64_t{1}, 0);
  aclshmem_put64(&value, &other, 1u, 0);
  aclshmem_putmem(&value, &other, 4, 0);
  aclshmem_int32_p(&value, 1, 0);
  aclshmem_barrier_all();
  aclshmem_my_pe();
  aclshmem_signal_wait_until(&value, ACLSHMEM_CMP_EQ, 0);
  aclshmemx_set_mte_config(0, 1024, 0);
  size_t index = 0;
  aclshmem_int32_wait_until_any(&value, 1, nullptr, ACLSHMEM_CMP_EQ, 0, &index);
  uint8_t* sig = nullptr;
  aclshmem_float_put_signal(nullptr, nullptr, 0, sig, 1, 0, 0);
  EXPECT_EQ(host_calls - before, 11);
  before = host_calls;
  world.run_ok(1, [](int) {
    aclshmem_int32_put(heap<int32_t>(0), heap<int32_t>(4), 1, 0);
    aclshmem_barrier_all();
    aclshmemx_set_mte_config(64, 1024, 3);
    EXPECT_EQ(aclshmemi_get_state()->mte_config.aclshmem_ub, 64);
    EXPECT_EQ(aclshmemi_get_state()->mte_config.ub_size, 1024u);
    EXPECT_EQ(aclshmemi_get_state()->mte_config.sync_id, 3u);
  });
  EXPECT_EQ(host_calls, before);
}

}  // namespace
}  // namespace symm::test
