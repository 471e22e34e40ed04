#include "tests/kernel/host_symbols.h"

#include <cstddef>
#include <cstdint>

#include "host_device/shmem_common_types.h"

namespace symm::test {
std::atomic<int> host_calls{0};
}

// Parameters do not matter to the caller of a C function on our platforms, so one shape serves all.
#define SYMM_COUNTED(name) \
  extern "C" int64_t name() { return ++symm::test::host_calls; }

#define SYMM_RMA(NAME, TYPE)                 \
  SYMM_COUNTED(aclshmem_##NAME##_put)        \
  SYMM_COUNTED(aclshmem_##NAME##_get)        \
  SYMM_COUNTED(aclshmem_##NAME##_put_nbi)    \
  SYMM_COUNTED(aclshmem_##NAME##_get_nbi)    \
  SYMM_COUNTED(aclshmem_##NAME##_iput)       \
  SYMM_COUNTED(aclshmem_##NAME##_iget)       \
  SYMM_COUNTED(aclshmem_##NAME##_p)          \
  SYMM_COUNTED(aclshmem_##NAME##_g)          \
  SYMM_COUNTED(aclshmem_##NAME##_put_signal) \
  SYMM_COUNTED(aclshmem_##NAME##_put_signal_nbi)
SYMM_HOST_TYPES(SYMM_RMA)

#define SYMM_SIZED(BITS)                    \
  SYMM_COUNTED(aclshmem_put##BITS)          \
  SYMM_COUNTED(aclshmem_get##BITS)          \
  SYMM_COUNTED(aclshmem_put##BITS##_nbi)    \
  SYMM_COUNTED(aclshmem_get##BITS##_nbi)    \
  SYMM_COUNTED(aclshmem_iput##BITS)         \
  SYMM_COUNTED(aclshmem_iget##BITS)         \
  SYMM_COUNTED(aclshmem_put##BITS##_signal) \
  SYMM_COUNTED(aclshmem_put##BITS##_signal_nbi)
ACLSHMEM_SIZE_FUNC(SYMM_SIZED)

#define SYMM_P2P(NAME, TYPE)                             \
  SYMM_COUNTED(aclshmem_##NAME##_wait_until)             \
  SYMM_COUNTED(aclshmem_##NAME##_wait)                   \
  SYMM_COUNTED(aclshmem_##NAME##_wait_until_all)         \
  SYMM_COUNTED(aclshmem_##NAME##_wait_until_any)         \
  SYMM_COUNTED(aclshmem_##NAME##_wait_until_some)        \
  SYMM_COUNTED(aclshmem_##NAME##_wait_until_all_vector)  \
  SYMM_COUNTED(aclshmem_##NAME##_wait_until_any_vector)  \
  SYMM_COUNTED(aclshmem_##NAME##_wait_until_some_vector) \
  SYMM_COUNTED(aclshmem_##NAME##_test)                   \
  SYMM_COUNTED(aclshmem_##NAME##_test_any)               \
  SYMM_COUNTED(aclshmem_##NAME##_test_some)              \
  SYMM_COUNTED(aclshmem_##NAME##_test_all_vector)        \
  SYMM_COUNTED(aclshmem_##NAME##_test_any_vector)        \
  SYMM_COUNTED(aclshmem_##NAME##_test_some_vector)
ACLSHMEM_P2P_SYNC_TYPE_FUNC(SYMM_P2P)

SYMM_COUNTED(aclshmem_my_pe)
SYMM_COUNTED(aclshmem_n_pes)
SYMM_COUNTED(aclshmem_team_my_pe)
SYMM_COUNTED(aclshmem_team_n_pes)
SYMM_COUNTED(aclshmem_team_translate_pe)
SYMM_COUNTED(aclshmem_barrier)
SYMM_COUNTED(aclshmem_barrier_all)
SYMM_COUNTED(aclshmem_sync)
SYMM_COUNTED(aclshmem_sync_all)
SYMM_COUNTED(aclshmem_ptr)
SYMM_COUNTED(aclshmem_putmem)
SYMM_COUNTED(aclshmem_getmem)
SYMM_COUNTED(aclshmem_putmem_nbi)
SYMM_COUNTED(aclshmem_getmem_nbi)
SYMM_COUNTED(aclshmemx_putmem_signal)
SYMM_COUNTED(aclshmemx_putmem_signal_nbi)
SYMM_COUNTED(aclshmem_signal_wait_until)
SYMM_COUNTED(aclshmemx_set_mte_config)
SYMM_COUNTED(aclshmemx_set_sdma_config)
SYMM_COUNTED(aclshmemx_set_rdma_config)
SYMM_COUNTED(aclshmemx_set_udma_config)
SYMM_COUNTED(aclshmemx_instance_ctx_get)
SYMM_COUNTED(aclshmemx_instance_ctx_set)
