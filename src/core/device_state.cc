#include "core/device_state.h"

#include <algorithm>
#include <cstdint>

#include "acl/acl_base.h"
#include "ascendc/core_abi.h"
#include "base/config.h"
#include "core/current.h"
#include "core/instance.h"

namespace symm {
namespace {

// One piece per collective that runs in a kernel of this PE.
constexpr uint64_t kScratchBytes = 512 * 1024;
static_assert(SYNC_POOL_SIZE / kScratchBytes > 0 && SYNC_POOL_SIZE / kScratchBytes < 32);

int report_kernel_error(void* owner, int code, const char* text) {
  auto* instance = static_cast<Instance*>(owner);
  Status status(static_cast<Code>(code), text, __FILE__, __LINE__);
  record_error(*instance, status);
  return code;
}

// A launch failed: the stream reports and logs it, the instance keeps it for aclshmemx_last_error.
void keep_launch_failure(void* state, int acl_error, const char* text) {
  auto* shared = static_cast<symm_device_state*>(state);
  if (shared->owner == nullptr) return;
  Health& health = static_cast<Instance*>(shared->owner)->health();
  Code code = Code::kInternal;
  if (acl_error == ACL_ERROR_RT_STREAM_SYNC_TIMEOUT) code = Code::kTimeout;
  if (__atomic_load_n(health.word(), __ATOMIC_ACQUIRE) != 0) code = Code::kPeerLost;
  Status status(code, text, __FILE__, __LINE__);
  health.record(status);
  if (config::text("SHMEM_ON_ERROR") == "abort") {
    report_error(status);  // ends the process
  }
}

void* find_space(void* owner, const void* address, uint64_t bytes, int pe) {
  return static_cast<Instance*>(owner)->spaces().translate(address, bytes, pe);
}

int team_ready(void* owner, int team, char* text, size_t size) {
  return static_cast<Instance*>(owner)->teams().ready(team, text, size);
}

symm_device_state* find_state(uint64_t id) {
  Instance* instance = find_instance(id);
  return instance != nullptr ? instance->device().get() : nullptr;
}

}  // namespace

aclshmem_device_host_state_t DeviceState::initial() {
  aclshmem_device_host_state_t state{};
  state.version = (ACLSHMEM_MAJOR_VERSION << 16) + ACLSHMEM_MINOR_VERSION;
  state.mype = -1;
  state.npes = -1;
  state.heap_size = SIZE_MAX;
  // Default scratch of the engines in the unified buffer: offset, bytes, event.
  state.mte_config = {0, 16 * 1024, 0};
  state.sdma_config = {191 * 1024, 64, 0};
  state.rdma_config = {190 * 1024, 128, 0};
  state.udma_config = {189 * 1024, 128, 0};
  return state;
}

DeviceState::DeviceState() : state_(std::make_unique<symm_device_state>()) {
  state_->base = initial();
  state_->abi = SYMM_DEVICE_STATE_ABI;
}

void DeviceState::fill(Instance& instance, symm_engine* rdma, symm_engine* sdma,
                       symm_engine* udma) {
  symm_device_state& state = *state_;
  aclshmem_device_host_state_t& base = state.base;
  const int n_pes = instance.n_pes();
  for (int pe = 0; pe < n_pes; ++pe) {
    const Route& route = instance.route(pe);
    heaps_.push_back(route.heap);
    host_heaps_.push_back(nullptr);
    syncs_.push_back(route.sync);
    controls_.push_back(route.control);
    base.topo_list[pe] = route.engines;
  }
  slots_.assign(ACLSHMEM_MAX_TEAMS, nullptr);
  base.mype = instance.pe();
  base.npes = n_pes;
  base.heap_base = instance.heap_base();
  base.heap_size = instance.heap_bytes();
  base.p2p_device_heap_base = heaps_.data();
  base.rdma_device_heap_base = heaps_.data();
  base.sdma_device_heap_base = heaps_.data();
  base.p2p_host_heap_base = host_heaps_.data();
  base.rdma_host_heap_base = host_heaps_.data();
  base.sdma_host_heap_base = host_heaps_.data();
  const auto internal = reinterpret_cast<uint64_t>(instance.heap_base()) + instance.heap_limit();
  base.signal_addr = internal;
  base.sync_pool = internal + kSignalBytes;
  base.sync_counter = base.sync_pool + SYNC_POOL_SIZE;
  for (int number : {ACLSHMEM_TEAM_WORLD, ACLSHMEMX_TEAM_SHARED, ACLSHMEMX_TEAM_NODE}) {
    set_team(*instance.teams().find(number));
  }
  if (config::integer("SHMEM_CYCLE_PROF_PE") == instance.pe()) {
    profile_ = std::make_unique<aclshmem_prof_pe_t>();
    profile_->pe_id = instance.pe();
    base.profs = profile_.get();
  }
  base.is_aclshmem_created = true;
  base.is_aclshmem_initialized = true;
  base.qp_info = reinterpret_cast<uint64_t>(rdma);
  base.sdma_workspace_addr = reinterpret_cast<uint64_t>(sdma);
  state.wait = instance.wait_domain();
  state.peer_heap = heaps_.data();
  state.peer_sync = syncs_.data();
  state.peer_control = controls_.data();
  state.heap_limit = instance.heap_limit();
  state.peer_host_heap = host_heaps_.data();
  state.team_epoch = instance.epochs();
  state.team_slots = slots_.data();
  state.team_ready = team_ready;
  state.rdma = rdma;
  state.sdma = sdma;
  state.udma = udma;
  state.report = report_kernel_error;
  symm_rt_set_failure_hook(keep_launch_failure);
  state.owner = &instance;
  state.instance_id = instance.id();
  state.find_instance = find_state;
  state.find_space = find_space;
  // Our barriers live in the control area, so the pool is free for staging.
  state.scratch = base.sync_pool - reinterpret_cast<uint64_t>(instance.heap_base());
  state.scratch_bytes = kScratchBytes;
  state.scratch_pieces = SYNC_POOL_SIZE / kScratchBytes;
  state.scratch_taken = &scratch_taken_;
}

void DeviceState::set_host_heap(void* own, const std::vector<void*>& peers, uint64_t bytes) {
  // The arrays stay where they are: kernels hold their addresses.
  std::copy(peers.begin(), peers.end(), host_heaps_.begin());
  state_->base.host_heap_base = own;
  state_->host_heap = own;
  state_->host_heap_limit = bytes;
}

void DeviceState::set_team(const Team& team) {
  // release: a kernel that sees the entry sees the team
  if (team.ready()) {
    __atomic_store_n(&slots_[team.slot()], team.slots(), __ATOMIC_RELEASE);
  }
  __atomic_store_n(&state_->base.team_pools[team.number()], team.record(), __ATOMIC_RELEASE);
}

void DeviceState::remove_team(int number) {
  const auto index = static_cast<size_t>(number);
  __atomic_store_n(&state_->base.team_pools[index], nullptr, __ATOMIC_RELEASE);
  __atomic_store_n(&slots_[index], nullptr, __ATOMIC_RELEASE);
}

const aclshmem_prof_pe_t* DeviceState::snapshot_profile() {
  if (profile_ == nullptr) return nullptr;
  if (profile_copy_ == nullptr) profile_copy_ = std::make_unique<aclshmem_prof_pe_t>();
  *profile_copy_ = *profile_;
  return profile_copy_.get();
}

}  // namespace symm
