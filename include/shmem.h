// AnySHMEM: everything a program needs. Host translation units get the host calls; kernel
// translation units (compiled with
// __CCE_AICORE__ or __CCE_KT_TEST__) get the kernel calls first and then the host calls that have
// no kernel counterpart.
#ifndef SHMEM_H
#define SHMEM_H

#include "host_device/shmem_collective_types.h"
#include "host_device/shmem_common_macros.h"

#ifdef SYMM_KERNEL_TU
#include "device/shmem_device.h"
#ifdef USE_SIMT
#include "device_simt/shmem_device_simt.h"
#endif
#endif

#include "host/data_plane/shmem_host_amo.h"
#include "host/data_plane/shmem_host_cc.h"
#include "host/data_plane/shmem_host_mo.h"
#include "host/data_plane/shmem_host_p2p_sync.h"
#include "host/data_plane/shmem_host_request.h"
#include "host/data_plane/shmem_host_rma.h"
#include "host/data_plane/shmem_host_so.h"
#include "host/init/shmem_host_init.h"
#include "host/mem/shmem_host_heap.h"
#include "host/shmem_host_def.h"
#include "host/team/shmem_host_team.h"
#include "host/utils/shmem_log.h"

#endif
