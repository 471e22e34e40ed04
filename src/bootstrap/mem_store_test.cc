#include "bootstrap/mem_store.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <string>
#include <thread>
#include <vector>

#include "base/status.h"

namespace symm::bootstrap {
namespace {

using testing::HasSubstr;

symm_bootstrap_config config_of(const char* address, int pe, int n_pes) {
  symm_bootstrap_config config{};
  config.size = sizeof config;
  config.mode = 1;
  config.pe = pe;
  config.n_pes = n_pes;
  config.address = address;
  config.connect_timeout_s = 20;
  config.operation_timeout_s = 20;
  config.listen_fd = -1;
  return config;
}

template <typename Body>
void run_pes(int n_pes, Body body) {
  std::vector<std::thread> threads;
  for (int pe = 0; pe < n_pes; ++pe) threads.emplace_back(body, pe);
  for (std::thread& thread : threads) thread.join();
}

TEST(MemStore, AllgatherBarrierAndKey) {
  const auto* table = mem_store_table();
  uint8_t keys[4][32] = {};
  run_pes(4, [&](int pe) {
    auto config = config_of("mem://gather", pe, 4);
    void* handle = nullptr;
    char error[256] = "";
    ASSERT_EQ(table->open(&config, &handle, error, sizeof error), 0) << error;
    for (int round = 0; round < 50; ++round) {
      int mine = pe * 1000 + round;
      int all[4] = {};
      ASSERT_EQ(table->allgather(handle, &mine, sizeof mine, all, "numbers", error, sizeof error),
                0);
      for (int i = 0; i < 4; ++i) EXPECT_EQ(all[i], i * 1000 + round);
    }
    ASSERT_EQ(table->job_key(handle, keys[pe], error, sizeof error), 0);
    ASSERT_EQ(table->barrier(handle, "end", error, sizeof error), 0) << error;
    table->close(handle);
  });
  EXPECT_EQ(std::string(keys[0], keys[0] + 32), std::string(keys[3], keys[3] + 32));
}

TEST(MemStore, QuickReopenUnderTheSameName) {
  const auto* table = mem_store_table();
  run_pes(3, [&](int pe) {
    for (int round = 0; round < 20; ++round) {
      auto config = config_of("mem://again", pe, 3);
      void* handle = nullptr;
      char error[256] = "";
      ASSERT_EQ(table->open(&config, &handle, error, sizeof error), 0) << error;
      ASSERT_EQ(table->barrier(handle, "end", error, sizeof error), 0) << error;
      table->close(handle);
    }
  });
}

struct Seen {
  std::atomic<int> event{0};
  std::atomic<int> value{-1};
};

void remember(void* user, int event, int value, const char*) {
  auto* seen = static_cast<Seen*>(user);
  seen->value.store(value, std::memory_order_relaxed);  // published by the next store
  seen->event.store(event, std::memory_order_release);  // the reader acquires it
}

TEST(MemStore, ALostPeerReachesTheOthers) {
  const auto* table = mem_store_table();
  Seen seen[3];
  std::atomic<int> opened{0};
  run_pes(3, [&](int pe) {
    auto config = config_of("mem://lose", pe, 3);
    config.on_event = remember;
    config.user = &seen[pe];
    void* handle = nullptr;
    char error[256] = "";
    ASSERT_EQ(table->open(&config, &handle, error, sizeof error), 0) << error;
    opened.fetch_add(1, std::memory_order_acq_rel);  // counts, and orders open before the injection
    opened.notify_all();
    if (pe == 2) {
      for (int n = opened.load(); n != 3; n = opened.load()) opened.wait(n);
      EXPECT_TRUE(mem_store_lose_peer("mem://lose", 2));
    } else {
      EXPECT_EQ(table->barrier(handle, "b", error, sizeof error),
                static_cast<int>(Code::kPeerLost));
      EXPECT_THAT(error, HasSubstr("PE 2"));
    }
    opened.fetch_add(1, std::memory_order_acq_rel);
    opened.notify_all();
    for (int n = opened.load(); n != 6; n = opened.load()) opened.wait(n);
    table->close(handle);
  });
  EXPECT_EQ(seen[0].event.load(), SYMM_EVENT_PEER_LOST);
  EXPECT_EQ(seen[0].value.load(), 2);
  EXPECT_EQ(seen[1].event.load(), SYMM_EVENT_PEER_LOST);
  EXPECT_EQ(seen[2].event.load(), 0);
  EXPECT_FALSE(mem_store_lose_peer("mem://lose", 2));
}

TEST(MemStore, GlobalExitAndStoreLoss) {
  const auto* table = mem_store_table();
  Seen seen;
  auto config = config_of("mem://one", 0, 1);
  config.on_event = remember;
  config.user = &seen;
  void* handle = nullptr;
  char error[256] = "";
  ASSERT_EQ(table->open(&config, &handle, error, sizeof error), 0) << error;
  ASSERT_EQ(table->global_exit(handle, 7, error, sizeof error), 0);
  EXPECT_EQ(seen.event.load(), SYMM_EVENT_GLOBAL_EXIT);
  EXPECT_EQ(seen.value.load(), 7);
  EXPECT_TRUE(mem_store_lose_store("mem://one"));
  EXPECT_EQ(seen.event.load(), SYMM_EVENT_STORE_LOST);
  EXPECT_EQ(table->barrier(handle, "b", error, sizeof error), static_cast<int>(Code::kPeerLost));
  table->close(handle);
}

TEST(MemStore, BadArguments) {
  const auto* table = mem_store_table();
  void* handle = nullptr;
  char error[256] = "";
  auto config = config_of("tcp://x:1", 0, 1);
  EXPECT_EQ(table->open(&config, &handle, error, sizeof error),
            static_cast<int>(Code::kInvalidParam));
  config = config_of("mem://x", 2, 2);
  EXPECT_EQ(table->open(&config, &handle, error, sizeof error),
            static_cast<int>(Code::kInvalidParam));
  config = config_of("mem://alone", 0, 2);
  config.connect_timeout_s = 0.05;
  EXPECT_EQ(table->open(&config, &handle, error, sizeof error), static_cast<int>(Code::kSmem));
  EXPECT_THAT(error, HasSubstr("PE 1 never connected"));
}

}  // namespace
}  // namespace symm::bootstrap
