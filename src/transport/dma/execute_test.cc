#include "transport/dma/execute.h"

#include <gtest/gtest.h>

#include <cstring>
#include <vector>

#include "ascendc/small_float.h"

namespace symm::dma {
namespace {

symm_descriptor make(uint32_t kind, uint32_t width, void* target, uint64_t operand = 0,
                     uint64_t compare = 0, void* result = nullptr) {
  symm_descriptor d{};
  d.kind = kind;
  d.width = width;
  d.target = target;
  d.operand = operand;
  d.compare = compare;
  d.result = result;
  return d;
}

template <typename T>
class ExecuteAtomic : public ::testing::Test {};
using Words = ::testing::Types<uint8_t, uint16_t, uint32_t, uint64_t>;
TYPED_TEST_SUITE(ExecuteAtomic, Words);

TYPED_TEST(ExecuteAtomic, EveryOperationChangesTheWordAndFetchesTheOldOne) {
  using T = TypeParam;
  struct Case {
    uint32_t kind;
    uint64_t operand, compare;
    T before, after;
  };
  const T top = static_cast<T>(~T{0});
  const Case cases[] = {
      {SYMM_DESC_ADD, 3, 0, 5, 8},    {SYMM_DESC_ADD, 1, 0, top, 0}, {SYMM_DESC_SWAP, 9, 0, 5, 9},
      {SYMM_DESC_AND, 6, 0, 5, 4},    {SYMM_DESC_OR, 6, 0, 5, 7},    {SYMM_DESC_XOR, 6, 0, 5, 3},
      {SYMM_DESC_FETCH, 77, 0, 5, 5}, {SYMM_DESC_CAS, 9, 5, 5, 9},   {SYMM_DESC_CAS, 9, 4, 5, 5},
      {SYMM_DESC_ADD, top, 0, 5, 4},
  };
  for (const Case& c : cases) {
    T words[3] = {0x11, c.before, 0x22};
    T old = 0x33;
    ASSERT_TRUE(execute(make(c.kind, sizeof(T), &words[1], c.operand, c.compare, &old)));
    EXPECT_EQ(words[1], c.after) << "kind " << c.kind;
    EXPECT_EQ(old, c.before) << "kind " << c.kind;
    EXPECT_EQ(words[0], 0x11);
    EXPECT_EQ(words[2], 0x22);
    words[1] = c.before;
    ASSERT_TRUE(execute(make(c.kind, sizeof(T), &words[1], c.operand, c.compare)));
    EXPECT_EQ(words[1], c.after) << "without result, kind " << c.kind;
  }
  T word = 1;
  ASSERT_TRUE(execute(make(SYMM_DESC_STORE, sizeof(T), &word, 42)));
  EXPECT_EQ(word, 42);
}

TEST(Execute, CopiesBytesAtOddAddresses) {
  for (size_t bytes : {size_t{0}, size_t{1}, size_t{7}, size_t{64}, size_t{4097}}) {
    std::vector<char> source(bytes + 3), target(bytes + 3, 'x');
    for (size_t i = 0; i < source.size(); ++i) source[i] = static_cast<char>(i * 7);
    symm_descriptor d = make(SYMM_DESC_COPY, 0, target.data() + 1);
    d.source = source.data() + 2;
    d.bytes = bytes;
    ASSERT_TRUE(execute(d));
    EXPECT_EQ(std::memcmp(target.data() + 1, source.data() + 2, bytes), 0);
    EXPECT_EQ(target[0], 'x');
    EXPECT_EQ(target[bytes + 1], 'x');
  }
}

template <typename T>
uint64_t bits(T value) {
  uint64_t result = 0;
  std::memcpy(&result, &value, sizeof value);
  return result;
}

TEST(Execute, AddsFloatingPoint) {
  float f = 1.5f, old_f = 0;
  ASSERT_TRUE(execute(make(SYMM_DESC_FADD, 4, &f, bits(2.25f), 0, &old_f)));
  EXPECT_EQ(f, 3.75f);
  EXPECT_EQ(old_f, 1.5f);
  double d = -1;
  ASSERT_TRUE(execute(make(SYMM_DESC_FADD, 8, &d, bits(0.125))));
  EXPECT_EQ(d, -0.875);
  uint16_t h = HalfFormat::encode(1.5f);
  ASSERT_TRUE(execute(make(SYMM_DESC_HADD, 2, &h, HalfFormat::encode(-0.25f))));
  EXPECT_EQ(HalfFormat::decode(h), 1.25f);
  uint16_t b = BrainFormat::encode(256.f);
  ASSERT_TRUE(execute(make(SYMM_DESC_BADD, 2, &b, BrainFormat::encode(1.f))));
  EXPECT_EQ(BrainFormat::decode(b), 256.f) << "257 rounds to even";
}

TEST(Execute, RefusesWhatDoesNotExist) {
  uint64_t word = 7;
  EXPECT_FALSE(execute(make(0, 4, &word)));
  EXPECT_FALSE(execute(make(99, 4, &word)));
  EXPECT_FALSE(execute(make(SYMM_DESC_ADD, 3, &word, 1)));
  EXPECT_FALSE(execute(make(SYMM_DESC_FADD, 2, &word, 1)));
  EXPECT_EQ(word, 7u);
}

}  // namespace
}  // namespace symm::dma
