// The path under which programs of the simplified interface include the transfers and collectives
// of kernels.
#ifndef SHMEM_DEVICE_GM2GM_FORWARD_H
#define SHMEM_DEVICE_GM2GM_FORWARD_H

#include "shmem.h"

#ifdef SYMM_KERNEL_TU
#include "device/gm2gm/shmem_device_coll.h"
#endif

#endif
