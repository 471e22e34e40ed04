#include "os/wait.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <signal.h>

#include <atomic>
#include <cstring>
#include <thread>

#include "os/cpu.h"
#include "os/thread.h"

namespace symm::os {
namespace {

using testing::HasSubstr;

struct Word {
  std::atomic<uint64_t> value{0};
  std::atomic<uint64_t> polls{0};
};

int word_is_set(void* argument) {
  auto* word = static_cast<Word*>(argument);
  word->polls.fetch_add(1, std::memory_order_relaxed);
  return word->value.load(std::memory_order_acquire) != 0;
}

class WaitTest : public testing::Test {
 protected:
  WaitTest() {
    domain_.events = &events_;
    domain_.failure = &failure_;
    domain_.pe = 2;
    wait_.poll = word_is_set;
    wait_.argument = &word_;
    wait_.domain = &domain_;
    wait_.call = "test_wait";
    wait_.team = 5;
    wait_.peer = 3;
    wait_.compare = -1;
  }

  // Runs body once somebody sleeps on the event count.
  template <typename F>
  std::thread when_asleep(F body) {
    return std::thread([this, body] {
      while (__atomic_load_n(&events_.waiters, __ATOMIC_SEQ_CST) == 0) std::this_thread::yield();
      body();
    });
  }

  symm_event_count events_{};
  uint32_t failure_ = 0;
  symm_wait_domain domain_{};
  symm_wait wait_{};
  Word word_;
};

TEST_F(WaitTest, SatisfiedWaitPollsOnceAndTouchesNothing) {
  word_.value = 1;
  ASSERT_TRUE(wait(wait_).ok());
  EXPECT_EQ(word_.polls, 1u);
  EXPECT_EQ(events_.seq, 0u);
  EXPECT_EQ(events_.waiters, 0u);
}

TEST_F(WaitTest, WakesByNotify) {
  std::thread writer = when_asleep([this] {
    word_.value.store(1, std::memory_order_release);
    notify(events_);
  });
  EXPECT_TRUE(wait(wait_).ok());
  writer.join();
  EXPECT_EQ(events_.waiters, 0u);
}

TEST_F(WaitTest, WakesByNotifyAfterReadModifyWrite) {
  std::thread writer = when_asleep([this] {
    word_.value.fetch_add(1, std::memory_order_seq_cst);
    notify_after_rmw(events_);
  });
  EXPECT_TRUE(wait(wait_).ok());
  writer.join();
}

TEST_F(WaitTest, WakesByRawStore) {
  std::thread writer = when_asleep([this] { word_.value.store(1, std::memory_order_release); });
  EXPECT_TRUE(wait(wait_).ok());
  writer.join();
  EXPECT_EQ(events_.seq, 0u);
}

TEST_F(WaitTest, WorksWithoutDomain) {
  wait_.domain = nullptr;
  std::thread writer([this] {
    while (word_.polls < 20) std::this_thread::yield();
    word_.value.store(1, std::memory_order_release);
  });
  EXPECT_TRUE(wait(wait_).ok());
  writer.join();
}

TEST_F(WaitTest, NotifyWithoutSleepersLeavesTheCountAlone) {
  notify(events_);
  notify_after_rmw(events_);
  EXPECT_EQ(events_.seq, 0u);
}

TEST_F(WaitTest, FailureWordEndsTheWaitWithTheReason) {
  domain_.why = [](const symm_wait_domain*, char* text, size_t size) {
    std::strncpy(text, "PE 3 (pid 77) ended", size - 1);
  };
  domain_.describe = [](const symm_wait* wait, char* text, size_t size) {
    snprintf(text, size, "missing PE %d", wait->peer);
  };
  std::thread writer = when_asleep([this] {
    __atomic_store_n(&failure_, 1, __ATOMIC_RELEASE);
    notify(events_);
  });
  Status status = wait(wait_);
  writer.join();
  EXPECT_EQ(status.code(), Code::kPeerLost);
  EXPECT_THAT(std::string(status.text()), HasSubstr("PE 3 (pid 77) ended"));
  EXPECT_THAT(std::string(status.text()), HasSubstr("test_wait on PE 2: missing PE 3"));
}

TEST_F(WaitTest, TimeLimitOfTheWait) {
  wait_.timeout_ms = 5;
  Status status = wait(wait_);
  EXPECT_EQ(status.code(), Code::kTimeout);
  EXPECT_THAT(std::string(status.text()), HasSubstr("test_wait on PE 2: team 5, for PE 3"));
}

TEST_F(WaitTest, TimeLimitOfTheDomain) {
  domain_.timeout_ms = 5;
  Status status = wait(wait_);
  EXPECT_EQ(status.code(), Code::kTimeout);
  EXPECT_THAT(std::string(status.text()), HasSubstr("SHMEM_WAIT_TIMEOUT"));
}

TEST_F(WaitTest, ReportsWhoWaitsAndListsIt) {
  domain_.report_after_ms = 3;
  testing::internal::CaptureStderr();
  std::string listed;
  std::thread writer([&] {
    while ((listed = describe_waits()).empty()) std::this_thread::yield();
    // Lets the first reports come: 3 ms, 6 ms, 12 ms.
    uint64_t seen = word_.polls;
    while (word_.polls < seen + 12) std::this_thread::yield();
    word_.value.store(1, std::memory_order_release);
    notify(events_);
  });
  EXPECT_TRUE(wait(wait_).ok());
  writer.join();
  std::string text = testing::internal::GetCapturedStderr();
  EXPECT_THAT(text, HasSubstr("waiting for"));
  EXPECT_THAT(text, HasSubstr("test_wait on PE 2: team 5, for PE 3"));
  EXPECT_THAT(listed, HasSubstr("test_wait on PE 2"));
  EXPECT_EQ(describe_waits(), "");
}

TEST_F(WaitTest, ManyHandOversLoseNoWakeUp) {
  // Two threads pass a token; each sleeps on its own event count. A lost wake-up would cost 1 ms
  // each.
  struct Side {
    symm_event_count events{};
    std::atomic<uint64_t> token{0};
    uint64_t wanted = 0;
  };
  Side sides[2];
  constexpr uint64_t kRounds = 2000;
  auto play = [&](int me) {
    symm_wait_domain domain{};
    domain.events = &sides[me].events;
    domain.timeout_ms = 30000;
    for (uint64_t round = 1; round <= kRounds; ++round) {
      auto hit = [&] {
        sides[1 - me].token.store(round, std::memory_order_release);
        notify(sides[1 - me].events);
      };
      if (me == 0) hit();
      sides[me].wanted = round;
      symm_wait token{};
      token.poll = [](void* argument) -> int {
        auto* side = static_cast<Side*>(argument);
        return side->token.load(std::memory_order_acquire) >= side->wanted;
      };
      token.argument = &sides[me];
      token.domain = &domain;
      token.call = "token";
      ASSERT_TRUE(wait(token).ok());
      if (me == 1) hit();
    }
  };
  std::thread other(play, 1);
  play(0);
  other.join();
  EXPECT_EQ(sides[0].events.waiters, 0u);
  EXPECT_EQ(sides[1].events.waiters, 0u);
}

TEST(Cpu, AtLeastOneProcessor) { EXPECT_GE(usable_processors(), 1); }

TEST(Thread, RunsNamedAndWithSignalsBlocked) {
  bool blocked = false;
  auto thread = start_thread("a-rather-long-thread-name", [&] {
    sigset_t set;
    pthread_sigmask(SIG_SETMASK, nullptr, &set);
    blocked = sigismember(&set, SIGUSR1) == 1 && sigismember(&set, SIGSEGV) == 0;
  });
  ASSERT_TRUE(thread.ok());
  thread.value().join();
  EXPECT_TRUE(blocked);
  sigset_t set;
  pthread_sigmask(SIG_SETMASK, nullptr, &set);
  EXPECT_EQ(sigismember(&set, SIGUSR1), 0);
}

}  // namespace
}  // namespace symm::os
