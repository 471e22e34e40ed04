// The path under which programs include the RDMA engine by its internal name.
#ifndef SHMEMI_DEVICE_RDMA_H
#define SHMEMI_DEVICE_RDMA_H

#include "device/gm2gm/engine/shmem_device_rdma.h"
#include "device/shmemi_device_common.h"

#endif
