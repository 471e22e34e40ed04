// op::bfloat16: bfloat16 as a host value type.
#ifndef SYMM_OPDEV_BFLOAT16_H
#define SYMM_OPDEV_BFLOAT16_H

#include "ascendc/small_float.h"

namespace op {
using bfloat16 = symm::SmallFloat<symm::BrainFormat, symm::HostValue>;
}  // namespace op

#endif
