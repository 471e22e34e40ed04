#include "launch_kernels.h"

#include "device_fixture.h"

namespace symm::kernel_test {
namespace {

struct Shape {
  uint32_t blocks;
  bool mix;
};

class LaunchTest : public DeviceTest, public testing::WithParamInterface<Shape> {
 protected:
  int64_t ratio() const { return GetParam().mix ? 2 : 1; }
  size_t cores() const { return static_cast<size_t>(GetParam().blocks * ratio()); }
};

TEST_P(LaunchTest, EveryCoreKnowsWhoItIs) {
  DeviceArray<int64_t> records(4 * cores(), -1);
  DeviceArray<int64_t> count(1, 0);
  launch_identity(GetParam().blocks, GetParam().mix, stream_, &records[0], &count[0]);
  synchronize();
  EXPECT_EQ(count[0], static_cast<int64_t>(cores()));
  for (size_t core = 0; core < cores(); ++core) {
    const int64_t index = static_cast<int64_t>(core);
    EXPECT_EQ(records[4 * core], index);
    EXPECT_EQ(records[4 * core + 1], GetParam().blocks);
    EXPECT_EQ(records[4 * core + 2], index % ratio());
    EXPECT_EQ(records[4 * core + 3], ratio());
  }
}

TEST_P(LaunchTest, SmallIntegersAreAddressesOfTheCoresOwnBuffer) {
  DeviceArray<int32_t> sums(GetParam().blocks, -1);
  launch_ub_addresses(GetParam().blocks, stream_, &sums[0]);
  synchronize();
  for (int32_t i = 0; i < static_cast<int32_t>(GetParam().blocks); ++i) {
    EXPECT_EQ(sums[static_cast<size_t>(i)], i + (i + 1) + 7);
  }
}

TEST_P(LaunchTest, SyncAllIsABarrierOfAllCores) {
  DeviceArray<int32_t> slots(cores(), 0);
  DeviceArray<int32_t> errors(1, 0);
  launch_sync_all(GetParam().blocks, GetParam().mix, 50, stream_, &slots[0], &errors[0]);
  synchronize();
  EXPECT_EQ(errors[0], 0);
  for (size_t i = 0; i < cores(); ++i) EXPECT_EQ(slots[i], 50);
}

INSTANTIATE_TEST_SUITE_P(Blocks, LaunchTest,
                         testing::Values(Shape{1, false}, Shape{1, true}, Shape{3, false},
                                         Shape{3, true}, Shape{20, false}, Shape{20, true},
                                         Shape{48, false}, Shape{48, true}),
                         [](const auto& shape) {
                           return std::to_string(shape.param.blocks) +
                                  (shape.param.mix ? "Mix" : "Vector");
                         });

class ShapesTest : public DeviceTest {};

TEST_F(ShapesTest, EveryLaunchShapeReachesItsKernel) {
  DeviceArray<int32_t> out(kShapes, -1);
  launch_shapes(stream_, &out[0]);
  synchronize();
  EXPECT_EQ(out.values(), (std::vector<int32_t>{10, 11, 12, 13, 14, 15, 16, 17, 18, 19}));
}

TEST_F(ShapesTest, TrapEndsTheLaunchWithItsText) {
  launch_trap(3, 1, stream_);
  expect_error("trap() was called by the kernel");
}

}  // namespace
}  // namespace symm::kernel_test
