// Everything a kernel needs: the umbrella over the kernel language headers.
#ifndef SYMM_KERNEL_OPERATOR_H
#define SYMM_KERNEL_OPERATOR_H

#include "ascendc/atomic.h"
#include "ascendc/copy.h"
#include "ascendc/core.h"
#include "ascendc/core_local.h"
#include "ascendc/cross_core.h"
#include "ascendc/launch.h"
#include "ascendc/pipe.h"
#include "ascendc/sync.h"
#include "ascendc/system.h"
#include "ascendc/tensor.h"
#include "ascendc/types.h"
#include "ascendc/vector.h"
#include "ascendc/vector_convert.h"
#include "ascendc/vector_reduce.h"
#include "ascendc/vector_select.h"
#include "ascendc/vector_sort.h"

// The names of SIMT kernels are too common (blockIdx, dim3) to hand them to every kernel.
#if defined(USE_SIMT) || __NPU_ARCH__ == 3510
#include "ascendc/simt.h"
#endif

#endif
