#include "heap/symmetric_heap.h"

#include <gtest/gtest.h>

#include <vector>

namespace symm {
namespace {

// Counts the calls and answers what the test wants.
class CountingBarrier : public AgreementBarrier {
 public:
  Status agree(const MemoryRecord& record) override {
    records.push_back(record);
    if (refuse) return SYMM_ERROR(kInvalidParam, "PE 1 asked for something else");
    return {};
  }
  std::vector<MemoryRecord> records;
  bool refuse = false;
};

class SymmetricHeapTest : public testing::Test {
 protected:
  static constexpr size_t kMiB = 1 << 20;
  void* take(size_t bytes) {
    auto got = heap_.allocate(MemoryCall::kMalloc, bytes, 0);
    return got.ok() ? got.value() : nullptr;
  }
  std::vector<std::byte> memory_{4 * kMiB + 4096};
  CountingBarrier barrier_;
  SymmetricHeap heap_{memory_.data(), memory_.size(), 0, &barrier_};
};

TEST_F(SymmetricHeapTest, ZeroBytesAndNullDoNotMeetTheOthers) {
  EXPECT_EQ(take(0), nullptr);
  EXPECT_TRUE(heap_.allocate(MemoryCall::kCalloc, 0, 0).ok());
  EXPECT_TRUE(heap_.release(nullptr).ok());
  EXPECT_TRUE(barrier_.records.empty());
}

TEST_F(SymmetricHeapTest, EveryOtherCallMeetsTheOthersOnce) {
  void* block = take(100);
  ASSERT_NE(block, nullptr);
  EXPECT_TRUE(heap_.release(block).ok());
  ASSERT_EQ(barrier_.records.size(), 2u);
  EXPECT_EQ(barrier_.records[0].size, 100u);
  EXPECT_EQ(barrier_.records[1].kind, MemoryCall::kFree);
}

TEST_F(SymmetricHeapTest, FailureMeetsTheOthersToo) {
  auto got = heap_.allocate(MemoryCall::kMalloc, 64 * kMiB, 0);
  EXPECT_EQ(got.status().code(), Code::kNoMemory);
  ASSERT_EQ(barrier_.records.size(), 1u);
  EXPECT_EQ(barrier_.records[0].outcome, MemoryRecord::kFailed);
  EXPECT_NE(take(kMiB), nullptr);
}

TEST_F(SymmetricHeapTest, ADifferenceTakesTheBlockBack) {
  barrier_.refuse = true;
  EXPECT_EQ(take(100), nullptr);
  EXPECT_EQ(heap_.in_use(), 0u);
  barrier_.refuse = false;
  EXPECT_EQ(take(100), memory_.data());
}

TEST_F(SymmetricHeapTest, CallocClears) {
  void* dirty = take(64);
  std::fill_n(static_cast<std::byte*>(dirty), 64, std::byte{0xff});
  EXPECT_TRUE(heap_.release(dirty).ok());
  auto clean = heap_.allocate(MemoryCall::kCalloc, 64, 0);
  ASSERT_EQ(clean.value(), dirty);
  for (int i = 0; i < 64; ++i) EXPECT_EQ(static_cast<std::byte*>(dirty)[i], std::byte{0});
}

TEST_F(SymmetricHeapTest, AlignmentMustBeAPowerOfTwo) {
  EXPECT_EQ(heap_.allocate(MemoryCall::kAlign, 64, 0).status().code(), Code::kInvalidParam);
  EXPECT_EQ(heap_.allocate(MemoryCall::kAlign, 64, 24).status().code(), Code::kInvalidParam);
  // The others hear of it.
  ASSERT_EQ(barrier_.records.size(), 2u);
  EXPECT_EQ(barrier_.records[1].outcome, MemoryRecord::kRefused);
  take(16);
  auto got = heap_.allocate(MemoryCall::kAlign, 64, 4096);
  EXPECT_EQ((static_cast<std::byte*>(got.value()) - memory_.data()) % 4096, 0);
}

TEST_F(SymmetricHeapTest, WrongFreesNameTheReasonAndChangeNothing) {
  auto* block = static_cast<std::byte*>(take(256));
  Status inside = heap_.release(block + 32);
  EXPECT_EQ(inside.code(), Code::kInvalidParam);
  EXPECT_NE(inside.text().find("lies 32 bytes inside the block of 256 bytes"), std::string::npos);
  EXPECT_TRUE(heap_.release(block).ok());
  Status again = heap_.release(block);
  EXPECT_NE(again.text().find("freed before"), std::string::npos);
  EXPECT_EQ(heap_.in_use(), 0u);
}

}  // namespace
}  // namespace symm
