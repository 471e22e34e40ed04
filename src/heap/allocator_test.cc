#include "heap/allocator.h"

#include <gtest/gtest.h>

#include <map>
#include <random>
#include <vector>

namespace symm {
namespace {

constexpr uint64_t kMiB = 1 << 20;

TEST(Allocator, GivesOffsetsFromTheStart) {
  Allocator allocator(4 * kMiB);
  EXPECT_EQ(allocator.take(100), 0u);
  EXPECT_EQ(allocator.take(1), 112u);
  EXPECT_EQ(allocator.size_of(0), 112u);
  EXPECT_EQ(allocator.size_of(112), 16u);
  EXPECT_EQ(allocator.in_use(), 128u);
}

TEST(Allocator, RefusesZeroAndTooMuch) {
  Allocator allocator(kMiB);
  EXPECT_FALSE(allocator.take(0));
  EXPECT_FALSE(allocator.take(kMiB + 1));
  EXPECT_FALSE(allocator.take(UINT64_MAX));
  EXPECT_FALSE(allocator.take(UINT64_MAX - 8));
  EXPECT_EQ(allocator.take(kMiB), 0u);
  EXPECT_FALSE(allocator.take(1));
}

// Four blocks of a quarter; two that do not touch are too small together, the one between joins
// all.
TEST(Allocator, NeighboursCoalesce) {
  Allocator allocator(4 * kMiB + 916992);
  std::vector<uint64_t> at;
  for (int i = 0; i < 4; ++i) at.push_back(*allocator.take(kMiB));
  EXPECT_TRUE(allocator.give_back(at[1]));
  EXPECT_TRUE(allocator.give_back(at[3]));
  EXPECT_FALSE(allocator.take(2 * kMiB));
  EXPECT_TRUE(allocator.give_back(at[2]));
  EXPECT_EQ(allocator.take(3 * kMiB), at[1]);
}

TEST(Allocator, OnlyStartsOfLiveBlocksCanBeGivenBack) {
  Allocator allocator(kMiB);
  uint64_t at = *allocator.take(1000);
  EXPECT_FALSE(allocator.give_back(at + 16));
  EXPECT_FALSE(allocator.give_back(at + 5000));
  EXPECT_TRUE(allocator.give_back(at));
  EXPECT_FALSE(allocator.give_back(at));
  EXPECT_EQ(allocator.in_use(), 0u);
  EXPECT_EQ(allocator.largest_free(), kMiB);
}

TEST(Allocator, AlignmentLeavesTheGapFree) {
  Allocator allocator(kMiB);
  EXPECT_EQ(allocator.take(16), 0u);
  EXPECT_EQ(allocator.take(64, 4096), 4096u);
  EXPECT_EQ(allocator.take(16), 16u);
  EXPECT_EQ(allocator.take(64, 64 * 1024), 64u * 1024);
  ASSERT_EQ(allocator.take(16, 1ULL << 40), std::nullopt);
}

TEST(Allocator, BlockAtFindsTheOwnerOfAnOffset) {
  Allocator allocator(kMiB);
  uint64_t first = *allocator.take(100);
  uint64_t second = *allocator.take(100);
  EXPECT_EQ(allocator.block_at(first + 99)->offset, first);
  EXPECT_EQ(allocator.block_at(second)->offset, second);
  EXPECT_FALSE(allocator.block_at(second + 4096));
}

// Against a model that keeps every byte: no overlap, everything inside, first fit, all free at the
// end.
TEST(Allocator, RandomCallsAgreeWithAModel) {
  constexpr uint64_t kCapacity = 1 << 14;
  std::mt19937 random(7);
  Allocator allocator(kCapacity);
  Allocator twin(kCapacity);
  std::vector<bool> taken(kCapacity / Allocator::kGrain, false);
  std::map<uint64_t, uint64_t> live;
  for (int round = 0; round < 20000; ++round) {
    if (live.empty() || random() % 2 == 0) {
      uint64_t bytes = 1 + random() % 700;
      uint64_t alignment = Allocator::kGrain << (random() % 5);
      uint64_t grains = (bytes + 15) / 16;
      std::optional<uint64_t> expected;
      for (uint64_t at = 0; at + grains <= taken.size() && !expected; at += alignment / 16) {
        bool free = true;
        for (uint64_t i = 0; i < grains && free; ++i) free = !taken[at + i];
        if (free) expected = at * 16;
      }
      auto got = allocator.take(bytes, alignment);
      ASSERT_EQ(got, expected);
      ASSERT_EQ(twin.take(bytes, alignment), got);
      if (!got) continue;
      for (uint64_t i = 0; i < grains; ++i) taken[*got / 16 + i] = true;
      live[*got] = grains;
    } else {
      auto victim = std::next(live.begin(), static_cast<long>(random() % live.size()));
      ASSERT_TRUE(allocator.give_back(victim->first));
      ASSERT_TRUE(twin.give_back(victim->first));
      for (uint64_t i = 0; i < victim->second; ++i) taken[victim->first / 16 + i] = false;
      live.erase(victim);
    }
  }
  for (const auto& [at, grains] : live) ASSERT_TRUE(allocator.give_back(at));
  EXPECT_EQ(allocator.largest_free(), kCapacity);
}

}  // namespace
}  // namespace symm
