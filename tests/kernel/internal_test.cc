// Kernel side: the internal names that programs use, profiling, cache operations, notifies,
// instances.
#define __CCE_AICORE__ 220
#include <gmock/gmock.h>

#include <atomic>

#include "device/gm2gm/engine/shmemi_device_rdma.h"
#include "device/gm2gm/shmemi_device_cc.h"
#include "device/shmem_device.h"
#include "device/utils/prof/shmemi_prof.h"
#include "tests/kernel/world.h"

namespace symm::test {
namespace {

template <typename T>
T* heap(uint64_t offset) {
  return reinterpret_cast<T*>(static_cast<char*>(aclshmemi_get_state()->heap_base) + offset);
}
template <typename T>
volatile T* ub(uint64_t offset = 0) {
  return symm::ub_cast<T>(offset);
}

TEST(KernelInternal, LoadStoreAndSetValue) {
  World world({.pes = 1});
  world.run_ok(1, [](int) {
    auto* word = heap<int32_t>(0);
    aclshmemi_store(word, 41);
    EXPECT_EQ(aclshmemi_load(word), 41);
    aclshmemi_set_value(word, 42);
    EXPECT_EQ(aclshmemi_load(word), 42);
    // At a byte address the value keeps its own width; scratch and event are accepted.
    aclshmemi_set_value(heap<uint8_t>(0), uint32_t{0x01020304}, ub<uint8_t>(), 0);
    EXPECT_EQ(*word, 0x01020304);
    dcci_cacheline(heap<uint8_t>(0));
    dcci_cachelines(heap<uint8_t>(0), 64u);
  });
}

TEST(KernelInternal, SoftBarrierMeetsTheCoresOfTheLaunchOnly) {
  World world({.pes = 2});
  std::atomic<int> wrong{0};
  world.run_ok(
      4,
      [&](int pe) {
        // Different numbers on the PEs: a barrier over PEs would never return.
        for (int round = 1; round <= 3 + pe; ++round) {
          heap<int32_t>(0)[AscendC::GetBlockIdx()] = round;
          aclshmemi_barrier_core_soft();
          for (int i = 0; i < 8; ++i) wrong += heap<int32_t>(0)[i] != round;
          aclshmemi_barrier_core_soft();
        }
        aclshmemi_barrier<true>(ACLSHMEM_TEAM_WORLD);
        aclshmemx_barrier_vec(ACLSHMEM_TEAM_WORLD);
        util_set_ffts_config(77);
      },
      2);
  EXPECT_EQ(wrong, 0);
  EXPECT_EQ(world.state(0).team_epoch[0], 2u);
}

TEST(KernelInternal, RoceTeamCallsTakeTheRecordOfTheTeam) {
  World world({.pes = 3});
  const int team = world.make_team({2, 0});
  std::atomic<int> wrong{0};
  world.run_ok(1, [&](int me) {
    auto* record = aclshmemi_get_state()->team_pools[team];
    EXPECT_EQ(record == nullptr, me == 1);
    for (int round = 1; round <= 20; ++round) {
      for (int peer : {0, 2}) {
        *heap<int32_t>(256) = round * 10 + me;
        if (me != 1)
          aclshmemx_roce_put_nbi(heap<int32_t>(0) + me, heap<int32_t>(256), ub<int32_t>(), 1, peer);
        wrong += aclshmemx_roce_barrier(record) != 0;
      }
      if (me != 1) {
        for (int peer : {0, 2}) wrong += heap<int32_t>(0)[peer] != round * 10 + peer;
      }
      wrong += aclshmemx_roce_team_sync(record) != 0;
      wrong += aclshmemx_roce_sync(record, ub<uint8_t>(), 0) != 0;
      wrong += aclshmemx_roce_barrier(record, ub<uint8_t>(), 0) != 0;
    }
  });
  EXPECT_EQ(wrong, 0);
}

TEST(KernelInternal, RawRoceWriteTakesTheAddressOfRocePtr) {
  World world({.pes = 2});
  world.run_ok(1, [](int me) {
    auto* source = heap<uint8_t>(0);
    auto* target = heap<uint8_t>(4096);
    for (int i = 0; i < 100; ++i) source[i] = static_cast<uint8_t>(i + me);
    AscendC::LocalTensor<uint64_t> wide;
    AscendC::LocalTensor<uint32_t> narrow;
    auto* there = static_cast<uint8_t*>(aclshmem_roce_ptr(target, 1 - me));
    aclshmemi_roce_write(there, source, static_cast<uint32_t>(1 - me), 0u, uint64_t{100}, wide,
                         narrow, 0u);
    aclshmemx_roce_barrier_all();
    for (int i = 0; i < 100; ++i) EXPECT_EQ(target[i], static_cast<uint8_t>(i + 1 - me));
  });
}

TEST(KernelInternal, ConfigSettersOfEveryEngine) {
  World world({.pes = 1});
  world.run_ok(1, [](int) {
    aclshmemx_set_sdma_config(1, 64, 2);
    aclshmemx_set_rdma_config(3, 128, 4);
    aclshmemx_set_udma_config(5, 256, 6);
    const auto* s = aclshmemi_get_state();
    EXPECT_EQ(s->sdma_config.aclshmem_ub, 1);
    EXPECT_EQ(s->rdma_config.ub_size, 128u);
    EXPECT_EQ(s->udma_config.sync_id, 6u);
  });
}

TEST(KernelProfiling, CountsOnTheChosenPeAndFrame) {
  World world({.pes = 2});
  auto profs = std::make_unique<aclshmem_prof_pe_t>();
  profs->pe_id = 1;
  for (int pe : {0, 1}) world.state(pe).base.profs = profs.get();
  world.run_ok(3, [](int) {
    for (int i = 0; i < 5; ++i) {
      SHMEMI_PROF_START(7);
      AscendC::PipeBarrier<PIPE_ALL>();
      SHMEMI_PROF_END(7);
    }
    SHMEMI_PROF_START(1024);  // no such frame
    SHMEMI_PROF_END(1024);
  });
  for (int block = 0; block < 3; ++block) {
    EXPECT_EQ(profs->block_prof[block].ccount[7], 5);
    EXPECT_GE(profs->block_prof[block].cycles[7], 0);
    EXPECT_EQ(profs->block_prof[block].ccount[6], 0);
  }
  EXPECT_EQ(profs->block_prof[3].ccount[7], 0);
}

TEST(KernelSdma, CacheOperationsAreQueuedAndChangeNothing) {
  World world({.pes = 1});
  world.run_ok(1, [](int) {
    auto* data = heap<float>(0);
    data[5] = 3;
    AscendC::GlobalTensor<float> tensor;
    tensor.SetGlobalBuffer(data);
    AscendC::LocalTensor<float> scratch;  // without memory, as programs pass it
    for (auto type : {ACLSHMEMCMOTYPE::CMO_TYPE_PREFETCH, ACLSHMEMCMOTYPE::CMO_TYPE_FLUSH}) {
      aclshmemx_cmo_nbi(data, 1000, type, ub<float>(), 64, 0);
      aclshmemx_cmo_nbi(tensor, 1000, type, scratch, 0);
    }
    aclshmemx_sdma_quiet(scratch, 0);
    EXPECT_EQ(data[5], 3);
  });
  EXPECT_EQ(symm_engine_pair(world.state(0).sdma, 0)->done, 2u) << "only prefetches are requests";
}

TEST(KernelSdma, LongTransfersAreCutIntoRequests) {
  World world({.pes = 2, .depth = 2});
  world.run_ok(1, [&](int me) {
    // The heap of this test is 1 MiB, so the source lies outside it.
    static std::vector<int32_t> source(600'000, 9);
    static std::vector<int32_t> target(600'000);
    if (me == 0)
      aclshmemx_sdma_put_nbi(target.data(), source.data(), ub<int32_t>(), 64, source.size(), 0, 0);
    aclshmemx_sdma_quiet(ub<int32_t>(), 64, 0);
    if (me == 0) {
      EXPECT_EQ(source, target);
    }
  });
  EXPECT_EQ(symm_engine_pair(world.state(0).sdma, 0)->done, 3u);
}

// FAULTS F12: slots of a queue are used again and again by several cores, more requests at a time
// than it has slots.
TEST(KernelRdma, MoreRequestsThanTheQueueHoldsWaitForRoom) {
  constexpr int kBlocks = 3;
  constexpr int kPuts = 100;
  World world({.pes = 2, .depth = 2, .delay_us = 50});
  std::atomic<int> wrong{0};
  world.run_ok(kBlocks, [&](int me) {
    auto* words = static_cast<int32_t*>(aclshmemi_get_state()->heap_base) +
                  static_cast<int>(AscendC::GetBlockIdx()) * 2 * kPuts;
    for (int i = 0; i < kPuts; ++i) {
      words[i] = 1000 * me + i;
      aclshmemx_roce_put_nbi(words + kPuts + i, words + i, symm::ub_cast<int32_t>(0), 1, 1 - me, 0);
    }
    aclshmemx_roce_quiet(static_cast<uint32_t>(1 - me), symm::ub_cast<int32_t>(0), 0);
    aclshmemx_barrier_all_vec();
    for (int i = 0; i < kPuts; ++i) wrong += words[kPuts + i] != 1000 * (1 - me) + i;
  });
  EXPECT_EQ(wrong, 0);
  for (int pe = 0; pe < 2; ++pe) {
    const symm_queue_pair* pair = symm_engine_pair(world.state(pe).rdma, 1 - pe);
    ASSERT_NE(pair, nullptr);
    EXPECT_EQ(pair->mask, 1u) << "the queue holds two";
    EXPECT_EQ(pair->done, uint64_t{kBlocks} * kPuts);
  }
}

TEST(KernelSdma, NotifyComesBehindTheCopiesOfItsCore) {
  World world({.pes = 1, .delay_us = 1000});
  std::vector<void*> notifies(SYMM_SDMA_CHANNELS);
  for (int i = 0; i < 4; ++i) {
    ASSERT_EQ(aclrtCreateNotify(&notifies[static_cast<size_t>(i)], 0), ACL_SUCCESS);
  }
  world.state(0).notifies = notifies.data();
  aclrtStream waiter = nullptr;
  ASSERT_EQ(aclrtCreateStream(&waiter), ACL_SUCCESS);
  for (void* notify : {notifies[0], notifies[1], notifies[2], notifies[3]}) {
    ASSERT_EQ(aclrtWaitAndResetNotify(notify, waiter, 20), ACL_SUCCESS);
  }
  world.run_ok(
      2,
      [](int) {
        const int64_t core = AscendC::GetBlockIdx();
        auto* source = heap<int32_t>(0) + core;
        *source = 7;
        aclshmemx_sdma_put_nbi(heap<int32_t>(4096) + core, source, ub<int32_t>(), 64, 1, 0, 0);
        if (core % 2 == 0) {
          aclshmemx_sdma_notify_record(ub<int32_t>(), 64, 0);
        } else {
          AscendC::LocalTensor<int32_t> scratch;
          aclshmemx_sdma_notify_record(scratch, 0);
        }
      },
      2);
  ASSERT_EQ(aclrtSynchronizeStream(waiter), ACL_SUCCESS);
  for (int core = 0; core < 4; ++core) EXPECT_EQ(world.at<int32_t>(0, 4096)[core], 7);
  const auto errors = world.run(5, [](int) {
    if (AscendC::GetBlockIdx() == 0) return;
    symm_rt_core()->block = 48;  // beyond the 48 that exist
    aclshmemx_sdma_notify_record(ub<int32_t>(), 64, 0);
  });
  EXPECT_THAT(errors[0], testing::HasSubstr("vector core 48 has no notify"));
  EXPECT_EQ(aclrtDestroyStream(waiter), ACL_SUCCESS);
  for (int i = 0; i < 4; ++i)
    EXPECT_EQ(aclrtDestroyNotify(notifies[static_cast<size_t>(i)]), ACL_SUCCESS);
}

symm_device_state* second_instance = nullptr;

TEST(KernelInstances, ACoreChoosesTheInstanceItWorksOn) {
  World first({.pes = 2});
  World second({.pes = 2});
  second_instance = &second.state(0);
  first.state(0).instance_id = 0;
  second.state(0).instance_id = 5;
  auto find = [](uint64_t id) { return id == 5 ? second_instance : nullptr; };
  first.state(0).find_instance = find;
  second.state(0).find_instance = find;
  const auto errors = first.run(2, [&](int me) {
    if (me != 0) return;
    EXPECT_EQ(static_cast<uint64_t>(aclshmemx_instance_ctx_get()), 0u);
    aclshmem_int32_p(heap<int32_t>(0), 10, 1);
    aclshmemx_instance_ctx_set(5);
    const uint64_t chosen = aclshmemx_instance_ctx_get();
    EXPECT_EQ(chosen, 5u);
    aclshmem_int32_p(heap<int32_t>(0), 50, 1);
    if (AscendC::GetBlockIdx() == 1) aclshmemx_instance_ctx_set(6);
  });
  EXPECT_THAT(errors[0], testing::HasSubstr("no instance 6"));
  EXPECT_EQ(*first.at<int32_t>(1, 0), 10);
  EXPECT_EQ(*second.at<int32_t>(1, 0), 50);
}

TEST(KernelSignal, GoesThroughTheQueueWhenMteDoesNotReachThePe) {
  for (uint8_t topology : {ACLSHMEM_TRANSPORT_ROCE, ACLSHMEM_TRANSPORT_UDMA}) {
    World world({.pes = 2, .topology = topology, .delay_us = 3000});
    world.run_ok(1, [&](int me) {
      auto* data = heap<int32_t>(0);
      auto* sig = heap<int32_t>(64);
      data[4] = 7 + me;
      // No quiet in between: the signal stays behind the put in the same queue.
      aclshmem_int32_put_nbi(data, data + 4, 1, 1 - me);
      aclshmemx_signal_op(sig, 3, ACLSHMEM_SIGNAL_ADD, 1 - me);
      aclshmem_signal_wait_until(sig, ACLSHMEM_CMP_EQ, 3);
      EXPECT_EQ(data[0], 7 + 1 - me);
      EXPECT_EQ(aclshmem_int32_atomic_fetch_add(data + 8, 5, 1 - me), 0);
      aclshmem_barrier_all();
      EXPECT_EQ(data[8], 5);
    });
  }
}

TEST(KernelSignal, AnUnknownOperationGivesNoneAndIsReported) {
  World world({.pes = 1});
  static int reports;
  reports = 0;
  world.state(0).report = [](void*, int code, const char* text) {
    EXPECT_EQ(code, ACLSHMEM_INVALID_PARAM);
    EXPECT_THAT(text,
                testing::HasSubstr("aclshmemx_signal_op on PE 0: there is no signal operation 9"));
    return ++reports;
  };
  world.run_ok(1, [](int) {
    auto* sig = heap<int32_t>(0);
    aclshmemx_signal_op(sig, 3, 9, 0);
    EXPECT_EQ(*sig, 0);
  });
  EXPECT_EQ(reports, 1);
}

TEST(KernelAddresses, TheLibrarysPartOfTheHeapIsNobodysTarget) {
  for (int pe : {0, 1}) {
    World world({.pes = 2});
    const auto errors = world.run(1, [pe](int me) {
      if (me == 0) aclshmem_int32_p(heap<int32_t>(World::kHeapBytes), 1, pe);
    });
    EXPECT_THAT(errors[0], testing::HasSubstr("lies in the library's own memory"));
  }
}

TEST(KernelUb, RangesThatLeaveTheBufferCopyNothingAndAreReported) {
  World world({.pes = 1});
  static int reports;
  reports = 0;
  world.state(0).report = [](void*, int code, const char* text) {
    EXPECT_EQ(code, ACLSHMEM_INVALID_PARAM);
    EXPECT_THAT(text, testing::HasSubstr("leave the unified buffer"));
    return ++reports;
  };
  world.run_ok(1, [](int) {
    auto* target = heap<int32_t>(0);
    *target = 1;
    aclshmem_int32_put_nbi(target, ub<int32_t>(192 * 1024 - 8), 3, 0);
    EXPECT_EQ(*target, 1);
    aclshmemx_mte_get_nbi(ub<int32_t>(192 * 1024 - 8), target, 3, 0, 0);
    aclshmem_int32_put_nbi(target, ub<int32_t>(192 * 1024 - 8), 2, 0);  // fits exactly
    EXPECT_EQ(*target, ub<int32_t>(192 * 1024 - 8)[0]);
  });
  EXPECT_EQ(reports, 2);
}

TEST(KernelUb, PutsHonourTheAtomicMode) {
  World world({.pes = 2});
  world.run_ok(4, [](int) {
    auto* target = heap<float>(0);
    ub<float>()[0] = 2;
    ub<float>()[1] = 3;
    AscendC::SetAtomicAdd<float>();
    aclshmem_float_put_nbi(target, ub<float>(), 2, 0);
    AscendC::SetAtomicNone();
    aclshmem_barrier_all();
    if (aclshmem_my_pe() == 0) {
      EXPECT_EQ(target[0], 16);
      EXPECT_EQ(target[1], 24);
    }
  });
}

}  // namespace
}  // namespace symm::test
