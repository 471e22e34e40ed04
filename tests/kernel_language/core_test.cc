// Flags between cores, per-core variables, sorting, masked comparison and selection, broadcast.
#include "core_kernels.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "device_fixture.h"

namespace symm::kernel_test {
namespace {

class CoreTest : public DeviceTest, public testing::WithParamInterface<uint32_t> {};

TEST_P(CoreTest, FlagsOfModeZeroJoinAllCores) {
  const size_t cores = 2 * GetParam();
  DeviceArray<int32_t> slots(cores, 0);
  DeviceArray<int32_t> errors(cores, 0);
  launch_cross_rounds(stream_, 0, GetParam(), 40, &slots[0], &errors[0]);
  synchronize();
  for (size_t i = 0; i < cores; ++i) EXPECT_EQ(errors[i], 0) << "core " << i;
}

TEST_P(CoreTest, FlagsOfModeOneJoinTheCoresOfABlock) {
  const size_t cores = 2 * GetParam();
  DeviceArray<int32_t> slots(cores, 0);
  DeviceArray<int32_t> errors(cores, 0);
  launch_cross_rounds(stream_, 1, GetParam(), 40, &slots[0], &errors[0]);
  synchronize();
  for (size_t i = 0; i < cores; ++i) EXPECT_EQ(errors[i], 0) << "core " << i;
}

TEST_P(CoreTest, FlagsThatCannotComeEndTheKernel) {
  const char* const texts[] = {
      "waits for a cube core",
      "can never end: every core waits",
      "can never end: every core",
      "flag 16 is not in 0..15",
      "was set 16 times before the slowest core",
  };
  static_assert(sizeof(texts) / sizeof(texts[0]) == static_cast<size_t>(CrossMisuse::kCount));
  for (int what = 0; what < static_cast<int>(CrossMisuse::kCount); ++what) {
    launch_cross_misuse(stream_, static_cast<CrossMisuse>(what), GetParam());
    expect_error(texts[what]);
  }
}

TEST_P(CoreTest, BlockLocalVariablesBelongToTheirCore) {
  const uint32_t blocks = GetParam();
  DeviceArray<int32_t> out(4 * blocks, -1);
  const int32_t before = host_block_local();
  EXPECT_GE(before, 7) << "host threads have their own";
  for (int again = 0; again < 3; ++again) {
    launch_block_local(stream_, blocks, &out[0]);
    synchronize();
    for (int32_t core = 0; core < static_cast<int32_t>(blocks); ++core) {
      const size_t at = 4 * static_cast<size_t>(core);
      EXPECT_EQ(out[at], 7 + core + 1) << "every launch starts from the initialiser";
      EXPECT_EQ(out[at + 1], core + 1);
      EXPECT_EQ(out[at + 2], 6 + 2 * (core + 1));
      EXPECT_EQ(out[at + 3], 5);
    }
  }
  EXPECT_EQ(host_block_local(), before + 1);
}

INSTANTIATE_TEST_SUITE_P(Blocks, CoreTest, testing::Values(1u, 3u, 20u, 48u));

class SortTest : public DeviceTest {};

struct FloatPair {
  float score;
  uint32_t index;
};

std::vector<size_t> expected_order(const std::vector<float>& scores) {
  std::vector<size_t> order(scores.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](size_t a, size_t b) { return scores[a] > scores[b]; });
  return order;
}

// Few different values, so that many are equal; exact in half too.
std::vector<float> some_scores() {
  std::vector<float> scores(128);
  for (size_t i = 0; i < scores.size(); ++i)
    scores[i] = static_cast<float>(static_cast<int>(i * 37 % 50) - 20);
  return scores;
}

TEST_F(SortTest, StretchesAreSortedAndMergedWithTheirIndices) {
  DeviceArray<float> scores(some_scores());
  DeviceArray<uint8_t> pairs(1024, 0);
  DeviceArray<uint16_t> taken(4, 99);
  launch_sort_float(stream_, &scores[0], &pairs[0], &taken[0]);
  synchronize();
  const auto order = expected_order(some_scores());
  for (size_t i = 0; i < order.size(); ++i) {
    FloatPair pair;
    std::memcpy(&pair, &pairs[8 * i], 8);
    EXPECT_EQ(pair.score, some_scores()[order[i]]) << i;
    EXPECT_EQ(pair.index, order[i]) << i;
  }
  EXPECT_EQ(std::max(taken[0], taken[1]), 32) << "it stops when a list is used up";
  EXPECT_LT(std::min(taken[0], taken[1]), 32);
  EXPECT_EQ(taken[2], 0) << "lists without their bit take no part";
}

TEST_F(SortTest, ScoresOfHalfTakeEightBytesPerPairToo) {
  const auto scores = some_scores();
  DeviceArray<uint16_t> bits(128, 0);
  for (size_t i = 0; i < 128; ++i) {
    // Small integers: sign, exponent, and the leading bits of the fraction.
    const float magnitude = std::fabs(scores[i]);
    int exponent = 0;
    const float fraction = std::frexp(magnitude, &exponent);  // in [0.5, 1)
    uint16_t value = 0;
    if (magnitude != 0) {
      value = static_cast<uint16_t>(((exponent + 14) << 10) |
                                    static_cast<int>((fraction * 2 - 1) * 1024));
    }
    bits[i] = static_cast<uint16_t>(value | (scores[i] < 0 ? 0x8000 : 0));
  }
  DeviceArray<uint8_t> pairs(1024, 0);
  DeviceArray<uint16_t> taken(4, 99);
  launch_sort_half(stream_, bits.get(), &pairs[0], &taken[0]);
  synchronize();
  const auto order = expected_order(scores);
  for (size_t i = 0; i < order.size(); ++i) {
    uint16_t score = 0;
    uint32_t index = 0;
    std::memcpy(&score, &pairs[8 * i], 2);
    std::memcpy(&index, &pairs[8 * i + 4], 4);
    EXPECT_EQ(score, bits[order[i]]) << i;
    EXPECT_EQ(index, order[i]) << i;
  }
}

class MaskedTest : public DeviceTest {};

TEST_F(MaskedTest, ComparisonAndSelectionTouchActiveElementsOnly) {
  std::vector<float> a(128);
  std::vector<float> b(128);
  for (size_t i = 0; i < 128; ++i) {
    a[i] = static_cast<float>(i % 7);
    b[i] = static_cast<float>(i % 5);
  }
  for (const uint64_t mask : {1u, 33u, 64u}) {
    DeviceArray<float> x(a);
    DeviceArray<float> y(b);
    DeviceArray<uint8_t> bits(32, 0);
    DeviceArray<float> by_bits(128, 0);
    DeviceArray<float> by_scalar(128, 0);
    DeviceArray<float> by_register(128, 0);
    launch_masked_compare(stream_, &x[0], &y[0], mask, &bits[0], &by_bits[0], &by_scalar[0],
                          &by_register[0]);
    synchronize();
    for (size_t i = 0; i < 128; ++i) {
      const bool active = i % 64 < mask;
      const bool less = a[i] < b[i];
      EXPECT_EQ(bits[i / 8] >> (i % 8) & 1, active && less) << i;
      EXPECT_EQ(by_bits[i], !active ? -1 : less ? a[i] : b[i]) << i;
      EXPECT_EQ(by_scalar[i], !active ? -1 : less ? a[i] : 100) << i;
      EXPECT_EQ(by_register[i], a[i % 64] >= b[i % 64] ? a[i] : b[i]) << i;
    }
  }
}

TEST_F(MaskedTest, BroadcastRepeatsAlongTheAxis) {
  DeviceArray<float> row(std::vector<float>{1, 2, 3, 4, 5, 6, 7, 8});
  DeviceArray<float> column(std::vector<float>{10, 20, 30, 40, 0, 0, 0, 0});
  DeviceArray<float> out(72, 0);
  launch_broadcast(stream_, &row[0], &column[0], &out[0]);
  synchronize();
  for (size_t r = 0; r < 4; ++r) {
    for (size_t c = 0; c < 8; ++c) {
      EXPECT_EQ(out[r * 8 + c], row[c]);
      EXPECT_EQ(out[32 + r * 8 + c], column[r]);
      EXPECT_EQ(out[64 + c], 10);
    }
  }
}

class CapturedKernelTest : public DeviceTest {};

TEST_F(CapturedKernelTest, FaultM4_FreedKernelArgumentMakesTheGraphUnusable) {
  DeviceArray<float> row(8, 1);
  DeviceArray<float> column(8, 2);
  void* out = nullptr;
  ASSERT_EQ(aclrtMalloc(&out, 72 * sizeof(float), ACL_MEM_MALLOC_HUGE_FIRST), ACL_SUCCESS);
  ASSERT_EQ(aclmdlRICaptureBegin(stream_, ACL_MODEL_RI_CAPTURE_MODE_RELAXED), ACL_SUCCESS);
  launch_broadcast(stream_, &row[0], &column[0], static_cast<float*>(out));
  EXPECT_EQ(aclrtFree(out), ACL_ERROR_RT_MODEL_CAPTURED);
  aclmdlRI graph = nullptr;
  ASSERT_EQ(aclmdlRICaptureEnd(stream_, &graph), ACL_SUCCESS);
  ASSERT_EQ(aclmdlRIExecuteAsync(graph, stream_), ACL_SUCCESS);
  synchronize();
  EXPECT_EQ(aclrtFree(out), ACL_SUCCESS);
  EXPECT_EQ(aclmdlRIExecuteAsync(graph, stream_), ACL_ERROR_RT_STREAM_CAPTURE_INVALIDATED);
  EXPECT_NE(error().find("kernel broadcast"), std::string::npos) << error();
  EXPECT_EQ(aclmdlRIDestroy(graph), ACL_SUCCESS);
}

}  // namespace
}  // namespace symm::kernel_test
