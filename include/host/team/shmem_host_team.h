// Who is there: numbers of PEs, in the world and in teams; making and releasing teams. Queries are
// local. A team is made by its members: the others need not call, and get no team when they do. An
// error of one member reaches all members of that team. PE numbers are those of the parent team.
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
#define shmem_team_split_strided aclshmem_team_split_strided
#define shmem_team_split_2d aclshmem_team_split_2d
#define shmem_team_destroy aclshmem_team_destroy

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

/** @brief Makes a team of pe_size PEs of the parent: pe_start, pe_start + pe_stride, ... Any
 * stride; 0 only for one PE. Blocks until all members call it, not for the others. *new_team: its
 * number on this PE, ACLSHMEM_TEAM_INVALID for a PE that is no member and after every error. Usable
 * at once. 0; -1 for wrong arguments here or on another member; -4 when a member has no number
 * left; -12 when a member has left the job. OpenSHMEM: shmem_team_split_strided. */
ACLSHMEM_HOST_API int aclshmem_team_split_strided(aclshmem_team_t parent_team, int pe_start,
                                                  int pe_stride, int pe_size,
                                                  aclshmem_team_t* new_team);
/** @brief Cuts the parent into rows of x_range PEs (*x_team) and columns across them (*y_team); the
 * last row may be shorter. Every PE of the parent calls it and gets one of each. Errors as above,
 * with both numbers ACLSHMEM_TEAM_INVALID. OpenSHMEM: shmem_team_split_2d. */
ACLSHMEM_HOST_API int aclshmem_team_split_2d(aclshmem_team_t parent_team, int x_range,
                                             aclshmem_team_t* x_team, aclshmem_team_t* y_team);
/** @brief Releases the team on this PE; every member calls it once. Blocks only while a member has
 * not made the team yet. ACLSHMEM_TEAM_INVALID: nothing happens. The world, shared and node teams
 * and numbers that name no team are refused with an error (aclshmemx_last_error). */
ACLSHMEM_HOST_API void aclshmem_team_destroy(aclshmem_team_t team);

/** @brief Makes teams of `size` neighbours of the parent; the last one may be smaller. Every PE of
 * the parent calls it. Errors as aclshmem_team_split_strided. Ours. */
ACLSHMEM_HOST_API int aclshmemx_team_split_size(aclshmem_team_t parent_team, int size,
                                                aclshmem_team_t* new_team);
/** @brief Makes a team of the listed PEs of the parent, in the order of the list, which is the same
 * on all members. Errors as aclshmem_team_split_strided. Ours. */
ACLSHMEM_HOST_API int aclshmemx_team_split_list(aclshmem_team_t parent_team, const int* pes,
                                                int count, aclshmem_team_t* new_team);
/** @brief Makes a team of the PEs that give the same colour, ordered by key, then by their number
 * in the parent. A negative colour: no team for this PE. Collective over the parent, blocks until
 * all have called. Errors as aclshmem_team_split_strided. Ours. */
ACLSHMEM_HOST_API int aclshmemx_team_split_color(aclshmem_team_t parent_team, int color, int key,
                                                 aclshmem_team_t* new_team);

}  // extern "C"

#endif
