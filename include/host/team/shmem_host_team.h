// Who is there: numbers of PEs, in the world and in teams. All calls are local.
#ifndef SHMEM_HOST_TEAM_H
#define SHMEM_HOST_TEAM_H

#include "host/shmem_host_def.h"
#include "host_device/shmem_common_types.h"

#define shmem_my_pe aclshmem_my_pe
#define shmem_n_pes aclshmem_n_pes
#define shmem_team_my_pe aclshmem_team_my_pe
#define shmem_team_n_pes aclshmem_team_n_pes
#define shmem_team_translate_pe aclshmem_team_translate_pe
#define shmem_team_get_config aclshmem_team_get_config

extern "C" {

#ifndef SYMM_KERNEL_TU
/** @brief Number of this PE in the current instance; -1 before init. */
ACLSHMEM_HOST_API int aclshmem_my_pe(void);
/** @brief Number of PEs of the current instance; -1 before init. */
ACLSHMEM_HOST_API int aclshmem_n_pes(void);
/** @brief Number of this PE in the team; -1 for a team that is none here. */
ACLSHMEM_HOST_API int aclshmem_team_my_pe(aclshmem_team_t team);
/** @brief Size of the team; -1 for a team that is none here. */
ACLSHMEM_HOST_API int aclshmem_team_n_pes(aclshmem_team_t team);
/** @brief Number in dest_team of the PE that is src_pe in src_team; -1 when it is in one of them
 * only. */
ACLSHMEM_HOST_API int aclshmem_team_translate_pe(aclshmem_team_t src_team, int src_pe,
                                                 aclshmem_team_t dest_team);
#endif

/** @brief Copies the configuration of the team. 0; -1 for a team that is none here; 1 for a null
 * pointer. */
ACLSHMEM_HOST_API int aclshmem_team_get_config(aclshmem_team_t team,
                                               aclshmem_team_config_t* config);

}  // extern "C"

#endif
