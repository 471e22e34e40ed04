// Enums, structures and constants that host programs, kernels and the library share. Fixed layout
// (LP64); C++11.
#ifndef SHMEM_COMMON_TYPES_H
#define SHMEM_COMMON_TYPES_H

#include <climits>
#include <cstddef>
#include <cstdint>

#include "acl/acl_rt.h"
#include "host_device/shmem_common_macros.h"

#define ALIGN_TO(size, page) ((((size) + (page)-1) / (page)) * (page))
#define ALIGH_TO(size, page) ALIGN_TO(size, page)
#ifndef ALIGN_UP
#define ALIGN_UP(val, al) (((val) + ((al)-1)) & ~((al)-1))
#endif

#define ACLSHMEM_MAX_PES 16384
#define ACLSHMEM_MAX_TEAMS 2048
#define ACLSHMEM_SIGNAL_SIZE 8
#define ACLSHMEM_MAX_LOCAL_SIZE (40ULL * 1024 * 1024 * 1024)
#define TEAM_CONFIG_PADDING 48
#define SCALAR_DATA_CACHELINE_SIZE 64
#define L2_CACHELINE_SIZE 512
#define ACLSHMEM_PAGE_SIZE (2UL * 1024 * 1024)
#define ACLSHMEM_STARS_NOTIFY_ADDR_OFFSET (14 * 1024)
#define ACLSHMEM_SDMA_FLAG_LENGTH 64
#define ACLSHMEM_UDMA_MTE_STAGING_UB_SIZE 128
#define ACLSHMEM_RDMA_MTE_STAGING_UB_SIZE 128
#define ACLSHMEM_SYNCBIT_SIZE 64
#define ACLSHMEMI_SYNCBIT_SIZE ACLSHMEM_SYNCBIT_SIZE
#define SYNC_LOG_MAX_PES 5
#define ACLSHMEM_BARRIER_TG_DISSEM_KVAL 8
#define SYNC_ARRAY_SIZE (ACLSHMEM_SYNCBIT_SIZE * SYNC_LOG_MAX_PES * ACLSHMEM_BARRIER_TG_DISSEM_KVAL)
#define SYNC_COUNTER_SIZE ACLSHMEM_SYNCBIT_SIZE
#define SYNC_POOL_SIZE (SYNC_ARRAY_SIZE * ACLSHMEM_MAX_TEAMS)
#define SYNC_COUNTERS_SIZE (SYNC_COUNTER_SIZE * ACLSHMEM_MAX_TEAMS)
#define ACLSHMEM_MAX_AIV_PER_NPU 48
#define ACLSHMEM_LOG_MAX_AIV_PER_NPU 6
#define ACLSHMEM_CORE_SYNC_POOL_SIZE \
  (ACLSHMEM_MAX_AIV_PER_NPU * ACLSHMEM_LOG_MAX_AIV_PER_NPU * ACLSHMEM_SYNCBIT_SIZE)
#define ACLSHMEM_CORE_SYNC_COUNTER_SIZE ACLSHMEM_SYNCBIT_SIZE
#define ACLSHMEM_EXTRA_SIZE_UNALIGNED SYNC_POOL_SIZE
#define ACLSHMEM_EXTRA_SIZE_UNALIGHED ACLSHMEM_EXTRA_SIZE_UNALIGNED
#define ACLSHMEM_EXTRA_SIZE ALIGN_TO(ACLSHMEM_EXTRA_SIZE_UNALIGNED, ACLSHMEM_PAGE_SIZE)
#define ACLSHMEM_CYCLE_PROF_MAX_BLOCK 64
#define ACLSHMEM_CYCLE_PROF_FRAME_CNT 1024
#define ACLSHMEM_MAJOR_VERSION 1
#define ACLSHMEM_MINOR_VERSION 1
#define ACLSHMEM_VENDOR_MAJOR_VER 1
#define ACLSHMEM_VENDOR_MINOR_VER 1
#define ACLSHMEM_VENDOR_PATCH_VER 1
#define ACLSHMEM_MAX_NAME_LEN 256
#define ACLSHMEM_MAX_IP_PORT_LEN 64

extern "C" {

constexpr uint64_t ACLSHMEM_HEAP_ALIGNMENT_SIZE = 1ULL << 30;
constexpr uint16_t ACLSHMEM_UNIQUE_ID_INNER_LEN = 124;
constexpr int DEFAULT_TIMEOUT = 120;  // seconds
constexpr int32_t ACLSHMEM_UNIQUEID_VERSION = (1 << 16) + 136;

#define ACLSHMEM_UNIQUEID_INITIALIZER      \
  {                                        \
    ACLSHMEM_UNIQUEID_VERSION, 0, 0, { 0 } \
  }

typedef int32_t Result;

enum aclshmem_team_index_t {
  ACLSHMEM_TEAM_INVALID = -1,
  ACLSHMEM_TEAM_WORLD = 0,
  // Ours: the PEs that share memory with this one, and those of its host.
  ACLSHMEMX_TEAM_SHARED = 2046,
  ACLSHMEMX_TEAM_NODE = 2047,
};

// Bits of the engines a program asks for at init.
enum data_op_engine_type_t {
  ACLSHMEM_DATA_OP_MTE = 0x01,
  ACLSHMEM_DATA_OP_SDMA = 0x02,
  ACLSHMEM_DATA_OP_ROCE = 0x04,
  ACLSHMEM_DATA_OP_UDMA = 0x08,
  ACLSHMEM_DATA_OP_MAX = 0x08,
};

enum aclshmem_mem_type_t {
  HOST_SIDE = 0,
  DEVICE_SIDE = 1,
};

enum aclshmem_signal_op_type_t {
  ACLSHMEM_SIGNAL_SET = 0,
  ACLSHMEM_SIGNAL_ADD = 1,
};

enum aclshmem_cmp_op_type_t {
  ACLSHMEM_CMP_EQ = 0,
  ACLSHMEM_CMP_NE = 1,
  ACLSHMEM_CMP_GT = 2,
  ACLSHMEM_CMP_GE = 3,
  ACLSHMEM_CMP_LT = 4,
  ACLSHMEM_CMP_LE = 5,
};

enum aclshmem_error_code_t : int {
  ACLSHMEM_SUCCESS = 0,
  ACLSHMEM_INVALID_PARAM = -1,
  ACLSHMEM_INVALID_VALUE = -2,
  ACLSHMEM_SMEM_ERROR = -3,
  ACLSHMEM_INNER_ERROR = -4,
  ACLSHMEM_NOT_INITED = -5,
  ACLSHMEM_BOOTSTRAP_ERROR = -6,
  ACLSHMEM_TIMEOUT_ERROR = -7,
  ACLSHMEM_MALLOC_FAILED = -8,
  ACLSHMEM_DL_FUNC_FAILED = -9,
  ACLSHMEM_INNER_TIMEOUT = -10,
  ACLSHMEM_UNDER_API_UNLOAD = -11,
  ACLSHMEM_PEER_LOST = -12,  // ours: a PE of the job ended without saying goodbye
  ACLSHMEM_NOT_SUPPORTED = -100,
};

enum aclshmemx_bootstrap_t : unsigned int {
  ACLSHMEMX_INIT_WITH_DEFAULT = 1U << 0,
  ACLSHMEMX_INIT_WITH_MPI = 1U << 1,
  ACLSHMEMX_INIT_WITH_UNIQUEID = 1U << 3,
  ACLSHMEMX_INIT_MAX = 1U << 31,
};

enum aclshmemx_init_status_t {
  ACLSHMEM_STATUS_NOT_INITIALIZED = 0,
  ACLSHMEM_STATUS_SHM_CREATED = 1,
  ACLSHMEM_STATUS_IS_INITIALIZED = 2,
  ACLSHMEM_STATUS_INVALID = INT_MAX,
};

// Bits of topo_list. The order differs from data_op_engine_type_t.
enum aclshmem_transport_t : uint8_t {
  ACLSHMEM_TRANSPORT_MTE = 1,
  ACLSHMEM_TRANSPORT_ROCE = 2,
  ACLSHMEM_TRANSPORT_SDMA = 4,
  ACLSHMEM_TRANSPORT_UDMA = 8,
};

typedef int aclshmem_team_t;
typedef uint64_t aclshmemx_team_uniqueid_t;
typedef int32_t aclshmemx_sync_bit[ACLSHMEM_SYNCBIT_SIZE / sizeof(int32_t)];

// Decrypts a key password. 0 is success. plainTextLen: capacity on entry, length on return.
typedef int (*aclshmem_decrypt_handler)(const char* cipherText, size_t cipherTextLen,
                                        char* plainText, size_t& plainTextLen);

struct aclshmem_init_optional_attr_t {
  int version;
  data_op_engine_type_t data_op_engine_type;
  uint32_t shm_init_timeout;           // seconds to connect
  uint32_t shm_create_timeout;         // seconds
  uint32_t control_operation_timeout;  // seconds of one control operation
  int32_t sockFd;                      // pre-bound listening socket of PE 0, used when > 0
};

struct aclshmemx_init_attr_t {
  int my_pe = -1;  // -1 with n_pes 0: not given
  int n_pes = 0;
  char ip_port[ACLSHMEM_MAX_IP_PORT_LEN] = {};
  uint64_t local_mem_size = 0;  // bytes
  aclshmem_init_optional_attr_t option_attr = {
      (1 << 16) + 24, ACLSHMEM_DATA_OP_MTE, DEFAULT_TIMEOUT, DEFAULT_TIMEOUT, DEFAULT_TIMEOUT, 0};
  void* comm_args = nullptr;
  uint64_t instance_id = 0;
};

struct aclshmemx_uniqueid_t {
  int32_t version;
  int my_pe;
  int n_pes;
  char internal[ACLSHMEM_UNIQUE_ID_INNER_LEN];
};

struct aclshmem_team_config_t {
  int32_t version;
  int32_t num_contexts;
  aclshmemx_team_uniqueid_t uniqueid;
  char padding[TEAM_CONFIG_PADDING];
};

struct aclshmemx_team_t {
  int mype;
  int start;
  int stride;
  int size;
  int team_idx;
  aclshmem_team_config_t config;
  // First half: PE of the team -> world PE. Second half: world PE -> PE of the team, -1 for
  // non-members.
  int32_t pe_mapping[2 * ACLSHMEM_MAX_PES];
};

struct aclshmem_handle_t {
  aclshmem_team_t team_id;
};

// Scratch of an engine in the unified buffer.
struct aclshmem_ub_config_t {
  int64_t aclshmem_ub;  // offset in bytes
  uint32_t ub_size;     // bytes
  uint32_t sync_id;
};
typedef aclshmem_ub_config_t aclshmem_mte_config_t;
typedef aclshmem_ub_config_t aclshmem_sdma_config_t;
typedef aclshmem_ub_config_t aclshmem_rdma_config_t;
typedef aclshmem_ub_config_t aclshmem_udma_config_t;

struct aclshmem_prof_block_t {
  int64_t ccount[ACLSHMEM_CYCLE_PROF_FRAME_CNT];
  int64_t cycles[ACLSHMEM_CYCLE_PROF_FRAME_CNT];
};

struct aclshmem_prof_pe_t {
  int32_t pe_id;
  aclshmem_prof_block_t block_prof[ACLSHMEM_CYCLE_PROF_MAX_BLOCK];
};

struct aclshmem_device_host_state_t {
  int version;
  int mype;
  int npes;
  void* heap_base;
  void* host_heap_base;
  void** p2p_device_heap_base;
  void** rdma_device_heap_base;
  void** sdma_device_heap_base;
  void** p2p_host_heap_base;
  void** rdma_host_heap_base;
  void** sdma_host_heap_base;
  uint8_t topo_list[ACLSHMEM_MAX_PES];  // aclshmem_transport_t bits per PE
  size_t heap_size;
  aclshmemx_team_t* team_pools[ACLSHMEM_MAX_TEAMS];
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
  aclshmem_prof_pe_t* profs;
  uint64_t signal_addr;
};

struct aclshmem_host_state_t {
  void* default_stream;
  int8_t default_event_id;
  uint32_t default_block_num;
  void* notify_arr[ACLSHMEM_MAX_AIV_PER_NPU];
};

struct aclshmem_instance_ctx {
  uint64_t id;
  void* instance;
};

}  // extern "C"

static_assert(sizeof(aclshmem_init_optional_attr_t) == 24,
              "layout of aclshmem_init_optional_attr_t");
static_assert(sizeof(aclshmemx_init_attr_t) == 120, "layout of aclshmemx_init_attr_t");
static_assert(sizeof(aclshmemx_uniqueid_t) == 136, "layout of aclshmemx_uniqueid_t");
static_assert(sizeof(aclshmem_team_config_t) == 64, "layout of aclshmem_team_config_t");
static_assert(offsetof(aclshmemx_team_t, config) == 24, "layout of aclshmemx_team_t");
static_assert(offsetof(aclshmemx_team_t, pe_mapping) == 88, "layout of aclshmemx_team_t");
static_assert(sizeof(aclshmemx_team_t) == 131160, "layout of aclshmemx_team_t");
static_assert(sizeof(aclshmem_ub_config_t) == 16, "layout of aclshmem_ub_config_t");
static_assert(sizeof(aclshmem_prof_block_t) == 16384, "layout of aclshmem_prof_block_t");
static_assert(sizeof(aclshmem_prof_pe_t) == 1048584, "layout of aclshmem_prof_pe_t");
static_assert(sizeof(aclshmem_device_host_state_t) == 32992,
              "layout of aclshmem_device_host_state_t");
static_assert(sizeof(aclshmem_host_state_t) == 400, "layout of aclshmem_host_state_t");
static_assert(sizeof(aclshmemx_sync_bit) == 64, "layout of aclshmemx_sync_bit");

#define aclshmemi_sync_bit aclshmemx_sync_bit
#define shmem_error_code_t aclshmem_error_code_t
#define shmemx_bootstrap_t aclshmemx_bootstrap_t
#define shmem_init_status_t aclshmemx_init_status_t
#define shmem_transport_t aclshmem_transport_t
#define shmem_init_optional_attr_t aclshmem_init_optional_attr_t
#define shmem_init_attr_t aclshmemx_init_attr_t
#define shmem_uniqueid_t aclshmemx_uniqueid_t
#define shmem_decrypt_handler aclshmem_decrypt_handler

#endif
