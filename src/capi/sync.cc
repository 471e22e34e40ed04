// Barriers.
#include "capi/edge.h"
#include "host/data_plane/shmem_host_cc.h"
#include "ops/barrier.h"

using symm::Instance;

void aclshmem_barrier(aclshmem_team_t team) {
  symm::capi::with_instance("aclshmem_barrier", [&](Instance& instance) {
    return symm::ops::barrier(instance, team, "aclshmem_barrier");
  });
}

void aclshmem_barrier_all(void) {
  symm::capi::with_instance("aclshmem_barrier_all", [](Instance& instance) {
    return symm::ops::barrier(instance, ACLSHMEM_TEAM_WORLD, "aclshmem_barrier_all");
  });
}

void aclshmem_sync(aclshmem_team_t team) {
  symm::capi::with_instance("aclshmem_sync", [&](Instance& instance) {
    return symm::ops::barrier(instance, team, "aclshmem_sync");
  });
}

void aclshmem_sync_all(void) {
  symm::capi::with_instance("aclshmem_sync_all", [](Instance& instance) {
    return symm::ops::barrier(instance, ACLSHMEM_TEAM_WORLD, "aclshmem_sync_all");
  });
}
