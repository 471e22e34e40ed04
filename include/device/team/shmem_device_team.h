// Kernel side: who am I, and which PE is which. None of these blocks; any core may call them.
#ifndef SHMEM_DEVICE_TEAM_H
#define SHMEM_DEVICE_TEAM_H

#include "device/impl/host_dual.h"
#include "device/shmem_def.h"

SYMM_HOST(int, aclshmem_my_pe, (void));
SYMM_HOST(int, aclshmem_n_pes, (void));
SYMM_HOST(int, aclshmem_team_my_pe, (aclshmem_team_t team));
SYMM_HOST(int, aclshmem_team_n_pes, (aclshmem_team_t team));
SYMM_HOST(int, aclshmem_team_translate_pe,
          (aclshmem_team_t src_team, int src_pe, aclshmem_team_t dest_team));

namespace symm_dev {

// The team, or null when the number names no team of this PE.
inline const aclshmemx_team_t* find_team(aclshmem_team_t team, const char* call) {
  if (team < 0 || team >= ACLSHMEM_MAX_TEAMS) return nullptr;
  return state(call)->base.team_pools[team];
}

inline int world_pe(aclshmem_team_t team, int pe, const char* call) {
  const aclshmemx_team_t* members = find_team(team, call);
  if (members == nullptr || pe < 0 || pe >= members->size) return -1;
  return members->pe_mapping[pe];
}

inline int translate(aclshmem_team_t source, int pe, aclshmem_team_t target, const char* call) {
  const int world = world_pe(source, pe, call);
  const aclshmemx_team_t* members = find_team(target, call);
  if (world < 0 || members == nullptr) return -1;
  return members->pe_mapping[world + ACLSHMEM_MAX_PES];
}

}  // namespace symm_dev

// Number of this PE in the world team. OpenSHMEM shmem_my_pe. On a host thread: the host function.
inline int aclshmem_my_pe() {
  return symm_dev::in_kernel() ? symm_dev::state("aclshmem_my_pe")->base.mype
                               : symm_host_aclshmem_my_pe();
}

// Number of PEs. OpenSHMEM shmem_n_pes.
inline int aclshmem_n_pes() {
  return symm_dev::in_kernel() ? symm_dev::state("aclshmem_n_pes")->base.npes
                               : symm_host_aclshmem_n_pes();
}

// Number of this PE in the team; -1 for team -1 and for a number that names no team of this PE.
inline int aclshmem_team_my_pe(aclshmem_team_t team) {
  if (!symm_dev::in_kernel()) return symm_host_aclshmem_team_my_pe(team);
  const aclshmemx_team_t* members = symm_dev::find_team(team, "aclshmem_team_my_pe");
  return members == nullptr ? -1 : members->mype;
}

// Members of the team; -1 as above.
inline int aclshmem_team_n_pes(aclshmem_team_t team) {
  if (!symm_dev::in_kernel()) return symm_host_aclshmem_team_n_pes(team);
  const aclshmemx_team_t* members = symm_dev::find_team(team, "aclshmem_team_n_pes");
  return members == nullptr ? -1 : members->size;
}

// Number in dest_team of the PE that is src_pe in src_team; -1 when it is not in both, and for
// invalid teams.
inline int aclshmem_team_translate_pe(aclshmem_team_t src_team, int src_pe,
                                      aclshmem_team_t dest_team) {
  if (!symm_dev::in_kernel())
    return symm_host_aclshmem_team_translate_pe(src_team, src_pe, dest_team);
  return symm_dev::translate(src_team, src_pe, dest_team, "aclshmem_team_translate_pe");
}

// World number of member pe of the team; -1 for an invalid team or a number outside it. Kernels
// only.
inline int aclshmem_team_pe_mapping(aclshmem_team_t team, int pe) {
  return symm_dev::world_pe(team, pe, "aclshmem_team_pe_mapping");
}

#define shmem_my_pe aclshmem_my_pe
#define shmem_n_pes aclshmem_n_pes
#define shmem_team_my_pe aclshmem_team_my_pe
#define shmem_team_n_pes aclshmem_team_n_pes
#define shmem_team_translate_pe aclshmem_team_translate_pe
#define shmem_team_pe_mapping aclshmem_team_pe_mapping

#endif
