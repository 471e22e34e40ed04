// Numbers of PEs and teams.
#include "host/team/shmem_host_team.h"

#include "capi/edge.h"

namespace {

// The team of the current instance, or null.
const symm::Team* find(aclshmem_team_t team) {
  symm::Instance* instance = symm::current();
  return instance != nullptr ? instance->teams().find(team) : nullptr;
}

}  // namespace

int aclshmem_my_pe(void) {
  symm::Instance* instance = symm::current();
  return instance != nullptr ? instance->pe() : -1;
}

int aclshmem_n_pes(void) {
  symm::Instance* instance = symm::current();
  return instance != nullptr ? instance->n_pes() : -1;
}

int aclshmem_team_my_pe(aclshmem_team_t team) {
  const symm::Team* found = find(team);
  return found != nullptr ? found->me() : -1;
}

int aclshmem_team_n_pes(aclshmem_team_t team) {
  const symm::Team* found = find(team);
  return found != nullptr ? found->size() : -1;
}

int aclshmem_team_translate_pe(aclshmem_team_t src_team, int src_pe, aclshmem_team_t dest_team) {
  const symm::Team* from = find(src_team);
  const symm::Team* to = find(dest_team);
  if (from == nullptr || to == nullptr || src_pe < 0 || src_pe >= from->size()) return -1;
  return to->index_of(from->world(src_pe));
}

int aclshmem_team_get_config(aclshmem_team_t team, aclshmem_team_config_t* config) {
  if (config == nullptr) return 1;
  const symm::Team* found = find(team);
  if (found == nullptr) return -1;
  *config = found->record()->config;
  return 0;
}
