// Everything a kernel needs: the umbrella over the kernel language headers.
#ifndef SYMM_KERNEL_OPERATOR_H
#define SYMM_KERNEL_OPERATOR_H

#include "ascendc/atomic.h"
#include "ascendc/copy.h"
#include "ascendc/core.h"
#include "ascendc/launch.h"
#include "ascendc/pipe.h"
#include "ascendc/sync.h"
#include "ascendc/system.h"
#include "ascendc/tensor.h"
#include "ascendc/types.h"
#include "ascendc/vector.h"

#endif
