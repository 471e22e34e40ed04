// Internal to the kernel side: copies between the unified buffer of the core and symmetric memory.
// Ranges that leave the buffer move nothing; the first one of a core is reported. Copies to global
// memory honour the core's atomic mode.
#ifndef SYMM_DEVICE_UB_INL_H
#define SYMM_DEVICE_UB_INL_H

#include "ascendc/atomic.h"
#include "device/impl/rma_inl.h"

namespace symm_dev {

SYMM_COLD inline bool outside_ub(const symm_device_state* s, uint64_t bytes, const char* call) {
  char text[200];
  snprintf(text, sizeof text,
           "%s on PE %d: %llu bytes leave the unified buffer of %llu bytes; nothing was copied",
           call, s->base.mype, static_cast<unsigned long long>(bytes),
           static_cast<unsigned long long>(symm_rt_core()->ub_size));
  if (s->report != nullptr) s->report(s->owner, ACLSHMEM_INVALID_PARAM, text);
  return false;
}

inline bool check_ub(const symm_device_state* s, const volatile void* pointer, uint64_t bytes,
                     const char* call) {
  return __builtin_expect(fits_ub(pointer, bytes), 1) || outside_ub(s, bytes, call);
}

template <typename T>
inline void store_out(T* target, const T* source, uint64_t count) {
  if (__builtin_expect(symm_rt_core()->atomic_mode != symm::kernel::kAtomicNone, 0)) {
    symm::kernel::store_to_global(target, source, count * sizeof(T));
  } else {
    copy(target, source, count * sizeof(T));
  }
}

template <typename T>
inline void ub_get(volatile T* target, const T* source, uint64_t count, int pe, const char* call) {
  const symm_device_state* s = state(call);
  if (count == 0 || !check_ub(s, target, count * sizeof(T), call)) return;
  copy(plain(target), remote_as(s, source, count, pe, call), count * sizeof(T));
}

template <typename T>
inline void ub_put(T* target, const volatile T* source, uint64_t count, int pe, const char* call) {
  const symm_device_state* s = state(call);
  if (count == 0 || !check_ub(s, source, count * sizeof(T), call)) return;
  store_out(remote_as(s, target, count, pe, call), static_cast<const T*>(plain(source)), count);
}

template <typename T, typename Param>
inline void ub_get_rows(volatile T* target, const T* source, const Param& p, int pe,
                        const char* call) {
  const symm_device_state* s = state(call);
  const uint64_t span = span_of(p.repeat, p.length, p.src_ld);
  if (span == 0 || !check_ub(s, target, span_of(p.repeat, p.length, p.dst_ld) * sizeof(T), call))
    return;
  copy_rows(plain(target), static_cast<const T*>(remote_as(s, source, span, pe, call)), p.repeat,
            p.length, p.src_ld, p.dst_ld);
}

template <typename T, typename Param>
inline void ub_put_rows(T* target, const volatile T* source, const Param& p, int pe,
                        const char* call) {
  const symm_device_state* s = state(call);
  const uint64_t span = span_of(p.repeat, p.length, p.dst_ld);
  if (span == 0 || !check_ub(s, source, span_of(p.repeat, p.length, p.src_ld) * sizeof(T), call))
    return;
  T* to = remote_as(s, target, span, pe, call);
  for (uint64_t row = 0; row < p.repeat; ++row) {
    store_out(to + row * p.dst_ld, static_cast<const T*>(plain(source)) + row * p.src_ld, p.length);
  }
}

}  // namespace symm_dev
#endif
