// Logging.
#ifndef SHMEM_LOG_H
#define SHMEM_LOG_H

#include "host/shmem_host_def.h"
#include "host_device/shmem_common_types.h"

#define shmem_set_extern_logger aclshmemx_set_extern_logger
#define shmem_set_log_level aclshmemx_set_log_level

extern "C" {

/**
 * @brief Installs a function that receives every log record: level 0 debug, 1 info, 2 warning, 3
 * error, 4 fatal, whatever the level setting is. Only the first one counts. May be called from any
 * thread.
 * @return 0.
 */
ACLSHMEM_HOST_API int32_t aclshmemx_set_extern_logger(void (*func)(int level, const char* msg));

/** @brief Sets the level, 0 to 4. SHMEM_LOG_LEVEL, if it holds a valid name, wins. 0; -2 for
 * another number. */
ACLSHMEM_HOST_API int32_t aclshmemx_set_log_level(int level);

/** @brief Prints the cycles that kernels counted with SHMEMI_PROF_START and _END, one row per block
 * and frame that was counted. Only on the PE that SHMEM_CYCLE_PROF_PE names; nothing elsewhere.
 * Waits for no stream: synchronise first. */
ACLSHMEM_HOST_API void aclshmemx_show_prof(void);

/** @brief Points *out_profs (may be null) at a copy of the counters, valid until the next call or
 * finalize, and prints the table when verbose. On a PE that SHMEM_CYCLE_PROF_PE does not name it
 * touches nothing. Waits for no stream. */
ACLSHMEM_HOST_API void aclshmemx_get_prof(aclshmem_prof_pe_t** out_profs, bool verbose);

}  // extern "C"

#endif
