// printf of kernels under its own include path.
#ifndef SYMM_UTILS_DEBUG_ASC_PRINTF_H
#define SYMM_UTILS_DEBUG_ASC_PRINTF_H

#include "ascendc/system.h"

#endif
