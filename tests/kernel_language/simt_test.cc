#include "simt_kernels.h"

#include "device_fixture.h"

namespace symm::kernel_test {
namespace {

class SimtTest : public DeviceTest {};

TEST_F(SimtTest, LanesKnowTheirPlace) {
  for (const LaneDims dims :
       {LaneDims{1, 1, 1}, LaneDims{32, 2, 4}, LaneDims{1024, 1, 1}, LaneDims{3, 5, 7}}) {
    for (const uint32_t blocks : {1u, 3u, 20u}) {
      const uint32_t lanes = dims.x * dims.y * dims.z;
      DeviceArray<uint32_t> records(5 * blocks * lanes, 0xFFFFFFFF);
      launch_lane_indices(stream_, blocks, dims, &records[0]);
      synchronize();
      for (uint32_t core = 0; core < blocks; ++core) {
        for (uint32_t lane = 0; lane < lanes; ++lane) {
          const uint32_t* record = &records[5 * (core * lanes + lane)];
          ASSERT_EQ(record[0], lane % dims.x);
          ASSERT_EQ(record[1], lane / dims.x % dims.y);
          ASSERT_EQ(record[2], lane / dims.x / dims.y);
          ASSERT_EQ(record[3], core);
          ASSERT_EQ(record[4], lanes);
        }
      }
    }
  }
}

TEST_F(SimtTest, ArraysInTheUnifiedBufferAreSharedAndBarriersOrderThem) {
  for (const uint32_t lanes : {1u, 2u, 64u, 1024u}) {
    DeviceArray<int32_t> sums(3, -1);
    const int rounds = 4;
    launch_lane_reduce(stream_, 3, lanes, rounds, &sums[0]);
    synchronize();
    const int32_t one = static_cast<int32_t>(lanes * (lanes - 1) / 2);
    const int32_t wanted = rounds * one + static_cast<int32_t>(lanes) * (rounds * (rounds - 1) / 2);
    for (size_t core = 0; core < 3; ++core) EXPECT_EQ(sums[core], wanted) << lanes << " lanes";
  }
}

TEST_F(SimtTest, PollingLanesLetOtherCoresRun) {
  DeviceArray<int32_t> flags(20, 0);
  launch_lane_chain(stream_, 20, &flags[0]);
  synchronize();
  for (size_t i = 0; i < 20; ++i) EXPECT_EQ(flags[i], static_cast<int32_t>(i) + 1);
}

TEST_F(SimtTest, LanesThatLeaveAreNoPartyOfTheBarrier) {
  DeviceArray<int32_t> passed(1, 0);
  launch_early_exit(stream_, &passed[0]);
  synchronize();
  EXPECT_EQ(passed[0], 32);
}

TEST_F(SimtTest, TrapInALaneUnwindsTheOthers) {
  DeviceArray<int32_t> destroyed(1, 0);
  launch_lane_trap(stream_, &destroyed[0]);
  expect_error("trap() was called by the kernel");
  EXPECT_EQ(destroyed[0], 6);  // lanes 0 to 5; the others never started
}

TEST_F(SimtTest, MoreThan1024LanesAreRefused) {
  launch_too_many_lanes(stream_);
  expect_error("1 to 1024 lanes");
}

}  // namespace
}  // namespace symm::kernel_test
