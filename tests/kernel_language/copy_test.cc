#include "copy_kernels.h"

#include "device_fixture.h"
#include "opdev/bfloat16.h"
#include "opdev/fp16_t.h"

namespace symm::kernel_test {
namespace {

class CopyTest : public DeviceTest {
 protected:
  static uint8_t pattern(size_t i) { return static_cast<uint8_t>(i * 7 + i / 256 + 1); }
};

constexpr size_t kRound = 32;
size_t round_up(size_t bytes) { return (bytes + kRound - 1) / kRound * kRound; }

// The documented layout, written down independently: -1 is "any value".
std::vector<int> model_pad_in(const std::vector<uint8_t>& source, const CopyShape& s,
                              size_t element) {
  std::vector<int> area(kCopyArea, 0xEE);
  const size_t left = s.pad ? s.left * element : 0;
  const size_t right = s.pad ? s.right * element : 0;
  const size_t used = left + s.bytes + right;
  for (size_t block = 0; block < s.blocks && s.bytes != 0; ++block) {
    const size_t at = block * (round_up(used) + s.target_gap * kRound);
    const size_t from = block * (s.bytes + s.source_gap);
    for (size_t i = 0; i < left; ++i) area[at + i] = (s.value >> (8 * (i % element))) & 0xFF;
    for (size_t i = 0; i < s.bytes; ++i) area[at + left + i] = source[from + i];
    for (size_t i = 0; i < right; ++i)
      area[at + left + s.bytes + i] = (s.value >> (8 * (i % element))) & 0xFF;
    for (size_t i = used; i < round_up(used); ++i) area[at + i] = -1;
  }
  return area;
}

const CopyShape kShapesIn[] = {
    {1, 32, 0, 0, false, 0, 0, 0},   {1, 4, 0, 0, false, 0, 0, 0},
    {3, 20, 12, 1, false, 0, 0, 0},  {5, 64, 0, 0, false, 0, 0, 0},
    {2, 100, 28, 3, true, 0, 7, 77}, {4, 8, 4, 0, true, 2, 4, 0x5a5a5a5a},
    {1, 60, 0, 0, true, 1, 0, 9},    {0, 32, 0, 0, false, 0, 0, 0},
    {3, 0, 4, 1, true, 1, 1, 1},     {7, 96, 4, 2, true, 8, 8, 1234},
    {1, 4000, 0, 0, false, 0, 0, 0},
};

TEST_F(CopyTest, PaddedCopyInFollowsItsUnits) {
  for (const int element : {1, 2, 4}) {
    for (const CopyShape& shape : kShapesIn) {
      DeviceArray<uint8_t> source(8192);
      for (size_t i = 0; i < source.size(); ++i) source[i] = pattern(i);
      DeviceArray<uint8_t> area(kCopyArea, 0);
      launch_pad_in(stream_, element, source.get() + 4, area.get(), shape);
      synchronize();
      std::vector<uint8_t> values = source.values();
      values.erase(values.begin(), values.begin() + 4);
      const std::vector<int> wanted = model_pad_in(values, shape, static_cast<size_t>(element));
      for (size_t i = 0; i < kCopyArea; ++i) {
        if (wanted[i] >= 0) {
          ASSERT_EQ(area[i], wanted[i]) << "byte " << i << " element " << element << " blocks "
                                        << shape.blocks << " of " << shape.bytes;
        }
      }
    }
  }
}

TEST_F(CopyTest, PaddedCopyOutWritesExactlyItsBytes) {
  for (const int element : {1, 2, 4}) {
    for (const CopyShape& shape : kShapesIn) {
      DeviceArray<uint8_t> area(kCopyArea);
      for (size_t i = 0; i < area.size(); ++i) area[i] = pattern(i);
      DeviceArray<uint8_t> target(8192, 0xEE);
      launch_pad_out(stream_, element, area.get(), target.get() + 4, shape);
      synchronize();
      std::vector<uint8_t> wanted(8192, 0xEE);
      for (size_t block = 0; block < shape.blocks; ++block) {
        for (size_t i = 0; i < shape.bytes; ++i) {
          wanted[4 + block * (shape.bytes + shape.target_gap) + i] =
              pattern(block * (round_up(shape.bytes) + shape.source_gap * kRound) + i);
        }
      }
      ASSERT_EQ(target.values(), wanted)
          << "element " << element << " blocks " << shape.blocks << " of " << shape.bytes;
    }
  }
}

TEST_F(CopyTest, CountIsRoundedDownTo32Bytes) {
  DeviceArray<uint8_t> source(kCopyArea);
  for (size_t i = 0; i < source.size(); ++i) source[i] = pattern(i);
  for (const uint32_t bytes : {0u, 30u, 32u, 94u, 128u}) {
    DeviceArray<uint8_t> target(kCopyArea, 0xEE);
    launch_data_copy(stream_, 0, source.get(), target.get(), {1, bytes, 0, 0, false, 0, 0, 0});
    synchronize();
    for (size_t i = 0; i < 256; ++i)
      EXPECT_EQ(target[i], i < bytes / 32 * 32 ? pattern(i) : 0xEE) << i << " " << bytes;
  }
}

TEST_F(CopyTest, BlockParametersCountIn32ByteUnits) {
  DeviceArray<uint8_t> source(kCopyArea);
  for (size_t i = 0; i < source.size(); ++i) source[i] = pattern(i);
  DeviceArray<uint8_t> target(kCopyArea, 0);
  launch_data_copy(stream_, 1, source.get(), target.get(), {3, 2, 1, 4, false, 0, 0, 0});
  synchronize();
  for (size_t block = 0; block < 3; ++block) {
    for (size_t i = 0; i < 64; ++i)
      EXPECT_EQ(target[block * 6 * 32 + i], pattern(block * 3 * 32 + i));
  }
}

TEST_F(CopyTest, CopiesWithinTheUnifiedBuffer) {
  DeviceArray<uint8_t> source(kCopyArea);
  for (size_t i = 0; i < source.size(); ++i) source[i] = pattern(i);
  DeviceArray<uint8_t> target(kCopyArea, 0xEE);
  launch_data_copy(stream_, 2, source.get(), target.get(), {1, 1024, 0, 0, false, 0, 0, 0});
  synchronize();
  for (size_t i = 0; i < 2048; ++i)
    EXPECT_EQ(target[i], i >= 32 && i < 32 + 1024 ? pattern(i) : 0xEE) << i;
}

template <typename T>
void check_add(aclrtStream stream, int type, uint32_t blocks, uint32_t elements) {
  DeviceArray<T> x(blocks * elements), y(blocks * elements), z(blocks * elements, T(0));
  for (size_t i = 0; i < x.size(); ++i) {
    x[i] = static_cast<T>(static_cast<int>(i % 2001) - 1000);
    y[i] = static_cast<T>(static_cast<int>(i * 3 % 517));
  }
  launch_add(stream, type, blocks, x.get(), y.get(), z.get(), elements);
  ASSERT_EQ(aclrtSynchronizeStreamWithTimeout(stream, 60000), ACL_SUCCESS);
  for (size_t i = 0; i < x.size(); ++i) {
    ASSERT_EQ(static_cast<float>(z[i]), static_cast<float>(static_cast<T>(x[i] + y[i])))
        << "type " << type << " at " << i;
  }
}

TEST_F(CopyTest, AddThroughQueuesForEveryTypeAndSize) {
  for (const uint32_t blocks : {1u, 3u, 20u, 48u}) {
    for (const uint32_t elements : {1u, 15u, 256u, 1000u}) {
      check_add<op::fp16_t>(stream_, 0, blocks, elements);
      check_add<float>(stream_, 1, blocks, elements);
      check_add<int16_t>(stream_, 2, blocks, elements);
      check_add<int32_t>(stream_, 3, blocks, elements);
      check_add<op::bfloat16>(stream_, 4, blocks, elements);
    }
  }
}

TEST_F(CopyTest, AtomicModeAddsOnTheWayOut) {
  constexpr uint32_t kElements = 40;
  DeviceArray<int32_t> sums(kElements, 5);
  DeviceArray<op::fp16_t> half_sums(kElements, 5);
  launch_atomic_mode(stream_, 20, &sums[0], half_sums.get(), kElements);
  synchronize();
  for (size_t i = 0; i < kElements; ++i) {
    EXPECT_EQ(sums[i], 5 + 20 * static_cast<int>(i % 3));
    EXPECT_EQ(static_cast<float>(half_sums[i]),
              static_cast<float>(5 + 20 * static_cast<int>(i % 3)));
  }
}

TEST_F(CopyTest, ScalarAtomicsReturnTheOldValue) {
  DeviceArray<int32_t> words(8, 0);
  DeviceArray<float> numbers(2, 0.0f);
  launch_scalar_atomics(stream_, 20, &words[0], &numbers[0]);
  synchronize();
  EXPECT_EQ(words[0], 40);
  EXPECT_EQ(words[1], 19);
  EXPECT_EQ(words[2], -19);
  EXPECT_GE(words[3], 1);
  EXPECT_EQ(words[4], 1);
  EXPECT_EQ(words[5], 1);
  EXPECT_EQ(words[6], 1);
  EXPECT_EQ(numbers[0], 10.0f);
  EXPECT_EQ(numbers[1], 19.0f);
}

TEST_F(CopyTest, MisuseEndsTheKernelWithAClearText) {
  const char* const texts[] = {
      "all 2 buffers of the queue are in use",
      "DeQue: the queue is empty",
      "EnQue: buffer 1 was not allocated",
      "FreeTensor: buffer 0 is free already",
      "is not a buffer of this queue",
      "the queue is full, its depth is 1",
      "the buffer was not made",
      "are outside the buffer of 64 bytes",
      "do not fit",
      "a pipe has at most 64",
      "outside the unified buffer of 196608 bytes",
      "outside the unified buffer of 196608 bytes",
      "call SetGlobalBuffer first",
      "do not fit the local tensor of 64 bytes",
      "not a multiple of the element size 4",
  };
  static_assert(sizeof(texts) / sizeof(texts[0]) == static_cast<size_t>(Misuse::kCount));
  DeviceArray<uint8_t> memory(4096, 0);
  for (int what = 0; what < static_cast<int>(Misuse::kCount); ++what) {
    aclrtStream stream = nullptr;
    ASSERT_EQ(aclrtCreateStream(&stream), ACL_SUCCESS);
    launch_misuse(stream, static_cast<Misuse>(what), memory.get());
    EXPECT_NE(aclrtSynchronizeStreamWithTimeout(stream, 60000), ACL_SUCCESS) << texts[what];
    EXPECT_NE(error().find(texts[what]), std::string::npos)
        << error() << " should say: " << texts[what];
    aclrtDestroyStream(stream);
  }
}

TEST_F(CopyTest, TensorsPipesAndBuffersByHand) {
  DeviceArray<int32_t> results(kTensorChecks, -1);
  DeviceArray<uint8_t> memory(64, 0);
  launch_tensor_checks(stream_, &results[0], memory.get());
  synchronize();
  for (size_t i = 0; i < kTensorChecks; ++i) EXPECT_EQ(results[i], 1) << "check " << i;
}

}  // namespace
}  // namespace symm::kernel_test
