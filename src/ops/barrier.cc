#include "ops/barrier.h"

#include "core/sync.h"
#include "ops/order.h"

namespace symm::ops {

Status sync(Instance& instance, int number, const char* call) {
  if (number == ACLSHMEM_TEAM_INVALID) return {};
  const Team* team = instance.teams().find(number);
  if (team == nullptr) {
    return SYMM_ERROR(kInvalidParam, "{} on PE {}: there is no team {} here", call, instance.pe(),
                      number);
  }
  return run_barrier(instance,
                     {call, number, team->slot(), team->members(), team->size(), team->me(), 0});
}

Status barrier(Instance& instance, int number, const char* call) {
  if (number == ACLSHMEM_TEAM_INVALID) return {};
  SYMM_TRY(quiet(instance, call));
  return sync(instance, number, call);
}

}  // namespace symm::ops
