// What the tests of checked mode call; defined in checked_kernels.cc, which is compiled with
// --checked.
#pragma once

#include <cstdint>

#include "acl/acl.h"

namespace symm::kernel_test {

enum class Checked {
  kFine,
  kFlagSetTwice,
  kFlagNeverSet,
  kFlagOfAnotherEvent,
  kRawFlagNeverSet,
  kBadEventId,
  kMisalignedCopy,
  kElementBeyondTensor,
  kElementBeyondBuffer,
  kElementFarOutside,
  kSubTensorOutside,
  kPointerBeyondBuffer,
  kReservedFlag,
  kAssertion,
  kCount,
};
void launch_checked(aclrtStream stream, Checked what, uint8_t* memory);

}  // namespace symm::kernel_test
