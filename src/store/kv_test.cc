#include "store/kv.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace symm::store {
namespace {

using std::chrono::milliseconds;
const Clock::time_point kStart{};

TEST(Kv, SetFindRemove) {
  Kv kv;
  Kv::Wakeups out;
  EXPECT_EQ(kv.find("a"), nullptr);
  ASSERT_TRUE(kv.set("a", "1", out).ok());
  EXPECT_EQ(*kv.find("a"), "1");
  EXPECT_TRUE(kv.remove("a"));
  EXPECT_FALSE(kv.remove("a"));
  EXPECT_EQ(kv.find("a"), nullptr);
}

TEST(Kv, AddCountsInDecimal) {
  Kv kv;
  Kv::Wakeups out;
  EXPECT_EQ(kv.add("n", 5, out).value(), 5);
  EXPECT_EQ(kv.add("n", -7, out).value(), -2);
  EXPECT_EQ(*kv.find("n"), "-2");
  ASSERT_TRUE(kv.set("n", "12x", out).ok());
  EXPECT_FALSE(kv.add("n", 1, out).ok());
  ASSERT_TRUE(kv.set("n", "", out).ok());
  EXPECT_FALSE(kv.add("n", 1, out).ok());
  ASSERT_TRUE(kv.set("n", std::to_string(INT64_MAX), out).ok());
  EXPECT_FALSE(kv.add("n", 1, out).ok());
  EXPECT_EQ(*kv.find("n"), std::to_string(INT64_MAX));
}

TEST(Kv, AppendAndCompareAndSwap) {
  Kv kv;
  Kv::Wakeups out;
  EXPECT_EQ(kv.append("a", "xy", out).value(), 2u);
  EXPECT_EQ(kv.append("a", "z", out).value(), 3u);
  EXPECT_EQ(*kv.find("a"), "xyz");
  EXPECT_EQ(kv.compare_and_swap("a", "no", "1", out).value(), "xyz");
  EXPECT_EQ(*kv.find("a"), "xyz");
  EXPECT_EQ(kv.compare_and_swap("a", "xyz", "1", out).value(), "xyz");
  EXPECT_EQ(*kv.find("a"), "1");
  EXPECT_EQ(kv.compare_and_swap("b", "1", "2", out).value(), std::nullopt);
  EXPECT_EQ(kv.find("b"), nullptr);
  EXPECT_EQ(kv.compare_and_swap("b", "", "2", out).value(), std::nullopt);
  EXPECT_EQ(*kv.find("b"), "2");
}

TEST(Kv, EveryChangeWakesTheWaitersOfItsKey) {
  Kv kv;
  Kv::Wakeups out;
  ASSERT_TRUE(kv.wait("a", 1, std::nullopt).ok());
  ASSERT_TRUE(kv.wait("a", 2, kStart + milliseconds(5)).ok());
  ASSERT_TRUE(kv.wait("b", 3, std::nullopt).ok());
  ASSERT_TRUE(kv.append("a", "v", out).ok());
  ASSERT_EQ(out.size(), 2u);
  EXPECT_EQ(out[0].ticket, 1u);
  EXPECT_EQ(out[1].value, "v");
  out.clear();
  ASSERT_TRUE(kv.add("b", 1, out).ok());
  ASSERT_EQ(out.size(), 1u);
  EXPECT_EQ(out[0].ticket, 3u);
  EXPECT_FALSE(kv.next_deadline());
}

TEST(Kv, WaitersExpire) {
  Kv kv;
  Kv::Wakeups out;
  ASSERT_TRUE(kv.wait("a", 1, kStart + milliseconds(20)).ok());
  ASSERT_TRUE(kv.wait("a", 2, kStart + milliseconds(10)).ok());
  ASSERT_TRUE(kv.wait("a", 3, std::nullopt).ok());
  EXPECT_EQ(*kv.next_deadline(), kStart + milliseconds(10));
  kv.expire(kStart + milliseconds(10), out);
  ASSERT_EQ(out.size(), 1u);
  EXPECT_EQ(out[0].ticket, 2u);
  EXPECT_FALSE(out[0].value);
  kv.forget(1);
  EXPECT_FALSE(kv.next_deadline());
  EXPECT_THAT(kv.take_waiters(), testing::ElementsAre(3u));
}

TEST(Kv, MemoryIsBounded) {
  Kv kv(1000);
  Kv::Wakeups out;
  ASSERT_TRUE(kv.set("a", std::string(500, 'x'), out).ok());
  EXPECT_EQ(kv.set("b", std::string(500, 'x'), out).code(), Code::kNoMemory);
  EXPECT_EQ(kv.append("a", std::string(500, 'x'), out).status().code(), Code::kNoMemory);
  EXPECT_EQ(kv.find("a")->size(), 500u);
  ASSERT_TRUE(kv.set("a", std::string(800, 'x'), out).ok());
  EXPECT_TRUE(kv.remove("a"));
  ASSERT_TRUE(kv.set("b", std::string(800, 'x'), out).ok());
  for (size_t i = 0; i < Kv::kMaxWaiters; ++i) ASSERT_TRUE(kv.wait("w", i, std::nullopt).ok());
  EXPECT_EQ(kv.wait("w", 0, std::nullopt).code(), Code::kNoMemory);
}

}  // namespace
}  // namespace symm::store
