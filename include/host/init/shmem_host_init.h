// Start, end, instances, information.
#ifndef SHMEM_HOST_INIT_H
#define SHMEM_HOST_INIT_H

#include "host/shmem_host_def.h"
#include "host_device/shmem_common_types.h"

#define shmem_init_status aclshmemx_init_status
#define shmem_get_uniqueid aclshmemx_get_uniqueid
#define shmem_set_attr_uniqueid_args aclshmemx_set_attr_uniqueid_args
#define shmem_init_attr aclshmemx_init_attr
#define shmem_finalize aclshmem_finalize
#define shmemx_finalize aclshmemx_finalize
#define shmem_info_get_version aclshmem_info_get_version
#define shmem_info_get_name aclshmem_info_get_name
#define shmem_set_config_store_tls_key aclshmemx_set_config_store_tls_key
#define shmem_global_exit aclshmem_global_exit
#define shmem_set_conf_store_tls aclshmemx_set_conf_store_tls
#define shmem_get_conf_store_tls_status aclshmemx_get_conf_store_tls_status

extern "C" {

/**
 * @brief State of the current instance: 0 not initialised, 1 memory mapped but init unfinished, 2
 * ready. Local, any time, any thread.
 */
ACLSHMEM_HOST_API int aclshmemx_init_status(void);

/**
 * @brief Makes the unique id of a job: chooses an address (SHMEM_UID_SESSION_ID, else
 * SHMEM_UID_SOCK_IFNAME, else by search) and binds it. Called by the process that will be PE 0,
 * before init; the program gives the bytes to the other PEs.
 * @return 0; -1 for a bad or unbindable address or a null pointer; other negative codes when the
 * bootstrap plug-in cannot be loaded.
 */
ACLSHMEM_HOST_API int aclshmemx_get_uniqueid(aclshmemx_uniqueid_t* uid);

/**
 * @brief Fills my_pe, n_pes, local_mem_size (bytes) and comm_args of the attributes. The pointer to
 * the unique id is kept, so the id must live until init returns.
 * @return 0; -2 for a value out of range; -1 for a null pointer.
 */
ACLSHMEM_HOST_API int aclshmemx_set_attr_uniqueid_args(int my_pe, int n_pes, int64_t local_mem_size,
                                                       aclshmemx_uniqueid_t* uid,
                                                       aclshmemx_init_attr_t* aclshmem_attr);

/**
 * @brief Starts this PE. Collective over all n_pes, blocking. Connects the PEs, maps the symmetric
 * heaps, and ends with a barrier; the new instance becomes the current one of the process.
 * With ACLSHMEMX_INIT_WITH_MPI, comm_args is an MPI_Comm* (null: MPI_COMM_WORLD), and PE and number
 * of PEs are rank and size of it; my_pe -1 and n_pes 0 leave them open, other values are compared
 * on all PEs. MPI is initialised if needed, and finalized with the last such instance only then.
 * @return 0; -1 null attributes, my_pe >= n_pes, bad or missing address, unknown flag; -2 values
 * out of range; -3 when PEs are missing for too long; -4 when PE 0 cannot be reached in time and
 * for other failures, also a second init of a live instance. A difference between PEs fails on all
 * of them.
 */
ACLSHMEM_HOST_API int aclshmemx_init_attr(aclshmemx_bootstrap_t bootstrap_flags,
                                          aclshmemx_init_attr_t* attributes);

/**
 * @brief Ends the current instance. Collective, blocking: completes what is queued, meets the other
 * PEs, frees the memory.
 * @return 0, also when nothing was initialised; else the first error met on the way. The instance
 * is gone in any case.
 */
ACLSHMEM_HOST_API int aclshmem_finalize(void);

/**
 * @brief The same for a given instance. Afterwards instance 0, if it exists, is current.
 * @return as aclshmem_finalize; -4 for an unknown id, which changes nothing.
 */
ACLSHMEM_HOST_API int aclshmemx_finalize(uint64_t instance_id);

/** @brief Writes the version of the interface. Does nothing if a pointer is null. Any time. */
ACLSHMEM_HOST_API void aclshmem_info_get_version(int* major, int* minor);

/** @brief Writes the name of the interface with a NUL into at least 256 bytes. A null pointer is
 * ignored. Any time. */
ACLSHMEM_HOST_API void aclshmem_info_get_name(char* name);

/**
 * @brief Private key (PEM) and its password for TLS of the control plane, with a function that
 * decrypts the password. The pointers are kept and must stay valid until init; takes effect for
 * inits afterwards.
 * @return 0; -1 for a length without text or over 10 KiB; -4 when an instance is already open.
 */
ACLSHMEM_HOST_API int32_t aclshmemx_set_config_store_tls_key(
    const char* tls_pk, const uint32_t tls_pk_len, const char* tls_pk_pw,
    const uint32_t tls_pk_pw_len, const aclshmem_decrypt_handler decrypt_handler);

/**
 * @brief Asks every PE of the current instance to end with `status`, then ends this process the
 * same way. Not collective, does not return when an instance is open.
 */
ACLSHMEM_HOST_API void aclshmem_global_exit(int status);

/**
 * @brief Switches TLS of the control plane on or off and gives its configuration ("key:value;...").
 * On is the default. Before init and aclshmemx_get_uniqueid.
 * @return 0; -1 for a length without text or over 10 KiB; -4 when an instance is already open.
 */
ACLSHMEM_HOST_API int32_t aclshmemx_set_conf_store_tls(bool enable, const char* tls_info,
                                                       const uint32_t tls_info_len);

/** @brief What TLS of the control plane is in force; texts end with NUL. */
typedef struct {
  bool enabled;                /**< false: everything goes in plain text */
  char version[16];            /**< "TLSv1.3"; empty in a job of one PE, which connects to nobody */
  char cipher[48];             /**< "TLS_AES_128_GCM_SHA256" */
  char key_kind[32];           /**< certificate, job secret, unique-id secret or user secret */
  char source[256];            /**< where the key comes from; never the key */
  char peer[128];              /**< name in the certificate of PE 0, else its address */
  int64_t certificate_expires; /**< of this PE's own, seconds since 1970 (UTC); 0: no certificate */
} aclshmemx_tls_status_t;

/**
 * @brief Tells what TLS of the current instance's control plane is in force (ours). Local, any
 * thread, does not block; after init, until finalize.
 * @return 0; -1 for null; -3 (ACLSHMEM_NOT_INITED) before init; the code of "not supported" when
 * the bootstrap is the launcher's own (MPI), whose connections are not ours.
 */
ACLSHMEM_HOST_API int aclshmemx_get_conf_store_tls_status(aclshmemx_tls_status_t* status);

#ifndef SYMM_KERNEL_TU
/** @brief Id and handle of the instance that host calls of this thread act on; never null, id 0
 * before any init. */
ACLSHMEM_HOST_API aclshmem_instance_ctx* aclshmemx_instance_ctx_get(void);

/** @brief Selects the instance for the host calls of the whole process. 0; -4 for an unknown id. */
ACLSHMEM_HOST_API int aclshmemx_instance_ctx_set(uint64_t instance_id);
#endif

/** @brief The same for the calling thread only (ours); wins over the choice for the process. 0; -4
 * for an unknown id. */
ACLSHMEM_HOST_API int aclshmemx_instance_ctx_set_thread(uint64_t instance_id);

/** @brief The thread follows the choice for the process again (ours). */
ACLSHMEM_HOST_API void aclshmemx_instance_ctx_clear_thread(void);

/**
 * @brief Number of the instance that host calls of this thread act on (ours): every init of the
 * process gets the next one, so it tells two inits of one id apart. 0 when there is none. Local.
 */
ACLSHMEM_HOST_API uint64_t aclshmemx_instance_number(void);

/**
 * @brief Selects the instance of that number for the calling thread (ours), for objects that act on
 * their instance whatever is selected. `before` receives what aclshmemx_instance_leave restores.
 * @return 0; -5, silently and with nothing selected, when that instance is finalized.
 */
ACLSHMEM_HOST_API int aclshmemx_instance_enter(uint64_t number, void** before);
ACLSHMEM_HOST_API void aclshmemx_instance_leave(void* before);

/**
 * @brief The first error of a call without a result, on the host or in a kernel that went on
 * (ours): its code, 0 if there was none. An error that ends the kernel is not kept here: the next
 * synchronisation of its stream returns it, and aclGetRecentErrMsg has the text. `text`, if not
 * null, receives the message (`size` bytes, always with a NUL). Stays
 * until `clear` is true.
 */
ACLSHMEM_HOST_API int aclshmemx_last_error(char* text, size_t size, bool clear);

/** @brief What the control plane runs on (ours): address, TLS version, cipher and kind of key, as
 * one line. -5 before init. */
ACLSHMEM_HOST_API int aclshmemx_control_plane_info(char* text, size_t size);

/** @brief A barrier of all PEs over the control plane; touches no symmetric memory. Blocking. */
ACLSHMEM_HOST_API int aclshmemi_control_barrier_all(void);

}  // extern "C"

/**
 * @brief Starts this PE without saying which one it is (form of the design article). Collective
 * over all PEs that the launcher started, blocking. PE number, number of PEs and address come from
 * shmem-run, else from MPICH's or Slurm's PMI, PMIx, torchrun, Open MPI or Slurm; without a
 * launcher there is one PE. local_mem_size 0 means SHMEM_SYMMETRIC_SIZE. `attributes` may be null;
 * when they hold n_pes, ip_port or comm_args, this is init with ACLSHMEMX_INIT_WITH_DEFAULT.
 * `flags` and `reserved` must be 0 and null.
 * @return as the form with flags; -6 when there is a launcher but its variables are incomplete or
 * there is no way to find PE 0; -2 for a launcher variable that is no number or out of range.
 */
ACLSHMEM_HOST_API int32_t aclshmemx_init_attr(aclshmemx_init_attr_t* attributes, int flags,
                                              void* reserved);

#endif
