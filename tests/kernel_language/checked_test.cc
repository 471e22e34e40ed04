// Checked mode: what would hang or corrupt on hardware ends the kernel with a text.
#include "checked_kernels.h"
#include "device_fixture.h"

namespace symm::kernel_test {
namespace {

class CheckedTest : public DeviceTest {};

TEST_F(CheckedTest, CorrectKernelsPass) {
  DeviceArray<uint8_t> memory(256, 0);
  for (int again = 0; again < 3; ++again) launch_checked(stream_, Checked::kFine, memory.get());
  synchronize();
}

TEST_F(CheckedTest, MistakesEndTheKernelWithAText) {
  const char* const texts[] = {
      "",
      "SetFlag: flag 2 of event 6 is set already",
      "WaitFlag: flag 1 of event 7 was never set",
      "WaitFlag: flag 1 of event 6 was never set",
      "wait_flag: flag 0 of event",
      "SetFlag: event id 8 is not in 0..7",
      "is not a multiple of 32 bytes",
      "LocalTensor::SetValue: element 16 of a tensor of 16 elements",
      "LocalTensor::SetValue: bytes 195584 to 195588 from byte 1024 on are outside",
      "are outside the unified buffer",
      "LocalTensor::operator[]",
      "behind the unified buffer of 196608 bytes",
      "flag 12 belongs to SyncAll",
      "assertion failed: what == Checked::kFine",
  };
  static_assert(sizeof(texts) / sizeof(texts[0]) == static_cast<size_t>(Checked::kCount));
  DeviceArray<uint8_t> memory(256, 0);
  for (int what = 1; what < static_cast<int>(Checked::kCount); ++what) {
    launch_checked(stream_, static_cast<Checked>(what), memory.get());
    expect_error(texts[what]);
  }
}

}  // namespace
}  // namespace symm::kernel_test
