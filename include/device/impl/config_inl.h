// Kernel side: the default scratch of the engines, kept in the device state and read by programs
// from there; the copies of this device need none. offset and ub_size in bytes. From a kernel the
// change is seen by all kernels of this PE.
#ifndef SYMM_DEVICE_CONFIG_INL_H
#define SYMM_DEVICE_CONFIG_INL_H

#include "device/impl/host_dual.h"

SYMM_HOST(int, aclshmemx_set_mte_config, (uint64_t offset, uint32_t ub_size, uint32_t sync_id));
SYMM_HOST(int, aclshmemx_set_sdma_config, (uint64_t offset, uint32_t ub_size, uint32_t sync_id));
SYMM_HOST(int, aclshmemx_set_rdma_config, (uint64_t offset, uint32_t ub_size, uint32_t sync_id));
SYMM_HOST(int, aclshmemx_set_udma_config, (uint64_t offset, uint32_t ub_size, uint32_t sync_id));

namespace symm_dev {

// relaxed: cores of a launch all write the same values; a kernel barrier orders them for readers
inline int set_config(aclshmem_ub_config_t& config, uint64_t offset, uint32_t ub_size,
                      uint32_t sync_id) {
  __atomic_store_n(&config.aclshmem_ub, static_cast<int64_t>(offset), __ATOMIC_RELAXED);
  __atomic_store_n(&config.ub_size, ub_size, __ATOMIC_RELAXED);
  __atomic_store_n(&config.sync_id, sync_id, __ATOMIC_RELAXED);
  return 0;
}

}  // namespace symm_dev

// Returns 0; on a host thread what the host function returns.
inline int aclshmemx_set_mte_config(uint64_t offset, uint32_t ub_size, uint32_t sync_id) {
  if (!symm_dev::in_kernel()) return symm_host_aclshmemx_set_mte_config(offset, ub_size, sync_id);
  return symm_dev::set_config(aclshmemi_get_state()->mte_config, offset, ub_size, sync_id);
}
inline int aclshmemx_set_sdma_config(uint64_t offset, uint32_t ub_size, uint32_t sync_id) {
  if (!symm_dev::in_kernel()) return symm_host_aclshmemx_set_sdma_config(offset, ub_size, sync_id);
  return symm_dev::set_config(aclshmemi_get_state()->sdma_config, offset, ub_size, sync_id);
}
inline int aclshmemx_set_rdma_config(uint64_t offset, uint32_t ub_size, uint32_t sync_id) {
  if (!symm_dev::in_kernel()) return symm_host_aclshmemx_set_rdma_config(offset, ub_size, sync_id);
  return symm_dev::set_config(aclshmemi_get_state()->rdma_config, offset, ub_size, sync_id);
}
inline int aclshmemx_set_udma_config(uint64_t offset, uint32_t ub_size, uint32_t sync_id) {
  if (!symm_dev::in_kernel()) return symm_host_aclshmemx_set_udma_config(offset, ub_size, sync_id);
  return symm_dev::set_config(aclshmemi_get_state()->udma_config, offset, ub_size, sync_id);
}

#define shmem_mte_set_ub_params aclshmemx_set_mte_config
#define shmem_rdma_set_ub_params aclshmemx_set_rdma_config

#endif
