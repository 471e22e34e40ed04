#include "ops/signal.h"

#include "ops/rma.h"

namespace symm::ops {
namespace {

template <typename Word>
Result<Word*> target_of(const Instance& instance, Word* address, int pe, const char* call) {
  SYMM_ASSIGN(std::byte * word,
              locate(instance, address, {1, sizeof(*address)}, pe, "signal address", call));
  if (!aligned(word, sizeof(*address))) {
    return SYMM_ERROR(kInvalidParam, "{} on PE {}: the signal at {} is not aligned to {} bytes",
                      call, instance.pe(), static_cast<void*>(address), sizeof(*address));
  }
  return reinterpret_cast<Word*>(word);
}

template <typename Word>
void apply(Word* word, Word value, int op, symm_event_count& events) {
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

template <typename Word>
Status check_signal(const Instance& instance, Word* address, int op, int pe, const char* call) {
  SYMM_TRY(check_op(instance, op, call));
  return std::move(target_of(instance, address, pe, call).status());
}

template <typename Word>
Status signal(Instance& instance, Word* address, Word value, int op, int pe, const char* call) {
  SYMM_ASSIGN(Word * word, target_of(instance, address, pe, call));
  SYMM_TRY(check_op(instance, op, call));
  apply(word, value, op, instance.route(pe).control->events);
  return {};
}

// At SHMEM_CHECK=2: the signal is no part of the data.
Status check_apart(const Instance& instance, const void* to, size_t bytes, const void* signal,
                   size_t signal_bytes, const char* call) {
  const auto data = reinterpret_cast<uintptr_t>(to);
  const auto word = reinterpret_cast<uintptr_t>(signal);
  if (instance.check_level() != 2 || word >= data + bytes || data >= word + signal_bytes) return {};
  return SYMM_ERROR(
      kInvalidParam,
      "{} on PE {}: the signal at {} lies in the {} bytes at {} that the call writes; "
      "give it a place of its own",
      call, instance.pe(), signal, bytes, to);
}

template <typename Word>
Status put_signal(Instance& instance, void* to, const void* from, const Amount& amount,
                  Word* address, Word value, int op, int pe, const char* call, uint64_t* pending) {
  // Nothing is copied when there is no place for the signal.
  SYMM_ASSIGN(Word * word, target_of(instance, address, pe, call));
  const size_t bytes = amount.bytes();
  SYMM_TRY(check_apart(instance, to, bytes, address, sizeof(*address), call));
  if (bytes > 0 && !try_put(instance.fast(), to, from, bytes, pe)) {
    SYMM_TRY(put_slow(instance, to, from, amount, pe, call, pending));
  }
  SYMM_TRY(check_op(instance, op, call));
  apply(word, value, op, instance.route(pe).control->events);
  return {};
}

#define SYMM_INSTANTIATE(WORD)                                                                    \
  template Status check_signal(const Instance&, WORD*, int, int, const char*);                    \
  template Status signal(Instance&, WORD*, WORD, int, int, const char*);                          \
  template Status put_signal(Instance&, void*, const void*, const Amount&, WORD*, WORD, int, int, \
                             const char*, uint64_t*)
SYMM_INSTANTIATE(int32_t);
SYMM_INSTANTIATE(uint64_t);
#undef SYMM_INSTANTIATE

}  // namespace symm::ops
