// SIMT: who am I. Any lane; none blocks. As the functions of the same names outside namespace simt.
#ifndef SHMEM_DEVICE_SIMT_TEAM_H
#define SHMEM_DEVICE_SIMT_TEAM_H

#include "device/team/shmem_device_team.h"
#include "device_simt/shmem_simt_common_types.h"

namespace simt {

inline int aclshmem_my_pe() { return ::aclshmem_my_pe(); }
inline int aclshmem_n_pes() { return ::aclshmem_n_pes(); }
inline int aclshmem_team_my_pe(aclshmem_team_t team) { return ::aclshmem_team_my_pe(team); }
inline int aclshmem_team_n_pes(aclshmem_team_t team) { return ::aclshmem_team_n_pes(team); }
inline int aclshmem_team_translate_pe(aclshmem_team_t src_team, int src_pe,
                                      aclshmem_team_t dest_team) {
  return ::aclshmem_team_translate_pe(src_team, src_pe, dest_team);
}
inline int aclshmem_team_pe_mapping(aclshmem_team_t team, int pe) {
  return ::aclshmem_team_pe_mapping(team, pe);
}

}  // namespace simt

#endif
