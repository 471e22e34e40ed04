// The path under which programs include the barriers and their internal names.
#ifndef SHMEMI_DEVICE_CC_H
#define SHMEMI_DEVICE_CC_H

#include "device/gm2gm/shmem_device_cc.h"
#include "device/shmemi_device_common.h"

#endif
