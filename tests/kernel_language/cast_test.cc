#include <cmath>
#include <limits>

#include "device_fixture.h"
#include "opdev/bfloat16.h"
#include "opdev/fp16_t.h"
#include "vector_kernels.h"

namespace symm::kernel_test {
namespace {

class CastTest : public DeviceTest {};

enum Mode { kNone, kRint, kFloor, kCeil, kRound, kTrunc, kOdd, kModes };

// Rounds `value` to a multiple of `unit` by the mode, in double: exact for all values used here.
double round_to(double value, double unit, int mode) {
  const double scaled = value / unit;
  switch (mode) {
    case kFloor:
      return std::floor(scaled) * unit;
    case kCeil:
      return std::ceil(scaled) * unit;
    case kTrunc:
      return std::trunc(scaled) * unit;
    case kRound:
      return std::round(scaled) * unit;
    case kOdd: {
      const double below = std::floor(scaled);
      if (below == scaled) return value;
      return (std::fmod(std::fabs(below), 2) == 1 ? below : below + 1) * unit;
    }
    default:
      return std::nearbyint(scaled) * unit;
  }
}

// Step between neighbours of a format around a value.
double unit_of(double value, int mantissa_bits, int lowest_exponent) {
  int exponent = 0;
  std::frexp(value, &exponent);
  return std::ldexp(1.0, std::max(exponent - 1, lowest_exponent) - mantissa_bits);
}

template <typename T>
std::vector<float> cast_to(aclrtStream stream, Element to, int mode,
                           const std::vector<float>& values) {
  DeviceArray<float> source(values);
  DeviceArray<T> target(values.size(), T(0));
  launch_cast(stream, to, Element::kFloat, mode, source.get(), target.get(),
              static_cast<int>(values.size()));
  EXPECT_EQ(aclrtSynchronizeStreamWithTimeout(stream, 60000), ACL_SUCCESS);
  std::vector<float> result;
  for (size_t i = 0; i < values.size(); ++i) result.push_back(static_cast<float>(target[i]));
  return result;
}

TEST_F(CastTest, CastToIntegersRoundsByModeAndSaturates) {
  const std::vector<float> values = {0.0f,  0.4f,  0.5f,  0.6f,  1.0f,  1.5f,   2.5f,    3.5f,
                                     -0.4f, -0.5f, -0.6f, -1.5f, -2.5f, 126.7f, 100.25f, -100.75f};
  for (int mode = 0; mode < kModes; ++mode) {
    const std::vector<float> got = cast_to<int32_t>(stream_, Element::kInt32, mode, values);
    const std::vector<float> small = cast_to<int8_t>(stream_, Element::kInt8, mode, values);
    for (size_t i = 0; i < values.size(); ++i) {
      EXPECT_EQ(got[i], round_to(values[i], 1, mode)) << values[i] << " mode " << mode;
      EXPECT_EQ(small[i], round_to(values[i], 1, mode)) << values[i] << " mode " << mode;
    }
  }
  const std::vector<float> extremes = {1e10f, -1e10f,   INFINITY, -INFINITY,
                                       NAN,   40000.0f, -40000.0f};
  EXPECT_EQ(cast_to<int16_t>(stream_, Element::kInt16, kRint, extremes),
            (std::vector<float>{32767, -32768, 32767, -32768, 0, 32767, -32768}));
  EXPECT_EQ(cast_to<uint8_t>(stream_, Element::kUint8, kRint, extremes),
            (std::vector<float>{255, 0, 255, 0, 0, 255, 0}));
  EXPECT_EQ(cast_to<int32_t>(stream_, Element::kInt32, kRint, extremes)[0],
            static_cast<float>(INT32_MAX));
}

TEST_F(CastTest, CastToShortFloatsRoundsByMode) {
  std::vector<float> values;
  for (int i = 0; i < 400; ++i) {
    const float magnitude =
        std::ldexp(1.0f + static_cast<float>(i * 131 % 4096) / 4096.0f, i % 24 - 18);
    values.push_back(i % 2 != 0 ? -magnitude : magnitude);
  }
  for (const float exact_tie :
       {1.0f + 0x1p-11f, 1.0f + 0x1p-8f, 1.0f + 3 * 0x1p-11f, 0x1p-25f, 3 * 0x1p-25f, 0x1p-24f}) {
    values.push_back(exact_tie);
    values.push_back(-exact_tie);
  }
  for (int mode = 0; mode < kModes; ++mode) {
    const std::vector<float> halves = cast_to<op::fp16_t>(stream_, Element::kHalf, mode, values);
    const std::vector<float> brains = cast_to<op::bfloat16>(stream_, Element::kBrain, mode, values);
    for (size_t i = 0; i < values.size(); ++i) {
      EXPECT_EQ(halves[i], round_to(values[i], unit_of(values[i], 10, -14), mode))
          << values[i] << " mode " << mode;
      EXPECT_EQ(brains[i], round_to(values[i], unit_of(values[i], 7, -126), mode))
          << values[i] << " mode " << mode;
    }
  }
}

TEST_F(CastTest, CastToShortFloatsAtTheEndOfTheRange) {
  const std::vector<float> values = {65504.0f,  65519.9f, 65520.0f, 70000.0f, -65519.9f,
                                     -65520.0f, INFINITY, 1e-10f,   -1e-10f};
  const float inf = INFINITY;
  EXPECT_EQ(cast_to<op::fp16_t>(stream_, Element::kHalf, kRint, values),
            (std::vector<float>{65504, 65504, inf, inf, -65504, -inf, inf, 0, -0.0f}));
  EXPECT_EQ(cast_to<op::fp16_t>(stream_, Element::kHalf, kTrunc, values)[2], 65504.0f);
  EXPECT_EQ(cast_to<op::fp16_t>(stream_, Element::kHalf, kFloor, values)[5], -inf);
  EXPECT_EQ(cast_to<op::fp16_t>(stream_, Element::kHalf, kRound, values)[1], 65504.0f);
  EXPECT_EQ(cast_to<op::fp16_t>(stream_, Element::kHalf, kRound, values)[2], inf);
  EXPECT_EQ(cast_to<op::fp16_t>(stream_, Element::kHalf, kCeil, values)[7], 0x1p-24f);
  EXPECT_EQ(cast_to<op::fp16_t>(stream_, Element::kHalf, kFloor, values)[8], -0x1p-24f);
  EXPECT_TRUE(std::isnan(cast_to<op::fp16_t>(stream_, Element::kHalf, kFloor, {NAN})[0]));
}

TEST_F(CastTest, CastFromEveryType) {
  const auto one_way = [&](auto source_element, Element from, auto target_element, Element to) {
    using S = decltype(source_element);
    using D = decltype(target_element);
    DeviceArray<S> source(100);
    for (size_t i = 0; i < source.size(); ++i) source[i] = static_cast<S>(static_cast<int>(i));
    DeviceArray<D> target(100, D(0));
    launch_cast(stream_, to, from, kNone, source.get(), target.get(), 100);
    synchronize();
    for (size_t i = 0; i < source.size(); ++i) {
      ASSERT_EQ(static_cast<double>(target[i]), static_cast<double>(i))
          << static_cast<int>(from) << " to " << static_cast<int>(to);
    }
  };
  const auto all_targets = [&](auto source_element, Element from) {
    one_way(source_element, from, op::fp16_t(), Element::kHalf);
    one_way(source_element, from, op::bfloat16(), Element::kBrain);
    one_way(source_element, from, float(), Element::kFloat);
    one_way(source_element, from, int16_t(), Element::kInt16);
    one_way(source_element, from, int32_t(), Element::kInt32);
    one_way(source_element, from, int8_t(), Element::kInt8);
    one_way(source_element, from, uint8_t(), Element::kUint8);
    one_way(source_element, from, int64_t(), Element::kInt64);
  };
  all_targets(op::fp16_t(), Element::kHalf);
  all_targets(op::bfloat16(), Element::kBrain);
  all_targets(float(), Element::kFloat);
  all_targets(int16_t(), Element::kInt16);
  all_targets(int32_t(), Element::kInt32);
  all_targets(int8_t(), Element::kInt8);
  all_targets(uint8_t(), Element::kUint8);
  all_targets(int64_t(), Element::kInt64);
}

TEST_F(CastTest, CastFromLargeIntegersRoundsByMode) {
  DeviceArray<int32_t> source(
      std::vector<int32_t>{16777217, 16777219, -16777217, INT32_MAX, INT32_MIN, 33554435});
  for (int mode = 0; mode < kModes; ++mode) {
    DeviceArray<float> target(source.size(), 0.0f);
    launch_cast(stream_, Element::kFloat, Element::kInt32, mode, source.get(), target.get(),
                static_cast<int>(source.size()));
    synchronize();
    for (size_t i = 0; i < source.size(); ++i) {
      EXPECT_EQ(target[i], round_to(source[i], unit_of(source[i], 23, -126), mode))
          << source[i] << " mode " << mode;
    }
  }
}

}  // namespace
}  // namespace symm::kernel_test
