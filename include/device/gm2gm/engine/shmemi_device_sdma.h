// The path under which programs include the SDMA engine by its internal name.
#ifndef SHMEMI_DEVICE_SDMA_H
#define SHMEMI_DEVICE_SDMA_H

#include "device/gm2gm/engine/shmem_device_sdma.h"
#include "device/shmemi_device_common.h"

#endif
