#include "ops/signal.h"

#include "ops/rma.h"

namespace symm::ops {
namespace {

Result<int32_t*> target_of(const Instance& instance, int32_t* address, int pe, const char* call) {
  std::byte* word = translate(instance, address, sizeof(*address), pe);
  if (word == nullptr) SYMM_TRY(bad_target(instance, address, sizeof(*address), pe, call, &word));
  if (!aligned(word, sizeof(*address))) {
    return SYMM_ERROR(kInvalidParam, "{} on PE {}: the signal at {} is not aligned to 4 bytes",
                      call, instance.pe(), static_cast<void*>(address));
  }
  return reinterpret_cast<int32_t*>(word);
}

void apply(int32_t* word, int32_t value, int op, symm_event_count& events) {
  if (op == ACLSHMEM_SIGNAL_SET) {
    // release: the data put before is visible to who sees the signal
    __atomic_store_n(word, value, __ATOMIC_RELEASE);
    os::notify(events);
  } else if (op == ACLSHMEM_SIGNAL_ADD) {
    // seq_cst: release for the data, and the fence that notify needs
    __atomic_fetch_add(word, value, __ATOMIC_SEQ_CST);
    os::notify_after_rmw(events);
  }
}

}  // namespace

Status signal(Instance& instance, int32_t* address, int32_t value, int op, int pe,
              const char* call) {
  SYMM_ASSIGN(int32_t * word, target_of(instance, address, pe, call));
  apply(word, value, op, instance.route(pe).control->events);
  return {};
}

Status put_signal(Instance& instance, void* to, const void* from, size_t bytes, int32_t* address,
                  int32_t value, int op, int pe, const char* call) {
  // Nothing is copied when the signal cannot be given.
  SYMM_ASSIGN(int32_t * word, target_of(instance, address, pe, call));
  if (bytes > 0) SYMM_TRY(put(instance, to, from, bytes, pe, call));
  apply(word, value, op, instance.route(pe).control->events);
  return {};
}

}  // namespace symm::ops
