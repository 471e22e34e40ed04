// op::fp16_t: half precision as a host value type.
#ifndef SYMM_OPDEV_FP16_T_H
#define SYMM_OPDEV_FP16_T_H

#include "ascendc/small_float.h"

namespace op {
using fp16_t = symm::SmallFloat<symm::HalfFormat, symm::HostValue>;
}  // namespace op

#endif
