#include "capi/globals.h"

#include <algorithm>

#include "ascendc/core_abi.h"
#include "core/current.h"
#include "core/instance.h"
#include "host/shmem_host_def.h"

aclshmem_device_host_state_t g_state = symm::DeviceState::initial();
aclshmem_host_state_t g_state_host = {nullptr, 0, 0, {}};

// Kernels are launched with the state of the instance that is current at the launch.
void* symm_shmem_launch_state(void) {
  symm::Instance* instance = symm::current();
  return instance != nullptr ? instance->device().get() : nullptr;
}

namespace symm::capi {

void publish_globals(Instance* instance) {
  g_state = instance != nullptr ? instance->device().get()->base : DeviceState::initial();
  g_state_host = {nullptr, 0, 0, {}};
  if (instance == nullptr) return;
  g_state_host.default_stream = instance->stream().stream();
  std::copy_n(instance->stream().notifies(), ACLSHMEM_MAX_AIV_PER_NPU, g_state_host.notify_arr);
}

void publish_team(Instance& instance, int number) {
  if (number < 0 || number >= ACLSHMEM_MAX_TEAMS) return;
  // g_state shows the instance of the process only.
  if (g_state.heap_base != instance.heap_base()) return;
  g_state.team_pools[number] = instance.device().get()->base.team_pools[number];
}

}  // namespace symm::capi
