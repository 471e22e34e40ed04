// SIMT functions of kernels: the state block as they see it (pointers as integers, same layout),
// the scopes of a transfer, and the list of types.
#ifndef SHMEM_SIMT_COMMON_TYPES_H
#define SHMEM_SIMT_COMMON_TYPES_H

#include "device/shmem_def.h"

struct aclshmem_device_host_state_simt_t {
  int version;
  int mype;
  int npes;
  uint64_t heap_base;
  uint64_t host_heap_base;
  uint64_t p2p_device_heap_base;
  uint64_t rdma_device_heap_base;
  uint64_t sdma_device_heap_base;
  uint64_t p2p_host_heap_base;
  uint64_t rdma_host_heap_base;
  uint64_t sdma_host_heap_base;
  uint8_t topo_list[ACLSHMEM_MAX_PES];
  size_t heap_size;
  uint64_t team_pools[ACLSHMEM_MAX_TEAMS];
  uint64_t sync_pool;
  uint64_t sync_counter;
  uint64_t core_sync_pool;
  uint64_t core_sync_counter;
  bool is_aclshmem_initialized;
  bool is_aclshmem_created;
  aclshmem_mte_config_t mte_config;
  aclshmem_sdma_config_t sdma_config;
  aclshmem_rdma_config_t rdma_config;
  aclshmem_udma_config_t udma_config;
  uint64_t qp_info;
  uint64_t sdma_workspace_addr;
  uint64_t profs;
  uint64_t signal_addr;
};
static_assert(sizeof(aclshmem_device_host_state_simt_t) == sizeof(aclshmem_device_host_state_t),
              "layout of aclshmem_device_host_state_simt_t");

enum thread_group_t {
  ACLSHMEMI_THREADGROUP_THREAD = 0,
  ACLSHMEMI_THREADGROUP_WARP = 1,
  ACLSHMEMI_THREADGROUP_BLOCK = 2,
};
#define aclshmemi_threadgroup_thread ACLSHMEMI_THREADGROUP_THREAD
#define aclshmemi_threadgroup_warp ACLSHMEMI_THREADGROUP_WARP
#define aclshmemi_threadgroup_block ACLSHMEMI_THREADGROUP_BLOCK

#endif
