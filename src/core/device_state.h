// DeviceState: the block of plain data through which kernels see the instance, and the tables it
// points to. Threads: filled by the owner before it is published; afterwards only the scratch
// settings change, between launches.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "base/status.h"
#include "host_device/symm_device_state.h"

namespace symm {

class Instance;
class Team;

class DeviceState {
 public:
  DeviceState();
  // Fills everything from the instance, whose memory, routes, teams and engines exist.
  void fill(Instance& instance, symm_engine* rdma, symm_engine* sdma, symm_engine* udma);
  symm_device_state* get() { return state_.get(); }
  // The HOST_SIDE heap exists from now on.
  void set_host_heap(void* own, const std::vector<void*>& peers, uint64_t bytes);
  // Shows a team to kernels, and where its members meet once all have made it. Between kernels that
  // use it.
  void set_team(const Team& team);
  void remove_team(int number);
  void set_notifies(void* const* notifies) { state_->notifies = notifies; }
  // The counters of SHMEMI_PROF_START and _END as they are now, copied; null when this PE does not
  // record. Valid until the next call and while the object lives.
  const aclshmem_prof_pe_t* snapshot_profile();

  // The block as it is before init.
  static aclshmem_device_host_state_t initial();

 private:
  std::unique_ptr<symm_device_state> state_;
  std::vector<void*> heaps_;
  std::vector<void*> host_heaps_;
  std::vector<symm_team_sync*> syncs_;
  std::vector<symm_control_page*> controls_;
  std::vector<const uint32_t*> slots_;  // entries are atomic
  uint32_t scratch_taken_ = 0;          // atomic: bits of the pieces of scratch that kernels use
  std::unique_ptr<aclshmem_prof_pe_t> profile_;
  std::unique_ptr<aclshmem_prof_pe_t> profile_copy_;
};

}  // namespace symm
