// The include path under which programs of the original find the host state (g_state, g_state_host)
// and aclshmemi_control_barrier_all.
#ifndef SHMEMI_HOST_COMMON_H
#define SHMEMI_HOST_COMMON_H

#include "host/init/shmem_host_init.h"
#include "host/shmem_host_def.h"

#endif
