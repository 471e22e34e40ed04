// The whole kernel side of SHMEM; shmem.h includes it in kernel translation units, before the host
// headers.
#ifndef SHMEM_DEVICE_H
#define SHMEM_DEVICE_H

#include "device/gm2gm/engine/shmem_device_mte.h"
#include "device/gm2gm/engine/shmem_device_rdma.h"
#include "device/gm2gm/engine/shmem_device_sdma.h"
#include "device/gm2gm/engine/shmem_device_udma.h"
#include "device/gm2gm/shmem_device_amo.h"
#include "device/gm2gm/shmem_device_cc.h"
#include "device/gm2gm/shmem_device_coll.h"
#include "device/gm2gm/shmem_device_mo.h"
#include "device/gm2gm/shmem_device_p2p_sync.h"
#include "device/gm2gm/shmem_device_rma.h"
#include "device/gm2gm/shmem_device_so.h"
#include "device/shmem_def.h"
#include "device/shmemi_device_common.h"
#include "device/team/shmem_device_team.h"
#include "device/team/shmem_device_team_ext.h"
#include "device/ub2gm/engine/shmem_device_mte.h"
#include "device/ub2gm/shmem_device_rma.h"

#endif
