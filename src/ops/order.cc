#include "ops/order.h"

namespace symm::ops {

Status quiet(Instance& instance, const char* call) {
  // seq_cst: also orders stores before with loads after
  full_fence();
  SYMM_TRY(instance.quiesce());
  if (instance.check_level() != 2) return {};
  return instance.pending().complete(call, instance.pe());
}

Status check_pes(const Instance& instance, std::span<const int> pes, const char* call) {
  for (int pe : pes) {
    if (pe >= 0 && pe < instance.n_pes()) continue;
    return SYMM_ERROR(kInvalidParam, "{} on PE {}: PE {} is not one of 0..{}", call, instance.pe(),
                      pe, instance.n_pes() - 1);
  }
  return {};
}

Status quiet_to(Instance& instance, std::span<const int> pes, const char* call) {
  SYMM_TRY(check_pes(instance, pes, call));
  if (pes.empty()) return {};
  full_fence();  // as quiet
  // One default stream for all PEs: it is completed as a whole.
  SYMM_TRY(instance.quiesce());
  if (instance.check_level() != 2) return {};
  return instance.pending().complete_to(call, instance.pe(), pes);
}

Status local_quiet(Instance& instance, const char* call) {
  // Queued puts read their sources later.
  SYMM_TRY(instance.quiesce());
  if (instance.check_level() != 2) return {};
  return instance.pending().complete_sources(call, instance.pe());
}

}  // namespace symm::ops
