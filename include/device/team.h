// The path under which programs of the simplified interface include the team calls of kernels.
#ifndef SHMEM_DEVICE_TEAM_FORWARD_H
#define SHMEM_DEVICE_TEAM_FORWARD_H

#include "shmem.h"

#ifdef SYMM_KERNEL_TU
#include "device/team/shmem_device_team_ext.h"
#endif

#endif
