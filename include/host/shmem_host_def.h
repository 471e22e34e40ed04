// What every host header needs: types, constants and the export macro.
#ifndef SHMEM_HOST_DEF_H
#define SHMEM_HOST_DEF_H

#include <stdint.h>

#include <climits>

#include "host_device/shmem_common_macros.h"
#include "host_device/shmem_common_types.h"

#define ACLSHMEM_HOST_API __attribute__((visibility("default")))

extern "C" {

// The current instance's state block as kernels see it, and the library's own stream and notifies.
// Read only; values before init and after finalize: mype -1, no stream.
ACLSHMEM_HOST_API extern aclshmem_device_host_state_t g_state;
ACLSHMEM_HOST_API extern aclshmem_host_state_t g_state_host;

}  // extern "C"

#endif
