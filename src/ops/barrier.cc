#include "ops/barrier.h"

#include "core/sync.h"
#include "ops/order.h"

namespace symm::ops {

Status sync(Instance& instance, Team& team, uint32_t kind, const char* call, bool stream) {
  SYMM_TRY(instance.teams().meet(team, call));
  BarrierSpec spec{call, team.number(), team.slot(), team.members(), team.size(), team.me(), 0};
  spec.kind = kind;
  spec.slots = team.slots();
  spec.host = !stream;
  return run_barrier(instance, spec);
}

Status sync(Instance& instance, int number, const char* call, bool stream) {
  if (number == ACLSHMEM_TEAM_INVALID) return {};
  Team* team = instance.teams().find(number);
  if (team == nullptr) {
    return SYMM_ERROR(kInvalidParam, "{} on PE {}: there is no team {} here", call, instance.pe(),
                      number);
  }
  return sync(instance, *team, SYMM_CALL_BARRIER, call, stream);
}

Status barrier(Instance& instance, int number, const char* call) {
  if (number == ACLSHMEM_TEAM_INVALID) return {};
  SYMM_TRY(quiet(instance, call));
  return sync(instance, number, call);
}

}  // namespace symm::ops
