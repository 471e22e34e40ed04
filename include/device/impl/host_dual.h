// Names that exist on the host and in kernels. A kernel translation unit sees one inline function
// of that name; on a core it takes the device way, on a host thread it calls the function of
// libshmem.so, declared here under another name.
#ifndef SYMM_DEVICE_HOST_DUAL_H
#define SYMM_DEVICE_HOST_DUAL_H

#include "device/impl/state_inl.h"

// SYMM_HOST(void, aclshmem_barrier, (aclshmem_team_t team)) declares symm_host_aclshmem_barrier.
#define SYMM_HOST(result, name, parameters) \
  extern "C" result symm_host_##name parameters __asm__(#name)

#endif
