// The path under which programs include the MTE engine by its internal name.
#ifndef SHMEMI_DEVICE_MTE_H
#define SHMEMI_DEVICE_MTE_H

#include "device/gm2gm/engine/shmem_device_mte.h"
#include "device/shmemi_device_common.h"

#endif
