// The path under which programs include the UDMA engine by its internal name.
#ifndef SHMEMI_DEVICE_UDMA_H
#define SHMEMI_DEVICE_UDMA_H

#include "device/gm2gm/engine/shmem_device_udma.h"
#include "device/shmemi_device_common.h"

#endif
