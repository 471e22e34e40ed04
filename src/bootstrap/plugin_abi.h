/* The C interface of a bootstrap plug-in. libshmem.so loads a plug-in by name and takes one table
 * from it; a plug-in links libshmem_utils.so only. All functions return a Code number (0 is
 * success) and write a text into `error` on failure. Threads: calls on one handle come from one
 * thread at a time, except global_exit, which may come at any time. */
#ifndef SYMM_BOOTSTRAP_PLUGIN_ABI_H
#define SYMM_BOOTSTRAP_PLUGIN_ABI_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

enum { SYMM_BOOTSTRAP_ABI = 2 };
enum { SYMM_EVENT_PEER_LOST = 1, SYMM_EVENT_GLOBAL_EXIT = 2, SYMM_EVENT_STORE_LOST = 3 };

/* TLS of the control plane, as the user set it before init. Strings may be null. */
typedef struct symm_tls_options {
  int32_t enabled;          /* 1 unless switched off */
  int32_t chosen_by_user;   /* 1: the user called the setter */
  const char* info;         /* tlsCaPath:...;tlsCert:...; (api: configuration string) */
  const char* private_key;  /* PEM */
  const char* key_password; /* maybe encrypted */
  void* decrypt;            /* aclshmem_decrypt_handler */
} symm_tls_options;

/* What is in force. Texts are cut to their fields and end with NUL. */
typedef struct symm_tls_status {
  int32_t enabled;
  char version[16]; /* empty when nothing is connected */
  char cipher[48];
  char key_kind[32];           /* certificate, job secret, unique-id secret, user secret */
  char source[256];            /* where the key comes from */
  char peer[128];              /* name in the certificate of PE 0, else its address */
  int64_t certificate_expires; /* seconds since 1970, 0 without a certificate */
} symm_tls_status;

typedef struct symm_bootstrap_config {
  uint32_t size;       /* of this struct */
  uint32_t mode;       /* aclshmemx_bootstrap_t bit */
  int32_t pe;          /* in; MPI: out */
  int32_t n_pes;       /* in; MPI: out */
  const char* address; /* tcp://host:port or tcp6://[host]:port; may be null in unique-id mode */
  void* comm_args;     /* unique id (aclshmemx_uniqueid_t*) or MPI_Comm* */
  double connect_timeout_s; /* wall clock */
  double operation_timeout_s;
  int32_t listen_fd; /* pre-bound listening socket for PE 0, or -1 */
  uint64_t instance;
  symm_tls_options tls;
  /* Called from the plug-in's own thread: a PE died (event PEER_LOST, pe), someone called
   * global_exit (status in pe), or the store itself is gone. Must not block. */
  void (*on_event)(void* user, int event, int pe, const char* text);
  void* user;
} symm_bootstrap_config;

typedef struct symm_bootstrap_table {
  uint32_t abi;  /* SYMM_BOOTSTRAP_ABI */
  uint32_t size; /* of this struct */
  const char* name;
  /* Fills the 136 bytes of a unique id and binds its socket. Null when the mode has none. */
  int (*unique_id)(void* uid, const symm_tls_options* tls, char* error, size_t error_size);
  /* Collective: all PEs of the job connect. */
  int (*open)(symm_bootstrap_config* config, void** handle, char* error, size_t error_size);
  /* Collective: out receives n_pes * bytes in PE order. `what` names the step in time-out messages.
   */
  int (*allgather)(void* handle, const void* in, size_t bytes, void* out, const char* what,
                   char* error, size_t error_size);
  int (*barrier)(void* handle, const char* what, char* error, size_t error_size);
  /* Non-collective: asks every PE to end with status. */
  int (*global_exit)(void* handle, int status, char* error, size_t error_size);
  /* One line for people: address, TLS version, cipher, kind of key. */
  void (*info)(void* handle, char* text, size_t size);
  /* The same in parts; null when the bootstrap has no TLS of its own. */
  void (*tls_status)(void* handle, symm_tls_status* out);
  /* Bytes that all PEs of the job share and no outsider knows; salts the names of local sockets and
   * authenticates them. */
  int (*job_key)(void* handle, uint8_t key[32], char* error, size_t error_size);
  /* Says goodbye (so that peers do not take it for a death) and frees the handle. */
  void (*close)(void* handle);
  /* The three below may be null. Not collective: this PE cannot take part in the job that the
   * options name; tells the other PEs why, as far as they can be reached within a few seconds. */
  void (*refuse)(const symm_bootstrap_config* config, const char* why);
  /* The others were waited for long enough: close will not wait for them again. */
  void (*hurry)(void* handle);
  /* In a child of fork: closes the descriptors of the connection there, so that the child does not
   * keep it open when the parent dies. Takes no lock and frees nothing. */
  void (*forked)(void* handle);
} symm_bootstrap_table;

/* The symbol that every plug-in exports. */
const symm_bootstrap_table* symm_bootstrap_plugin(void);

#ifdef __cplusplus
}
#endif
#endif
