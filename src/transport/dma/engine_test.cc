#include "transport/dma/engine.h"

#include <gtest/gtest.h>
#include <time.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <thread>
#include <vector>

#include "host_device/shmem_common_types.h"
#include "os/wait.h"

namespace symm::dma {
namespace {

uint64_t now_us() {
  timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return static_cast<uint64_t>(now.tv_sec) * 1'000'000 + static_cast<uint64_t>(now.tv_nsec) / 1000;
}

// One PE's view of an engine, with a wait domain whose failure the test can set.
class DmaEngine : public ::testing::Test {
 protected:
  void open(int queues, uint32_t depth, uint64_t delay_us = 0, uint32_t workers = 1) {
    options_.kind = ACLSHMEM_TRANSPORT_ROCE;
    options_.n_queues = queues;
    options_.depth = depth;
    options_.delay_us = delay_us;
    options_.workers = workers;
    reopen();
  }

  void reopen() {
    domain_.events = &events_;
    domain_.failure = &failure_;
    domain_.timeout_ms = 30'000;
    auto result = Engine::open(options_, &domain_);
    ASSERT_TRUE(result.ok()) << result.status().to_string();
    engine_ = std::move(result).value();
    shared_ = engine_->shared();
  }

  static symm_descriptor copy(void* target, const void* source, uint64_t bytes) {
    symm_descriptor d{};
    d.kind = SYMM_DESC_COPY;
    d.target = target;
    d.source = source;
    d.bytes = bytes;
    return d;
  }

  static symm_descriptor word(uint32_t kind, uint64_t* target, uint64_t operand,
                              uint64_t* result = nullptr) {
    symm_descriptor d{};
    d.kind = kind;
    d.width = 8;
    d.target = target;
    d.operand = operand;
    d.result = result;
    return d;
  }

  symm_queue_pair* pair(int index) {
    symm_queue_pair* found = symm_engine_pair(shared_, index);
    return found != nullptr ? found : symm_engine_connect(shared_, index);
  }

  // As kernels push: back-pressure through the waiting primitive.
  uint64_t push(int index, symm_descriptor d, bool help = true) {
    symm_queue_pair* queue = pair(index);
    if (shared_->paced != 0) d.posted = now_us() * 1000;
    uint64_t ticket = 0;
    while (symm_engine_try_push(shared_, queue, &d, &ticket) == 0) {
      if (help) symm_engine_help(shared_, index);
      std::this_thread::yield();
    }
    if (__atomic_load_n(&shared_->doorbell.waiters, __ATOMIC_RELAXED) != 0)
      os::notify_after_rmw(shared_->doorbell);
    return ticket;
  }

  // Waits for completion without helping, so that the worker must do it.
  Status wait_done(int index) {
    struct Argument {
      symm_queue_pair* queue;
      uint64_t ticket;
    } argument{pair(index), 0};
    argument.ticket = __atomic_load_n(&argument.queue->head, __ATOMIC_ACQUIRE);
    symm_wait wait{};
    wait.poll = [](void* a) {
      return symm_engine_is_done(static_cast<Argument*>(a)->queue,
                                 static_cast<Argument*>(a)->ticket);
    };
    wait.argument = &argument;
    wait.domain = &domain_;
    wait.call = "engine test";
    wait.team = wait.peer = wait.compare = -1;
    wait.kind = SYMM_WAIT_KIND_QUEUE;
    return os::wait(wait);
  }

  EngineOptions options_;
  symm_event_count events_{};
  uint32_t failure_ = 0;
  symm_wait_domain domain_{};
  std::unique_ptr<Engine> engine_;
  symm_engine* shared_ = nullptr;
};

TEST_F(DmaEngine, OpensNoThreadAndNoQueueBeforeTheFirstUse) {
  open(3, 8);
  for (int i = 0; i < 3; ++i) EXPECT_EQ(symm_engine_pair(shared_, i), nullptr);
  EXPECT_EQ(symm_engine_help(shared_, 0), 0);
  EXPECT_TRUE(engine_->quiesce().ok());
  EXPECT_EQ(symm_engine_connect(shared_, 3), nullptr);
  EXPECT_EQ(symm_engine_connect(shared_, -1), nullptr);
  symm_queue_pair* made = symm_engine_connect(shared_, 1);
  ASSERT_NE(made, nullptr);
  EXPECT_EQ(symm_engine_connect(shared_, 1), made);
  EXPECT_EQ(symm_engine_pair(shared_, 0), nullptr);
}

TEST_F(DmaEngine, RefusesBadShapes) {
  EngineOptions options;
  options.n_queues = 0;
  EXPECT_EQ(Engine::open(options, &domain_).status().code(), Code::kInvalidValue);
  options.n_queues = 1;
  options.depth = 48;
  EXPECT_EQ(Engine::open(options, &domain_).status().code(), Code::kInvalidValue);
}

TEST_F(DmaEngine, MakesNoQueueToWhatIsNotReachable) {
  options_.reachable = [](int pe) { return pe != 1; };
  open(2, 8);
  EXPECT_NE(symm_engine_connect(shared_, 0), nullptr);
  EXPECT_EQ(symm_engine_connect(shared_, 1), nullptr);
}

TEST_F(DmaEngine, WorkerCopiesWithoutHelp) {
  open(2, 8);
  std::vector<int> source(1000), target(1000);
  for (int round = 1; round <= 50; ++round) {
    std::fill(source.begin(), source.end(), round);
    push(1, copy(target.data(), source.data(), source.size() * sizeof(int)), false);
    ASSERT_TRUE(wait_done(1).ok());
    ASSERT_EQ(target, source);
  }
}

TEST_F(DmaEngine, QueueIsInOrderAcrossManyWraps) {
  open(1, 4);
  uint64_t target = 0;
  std::array<uint64_t, 1000> old{};
  for (uint64_t i = 0; i < old.size(); ++i) push(0, word(SYMM_DESC_SWAP, &target, i + 1, &old[i]));
  ASSERT_TRUE(engine_->quiesce().ok());
  for (uint64_t i = 0; i < old.size(); ++i) ASSERT_EQ(old[i], i);
  EXPECT_EQ(target, old.size());
}

// A put and a flag behind it in the same queue: who sees the flag sees the data.
TEST_F(DmaEngine, FlagBehindDataCarriesIt) {
  open(1, 8);
  constexpr int kRounds = 5000;
  std::vector<uint64_t> source(32), target(32);
  uint64_t flag = 0, back = 0;
  std::thread reader([&] {
    for (uint64_t round = 1; round <= kRounds; ++round) {
      while (__atomic_load_n(&flag, __ATOMIC_ACQUIRE) < round) std::this_thread::yield();
      for (uint64_t value : target) {
        if (value != round) ADD_FAILURE() << "stale value " << value << " in round " << round;
      }
      __atomic_store_n(&back, round, __ATOMIC_RELEASE);
    }
  });
  for (uint64_t round = 1; round <= kRounds; ++round) {
    std::fill(source.begin(), source.end(), round);
    push(0, copy(target.data(), source.data(), source.size() * 8));
    push(0, word(SYMM_DESC_STORE, &flag, round));
    while (__atomic_load_n(&back, __ATOMIC_ACQUIRE) < round) symm_engine_help(shared_, 0);
    ASSERT_TRUE(engine_->quiesce().ok());  // the source is ours again
  }
  reader.join();
}

// Producers, helpers and several workers on few slots: nothing is lost, doubled or reordered within
// a queue.
TEST_F(DmaEngine, ManyProducersAndHelpers) {
  constexpr int kThreads = 4;
  constexpr uint64_t kPushes = 5000;
  open(2, 4, 0, 2);
  std::array<uint64_t, 2> sums{};
  std::array<std::array<uint64_t, kThreads>, 2> last{};
  std::vector<std::thread> threads;
  for (int t = 0; t < kThreads; ++t) {
    threads.emplace_back([&, t] {
      for (uint64_t i = 1; i <= kPushes; ++i) {
        const int queue = static_cast<int>(i % 2);
        push(queue, word(SYMM_DESC_ADD, &sums[static_cast<size_t>(queue)], i), t % 2 == 0);
        push(queue,
             word(SYMM_DESC_STORE, &last[static_cast<size_t>(queue)][static_cast<size_t>(t)], i),
             t % 2 == 0);
      }
      EXPECT_TRUE(engine_->quiesce().ok());
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(sums[0] + sums[1], kThreads * kPushes * (kPushes + 1) / 2);
  for (size_t t = 0; t < kThreads; ++t) {
    EXPECT_EQ(last[0][t], kPushes);
    EXPECT_EQ(last[1][t], kPushes - 1);
  }
}

TEST_F(DmaEngine, FullQueueRefusesUntilASlotIsFree) {
  open(1, 2, 1'000'000);  // nothing completes within this test's first part
  uint64_t target = 0;
  symm_queue_pair* queue = pair(0);
  symm_descriptor d = word(SYMM_DESC_ADD, &target, 1);
  d.posted = now_us() * 1000 -
             1'990'000'000;  // posted long ago: due at once for the first, soon for the second
  EXPECT_EQ(symm_engine_try_push(shared_, queue, &d, nullptr), 1);
  d.posted = now_us() * 1000 + 60'000'000'000;  // in a minute
  EXPECT_EQ(symm_engine_try_push(shared_, queue, &d, nullptr), 1);
  const uint64_t end = now_us() + 20'000'000;
  while (!symm_engine_is_done(queue, 1)) {
    ASSERT_LT(now_us(), end);
    symm_engine_help(shared_, 0);
  }
  EXPECT_EQ(symm_engine_try_push(shared_, queue, &d, nullptr), 1) << "the first slot is free again";
  EXPECT_EQ(symm_engine_try_push(shared_, queue, &d, nullptr), 0)
      << "two descriptors wait for their time";
  EXPECT_EQ(symm_engine_help(shared_, 0), 0) << "helping does not shorten the delay";
  EXPECT_EQ(target, 1u);
}

TEST_F(DmaEngine, DelayHoldsEveryDescriptorBack) {
  constexpr uint64_t kDelayUs = 100'000;
  open(1, 8, kDelayUs);
  uint64_t target = 0;
  const uint64_t start = now_us();
  push(0, word(SYMM_DESC_ADD, &target, 1));
  push(0, word(SYMM_DESC_ADD, &target, 1));
  symm_engine_help(shared_, 0);
  const uint64_t seen = __atomic_load_n(&target, __ATOMIC_ACQUIRE);
  if (now_us() < start + kDelayUs) {
    EXPECT_EQ(seen, 0u) << "visible before its time";
  }
  ASSERT_TRUE(engine_->quiesce().ok());
  EXPECT_GE(now_us() - start, 2 * kDelayUs);
  EXPECT_EQ(target, 2u);
}

TEST_F(DmaEngine, LatencyOverlapsAndBandwidthIsShared) {
  options_.latency_us = 5000;
  options_.bytes_per_s = 100'000'000;  // 1 MB takes 10 ms
  open(2, 8);
  std::vector<char> source(1'000'000, 'a'), target(1'000'000);
  const uint64_t start = now_us();
  push(0, copy(target.data(), source.data(), 500'000));
  push(1, copy(target.data() + 500'000, source.data() + 500'000, 500'000));
  ASSERT_TRUE(engine_->quiesce().ok());
  const uint64_t took = now_us() - start;
  EXPECT_GE(took, 15'000u);  // both halves on one link, then the latency
  EXPECT_EQ(source, target);
}

TEST_F(DmaEngine, NotifiesTheTargetAfterAtomicsAndItselfAfterCompletion) {
  open(1, 8);
  symm_event_count target_events{};
  std::atomic<bool> woken{false};
  std::atomic<bool> asleep{false};
  std::thread sleeper([&] {
    os::Sleeper s(&target_events);
    const uint32_t seen = s.prepare();
    asleep.store(true);
    s.sleep(seen, 30'000'000);
    woken.store(true);
  });
  while (!asleep.load()) std::this_thread::yield();
  uint64_t target = 0;
  symm_descriptor d = word(SYMM_DESC_ADD, &target, 1);
  d.events = &target_events;
  const uint64_t start = now_us();
  push(0, d);
  sleeper.join();
  EXPECT_TRUE(woken.load());
  EXPECT_LT(now_us() - start, 25'000'000u) << "the sleeper ran into its own limit";
}

TEST_F(DmaEngine, LostPeerEndsTheWait) {
  open(1, 8, 1'000'000);
  uint64_t target = 0;
  push(0, word(SYMM_DESC_ADD, &target, 1));
  std::thread killer([&] { __atomic_store_n(&failure_, 1, __ATOMIC_RELEASE); });
  const Status status = engine_->quiesce();
  killer.join();
  EXPECT_EQ(status.code(), Code::kPeerLost);
}

TEST_F(DmaEngine, TimeoutEndsTheWait) {
  open(1, 8, 1'000'000);
  domain_.timeout_ms = 20;
  uint64_t target = 0;
  push(0, word(SYMM_DESC_ADD, &target, 1));
  EXPECT_EQ(engine_->quiesce().code(), Code::kTimeout);
}

TEST_F(DmaEngine, ForgottenResultIsNotWritten) {
  open(1, 8, 20'000);
  uint64_t target = 5, old = 99;
  const uint64_t ticket = push(0, word(SYMM_DESC_ADD, &target, 1, &old));
  symm_engine_forget(shared_, 0, ticket);
  ASSERT_TRUE(engine_->quiesce().ok());
  EXPECT_EQ(target, 6u);
  EXPECT_EQ(old, 99u);
}

TEST_F(DmaEngine, ClosesWithWorkPending) {
  open(1, 8, 1'000'000);
  uint64_t target = 0;
  push(0, word(SYMM_DESC_ADD, &target, 1));
  engine_.reset();
  EXPECT_EQ(target, 0u);
}

}  // namespace
}  // namespace symm::dma
