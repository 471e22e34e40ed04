// The part of Launch that deals with flags between cores.
#include "runtime/cross_flags.h"

#include "runtime/launch.h"

namespace symm::runtime {
namespace {

struct CrossWait {
  Launch* launch;
  Core* core;
  CrossFlags* flags;
  uint32_t id;
  uint64_t counted = 0;
};

}  // namespace

CrossFlags& Launch::cross_flags() {
  std::call_once(cross_once_, [this] {
    const uint32_t blocks = spec_->blocks;
    cross_ = std::make_unique<CrossFlags>(blocks, sync_parties() / blocks);
  });
  return *cross_;
}

void Launch::cross_set(Core& core, uint32_t mode, uint32_t id) {
  if (id >= kCrossIds)
    trap(core, fmt::format("CrossCoreSetFlag: flag {} is not in 0..{}", id, kCrossIds - 1).c_str());
  if (core.lanes != nullptr) trap(core, "CrossCoreSetFlag inside a SIMT function");
  if (mode >= 2) return;  // for a cube core
  const auto block = static_cast<uint32_t>(core.abi.block);
  CrossFlags& flags = cross_flags();
  const bool room =
      mode == 0 ? flags.set_all(core.cross, id) : flags.set_block(core.cross, block, id);
  if (!room) {
    trap(core,
         fmt::format("CrossCoreSetFlag: flag {} of mode {} was set {} times before the slowest "
                     "core of the group set it; wait for it in between",
                     id, mode, kCrossRounds)
             .c_str());
  }
  if (sleeping_.size() > 1) wake_workers();
}

int Launch::cross_is_raised(void* argument) {
  auto* wait = static_cast<CrossWait*>(argument);
  Core& core = *wait->core;
  const uint64_t state = wait->flags->state();
  if (wait->flags->raised(core.cross, static_cast<uint32_t>(core.abi.block), wait->id)) return 1;
  Launch& launch = *wait->launch;
  const uint32_t stuck = wait->flags->blocked(state, wait->counted) +
                         launch.ended_cores_.load(std::memory_order_seq_cst);
  if (stuck >= launch.sync_parties()) {
    launch.fail(
        ACL_ERROR_INTERNAL_ERROR,
        fmt::format("{}: CrossCoreWaitFlag({}) can never end: every core waits for a flag or "
                    "has ended (cube cores do not run on this device)",
                    launch.name_of(core), wait->id));
  }
  return 0;
}

void Launch::cross_wait(Core& core, uint32_t mode, uint32_t id) {
  check_failed();
  if (id >= kCrossIds)
    trap(core,
         fmt::format("CrossCoreWaitFlag: flag {} is not in 0..{}", id, kCrossIds - 1).c_str());
  if (core.lanes != nullptr) trap(core, "CrossCoreWaitFlag inside a SIMT function");
  if (mode >= 2) {
    trap(core,
         fmt::format("CrossCoreWaitFlag<{}>({}) waits for a cube core, and those do not run on "
                     "this device",
                     mode, id)
             .c_str());
  }
  CrossWait waiting{this, &core, &cross_flags(), id};
  symm_wait wait{};
  wait.poll = cross_is_raised;
  wait.argument = &waiting;
  wait.call = "CrossCoreWaitFlag";
  wait.team = wait.peer = wait.compare = -1;
  wait.wanted = id;
  wait.kind = SYMM_WAIT_KIND_CORES;
  (void)this->wait(core, wait);
  ++core.cross.waited[id];
}

}  // namespace symm::runtime
