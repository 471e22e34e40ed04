#include "ops/signal.h"

#include "ops/rma.h"

namespace symm::ops {
namespace {

Result<int32_t*> target_of(const Instance& instance, int32_t* address, int pe, const char* call) {
  SYMM_ASSIGN(std::byte * word,
              locate(instance, address, {1, sizeof(*address)}, pe, "signal address", call));
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

Status check_op(const Instance& instance, int op, const char* call) {
  if (op == ACLSHMEM_SIGNAL_SET || op == ACLSHMEM_SIGNAL_ADD) return {};
  return SYMM_ERROR(kInvalidParam,
                    "{} on PE {}: there is no signal operation {}, so no signal is given; pass "
                    "ACLSHMEM_SIGNAL_SET ({}) or ACLSHMEM_SIGNAL_ADD ({})",
                    call, instance.pe(), op, static_cast<int>(ACLSHMEM_SIGNAL_SET),
                    static_cast<int>(ACLSHMEM_SIGNAL_ADD));
}

}  // namespace

Status check_signal(const Instance& instance, int32_t* address, int op, int pe, const char* call) {
  SYMM_TRY(check_op(instance, op, call));
  return std::move(target_of(instance, address, pe, call).status());
}

Status signal(Instance& instance, int32_t* address, int32_t value, int op, int pe,
              const char* call) {
  SYMM_ASSIGN(int32_t * word, target_of(instance, address, pe, call));
  SYMM_TRY(check_op(instance, op, call));
  apply(word, value, op, instance.route(pe).control->events);
  return {};
}

Status put_signal(Instance& instance, void* to, const void* from, const Amount& amount,
                  int32_t* address, int32_t value, int op, int pe, const char* call) {
  // Nothing is copied when there is no place for the signal.
  SYMM_ASSIGN(int32_t * word, target_of(instance, address, pe, call));
  const size_t bytes = amount.bytes();
  if (bytes > 0 && !try_put(instance, to, from, bytes, pe)) {
    SYMM_TRY(put_slow(instance, to, from, amount, pe, call));
  }
  SYMM_TRY(check_op(instance, op, call));
  apply(word, value, op, instance.route(pe).control->events);
  return {};
}

}  // namespace symm::ops
