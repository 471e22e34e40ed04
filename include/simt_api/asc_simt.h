/* The SIMT part of the kernel language under the path that programs include. */
#ifndef SYMM_SIMT_API_ASC_SIMT_H
#define SYMM_SIMT_API_ASC_SIMT_H

#include "ascendc/simt.h"

#endif
