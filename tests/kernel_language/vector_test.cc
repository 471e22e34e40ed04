#include "vector_kernels.h"

#include <cmath>
#include <limits>

#include "device_fixture.h"
#include "opdev/bfloat16.h"
#include "opdev/fp16_t.h"

namespace symm::kernel_test {
namespace {

class VectorTest : public DeviceTest {};

// One element of the reference, in double or 64-bit integers; the test rounds or wraps it to the
// type.
template <typename T>
T reference(Op op, T ta, T tb, T td) {
  if constexpr (std::is_integral_v<T>) {
    const int64_t a = ta, b = tb, d = td;
    switch (op) {
      case Op::kAdd:
        return static_cast<T>(a + b);
      case Op::kSub:
        return static_cast<T>(a - b);
      case Op::kMul:
        return static_cast<T>(a * b);
      case Op::kMax:
        return static_cast<T>(std::max(a, b));
      case Op::kMin:
        return static_cast<T>(std::min(a, b));
      case Op::kRelu:
        return static_cast<T>(std::max<int64_t>(a, 0));
      case Op::kAdds:
        return static_cast<T>(a + kScalar);
      case Op::kMuls:
        return static_cast<T>(a * kScalar);
      case Op::kMaxs:
        return static_cast<T>(std::max<int64_t>(a, kScalar));
      case Op::kMins:
        return static_cast<T>(std::min<int64_t>(a, kScalar));
      case Op::kAbs:
        return static_cast<T>(a < 0 ? -a : a);
      case Op::kMulAddDst:
        return static_cast<T>(a * b + d);
      case Op::kAnd:
        return static_cast<T>(a & b);
      case Op::kOr:
        return static_cast<T>(a | b);
      case Op::kNot:
        return static_cast<T>(~a);
      case Op::kShiftLeft:
        return static_cast<T>(static_cast<uint64_t>(a) << kScalar);
      case Op::kShiftRight:
        return static_cast<T>(a >> kScalar);
      default:
        return T(0);
    }
  } else {
    const double a = static_cast<float>(ta), b = static_cast<float>(tb), d = static_cast<float>(td);
    switch (op) {
      case Op::kAdd:
        return T(a + b);
      case Op::kSub:
        return T(a - b);
      case Op::kMul:
        return T(a * b);
      case Op::kMax:
        return T(std::max(a, b));
      case Op::kMin:
        return T(std::min(a, b));
      case Op::kRelu:
        return T(std::max(a, 0.0));
      case Op::kAdds:
        return T(a + kScalar);
      case Op::kMuls:
        return T(a * kScalar);
      case Op::kMaxs:
        return T(std::max<double>(a, kScalar));
      case Op::kMins:
        return T(std::min<double>(a, kScalar));
      case Op::kAbs:
        return T(std::fabs(a));
      case Op::kMulAddDst:
        return T(a * b + d);
      case Op::kDiv:
        return T(a / b);
      case Op::kExp:
        return T(std::exp(a));
      case Op::kLn:
        return T(std::log(a));
      case Op::kSqrt:
        return T(std::sqrt(a));
      case Op::kRsqrt:
        return T(1 / std::sqrt(a));
      case Op::kReciprocal:
        return T(1 / a);
      case Op::kLeakyRelu:
        return T(a < 0 ? a * kScalar : a);
      case Op::kAxpy:
        return T(d + a * kScalar);
      default:
        return T(0);
    }
  }
}

// Operations that round once give the nearest value; the others may be off by the last bits.
bool close(float got, float wanted, double epsilon) {
  if (std::isnan(got) || std::isnan(wanted)) return std::isnan(got) == std::isnan(wanted);
  if (got == wanted) return true;
  return std::fabs(static_cast<double>(got) - wanted) <=
         3 * epsilon * std::max(1.0, std::fabs(static_cast<double>(wanted)));
}

template <typename T>
void check_operations(aclrtStream stream, Element type, Op first, Op last) {
  for (int o = static_cast<int>(first); o < static_cast<int>(last); ++o) {
    for (const int count : {1, 7, 64, 1000}) {
      const size_t n = static_cast<size_t>(count);
      const Op op = static_cast<Op>(o);
      const bool positive = op == Op::kLn || op == Op::kSqrt || op == Op::kRsqrt;
      DeviceArray<T> a(n), b(n), out(n);
      std::vector<T> before(n);
      for (size_t i = 0; i < n; ++i) {
        const int value = static_cast<int>(i * 37 % 211) - (positive || op == Op::kExp ? 0 : 100);
        a[i] = static_cast<T>(op == Op::kExp ? value % 9 : value + (positive ? 1 : 0));
        b[i] = static_cast<T>(static_cast<int>(i * 11 % 97) + 1);
        out[i] = before[i] = static_cast<T>(static_cast<int>(i % 5));
      }
      launch_operation(stream, op, type, a.get(), b.get(), out.get(), count);
      ASSERT_EQ(aclrtSynchronizeStreamWithTimeout(stream, 60000), ACL_SUCCESS);
      for (size_t i = 0; i < n; ++i) {
        const T wanted = reference<T>(op, a[i], b[i], before[i]);
        if constexpr (std::is_integral_v<T>) {
          ASSERT_EQ(out[i], wanted) << "op " << o << " at " << i;
        } else {
          const double epsilon = static_cast<float>(std::numeric_limits<T>::epsilon());
          ASSERT_TRUE(close(out[i], wanted, epsilon))
              << "op " << o << " at " << i << ": " << out[i] << " should be " << wanted;
        }
      }
    }
  }
}

TEST_F(VectorTest, OperationsOnFloatingPoint) {
  check_operations<op::fp16_t>(stream_, Element::kHalf, Op::kAdd, Op::kFirstInteger);
  check_operations<op::bfloat16>(stream_, Element::kBrain, Op::kAdd, Op::kFirstInteger);
  check_operations<float>(stream_, Element::kFloat, Op::kAdd, Op::kFirstInteger);
}

TEST_F(VectorTest, OperationsOnIntegers) {
  const auto check = [&](auto element, Element type) {
    check_operations<decltype(element)>(stream_, type, Op::kAdd, Op::kFirstFloat);
    check_operations<decltype(element)>(stream_, type, Op::kFirstInteger, Op::kCount);
  };
  check(int16_t(), Element::kInt16);
  check(int32_t(), Element::kInt32);
  check(uint16_t(), Element::kUint16);
  check(uint32_t(), Element::kUint32);
  check(int8_t(), Element::kInt8);
  check(int64_t(), Element::kInt64);
}

template <typename T>
void check_masked(aclrtStream stream, bool wide, const MaskedShape& s) {
  DeviceArray<T> a(kMaskedElements), b(kMaskedElements), out(kMaskedElements, T(-1));
  for (size_t i = 0; i < kMaskedElements; ++i) {
    a[i] = static_cast<T>(i % 1000);
    b[i] = static_cast<T>(2 * (i % 700));
  }
  std::vector<T> wanted(kMaskedElements, T(-1));
  const size_t per_block = 32 / sizeof(T);
  const size_t per_repeat = 256 / sizeof(T);
  const size_t repeats = s.form == 2 ? (static_cast<size_t>(s.number) + per_repeat - 1) / per_repeat
                                     : static_cast<size_t>(s.repeat);
  for (size_t r = 0; r < repeats; ++r) {
    for (size_t e = 0; e < per_repeat; ++e) {
      bool active = false;
      if (s.form == 2) {
        active = r * per_repeat + e < static_cast<size_t>(s.number);
      } else if (s.number != 0 && s.form == 0) {
        active = e < static_cast<size_t>(s.number);
      } else {
        active = (s.mask[e / 64] >> (e % 64)) & 1;
      }
      if (!active) continue;
      const auto at = [&](int operand) {
        return (r * static_cast<size_t>(s.stride[operand]) +
                e / per_block * static_cast<size_t>(s.block[operand])) *
                   per_block +
               e % per_block;
      };
      wanted[at(0)] = static_cast<T>(a[at(1)] + b[at(2)]);
    }
  }
  launch_masked_add(stream, wide, a.get(), b.get(), out.get(), s);
  ASSERT_EQ(aclrtSynchronizeStreamWithTimeout(stream, 60000), ACL_SUCCESS);
  ASSERT_EQ(out.values(), wanted);
}

TEST_F(VectorTest, MasksAndStridesAgainstAModel) {
  const MaskedShape shapes[] = {
      {{0, 0}, 64, 1, {1, 1, 1}, {8, 8, 8}, 0},
      {{0, 0}, 17, 5, {1, 1, 1}, {8, 8, 8}, 0},
      {{0, 0}, 64, 4, {2, 1, 1}, {16, 8, 0}, 0},
      {{0, 0}, 40, 3, {1, 2, 1}, {8, 16, 9}, 0},
      {{0xF0F0F0F0F0F0F0F0ull, 0}, 0, 2, {1, 1, 1}, {8, 8, 8}, 0},
      {{1ull << 63, 0}, 0, 7, {1, 3, 1}, {8, 24, 8}, 0},
      {{0x5555555555555555ull, 0}, 0, 3, {1, 1, 1}, {8, 8, 8}, 1},
      {{0, 0}, 300, 1, {1, 1, 1}, {8, 8, 8}, 2},
      {{0, 0}, 64, 0, {1, 1, 1}, {8, 8, 8}, 0},
  };
  for (const MaskedShape& shape : shapes) {
    check_masked<float>(stream_, true, shape);
    check_masked<int16_t>(stream_, false, shape);
  }
  check_masked<int16_t>(stream_, false, {{0, 0}, 128, 3, {1, 1, 1}, {8, 8, 8}, 0});
  check_masked<int16_t>(
      stream_, false,
      {{0x8000000000000001ull, 0x8000000000000001ull}, 0, 2, {1, 1, 2}, {8, 8, 16}, 0});
}

TEST_F(VectorTest, RepeatsOfACastCoverTheLargerType) {
  DeviceArray<float> floats(kMaskedElements);
  for (size_t i = 0; i < floats.size(); ++i) floats[i] = static_cast<float>(i % 2000);
  DeviceArray<op::fp16_t> halves(kMaskedElements, -1);
  launch_masked_cast(stream_, floats.get(), halves.get(), {{0, 0}, 64, 3, {1, 1, 0}, {4, 8, 0}, 0});
  synchronize();
  for (size_t i = 0; i < kMaskedElements; ++i) {
    EXPECT_EQ(static_cast<float>(halves[i]), i < 192 ? static_cast<float>(i % 2000) : -1.0f) << i;
  }
}

TEST_F(VectorTest, Reductions) {
  for (const int count : {1, 5, 64, 999}) {
    const size_t n = static_cast<size_t>(count);
    DeviceArray<float> floats(n);
    DeviceArray<op::fp16_t> halves(n);
    float sum = 0, half_sum = 0;
    size_t largest = 0, smallest = 0;
    for (size_t i = 0; i < n; ++i) {
      floats[i] = static_cast<float>(static_cast<int>(i * 83 % 101) - 50);
      halves[i] = static_cast<float>(i * 83 % 3);
      sum += floats[i];
      half_sum += static_cast<float>(halves[i]);
      if (floats[i] > floats[largest]) largest = i;
      if (floats[i] < floats[smallest]) smallest = i;
    }
    size_t largest_half = 0;
    for (size_t i = 0; i < n; ++i) {
      if (halves[i] > halves[largest_half]) largest_half = i;
    }
    DeviceArray<float> out(8, -1.0f);
    launch_reduce(stream_, floats.get(), halves.get(), &out[0], count);
    synchronize();
    EXPECT_EQ(out[0], sum);
    EXPECT_EQ(out[1], floats[largest]);
    EXPECT_EQ(out[2], static_cast<float>(largest));
    EXPECT_EQ(out[3], floats[smallest]);
    EXPECT_EQ(out[4], static_cast<float>(smallest));
    EXPECT_EQ(out[5], static_cast<float>(op::fp16_t(half_sum)));
    EXPECT_EQ(out[6], static_cast<float>(halves[largest_half]));
    EXPECT_EQ(out[7], static_cast<float>(largest_half));
  }
}

TEST_F(VectorTest, ReductionsPerRepeatAndPerBlock) {
  DeviceArray<float> floats(256);
  for (size_t i = 0; i < 256; ++i) floats[i] = static_cast<float>(i * 29 % 64);
  for (const int mask : {64, 10, 1}) {
    DeviceArray<float> sums(4), bests(8), blocks(32);
    launch_whole_reduce(stream_, floats.get(), &sums[0], &bests[0], &blocks[0], mask);
    synchronize();
    for (size_t r = 0; r < 4; ++r) {
      float sum = 0;
      size_t best = 0;
      for (size_t i = 0; i < static_cast<size_t>(mask); ++i) {
        sum += floats[64 * r + i];
        if (floats[64 * r + i] > floats[64 * r + best]) best = i;
      }
      EXPECT_EQ(sums[r], sum);
      EXPECT_EQ(bests[2 * r], floats[64 * r + best]);
      uint32_t index = 0;
      std::memcpy(&index, &bests[2 * r + 1], sizeof index);
      EXPECT_EQ(index, best);
    }
    for (size_t block = 0; block < 32; ++block) {
      float sum = 0;
      for (size_t i = 0; i < 8; ++i) sum += floats[8 * block + i];
      EXPECT_EQ(blocks[block], sum);
    }
  }
}

TEST_F(VectorTest, CompareAndSelect) {
  for (const int count : {1, 8, 61, 512}) {
    const size_t n = static_cast<size_t>(count);
    DeviceArray<float> a(n), b(n), selected(6 * n, 0.0f);
    for (size_t i = 0; i < n; ++i) {
      a[i] = static_cast<float>(i % 7);
      b[i] = static_cast<float>(i % 5);
    }
    launch_compare_select(stream_, &a[0], &b[0], &selected[0], count);
    synchronize();
    for (size_t i = 0; i < n; ++i) {
      const bool bits[6] = {a[i]<b[i], a[i]> b[i], a[i] == b[i], a[i] <= b[i], a[i] >= b[i],
                            a[i] != b[i]};
      for (size_t mode = 0; mode < 6; ++mode) {
        const float otherwise = mode % 2 == 0 ? b[i] : -7.0f;
        EXPECT_EQ(selected[mode * n + i], bits[mode] ? a[i] : otherwise)
            << "mode " << mode << " at " << i;
      }
    }
  }
}

TEST_F(VectorTest, GatherTransposeBroadcastAndProgression) {
  DeviceArray<op::fp16_t> halves(256), gathered(100), transposed(256), broadcast(256);
  DeviceArray<uint32_t> offsets(100);
  DeviceArray<int32_t> progression(40);
  for (size_t i = 0; i < 256; ++i) halves[i] = static_cast<float>(i);
  for (size_t i = 0; i < 100; ++i) offsets[i] = static_cast<uint32_t>(2 * (i * 13 % 200));
  launch_moves(stream_, halves.get(), &offsets[0], gathered.get(), transposed.get(),
               broadcast.get(), &progression[0]);
  synchronize();
  for (size_t i = 0; i < 100; ++i) EXPECT_EQ(gathered[i], static_cast<float>(i * 13 % 200 + 1));
  for (size_t i = 0; i < 256; ++i) {
    EXPECT_EQ(transposed[i], static_cast<float>(i % 16 * 16 + i / 16));
    EXPECT_EQ(broadcast[i], static_cast<float>(i / 16));
  }
  for (size_t i = 0; i < 40; ++i) EXPECT_EQ(progression[i], 5 - 3 * static_cast<int>(i));
}

}  // namespace
}  // namespace symm::kernel_test
