// All SIMT headers; shmem.h includes it in kernel files compiled with USE_SIMT.
#ifndef SHMEM_DEVICE_SIMT_H
#define SHMEM_DEVICE_SIMT_H

#include "device_simt/gm2gm/engine/shmem_device_simt_mte.h"
#include "device_simt/gm2gm/shmem_device_simt_rma.h"
#include "device_simt/team/shmem_device_simt_team.h"
#include "device_simt/ub2gm/engine/shmem_device_simt_mte.h"
#include "device_simt/ub2gm/shmem_device_simt_rma.h"

#endif
