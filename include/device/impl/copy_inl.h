// Internal to the kernel side: copies by the core itself (the MTE way). All inline, no system call,
// no lock.
#ifndef SYMM_DEVICE_COPY_INL_H
#define SYMM_DEVICE_COPY_INL_H

#include "device/impl/state_inl.h"

namespace symm_dev {

template <typename Word>
inline bool copy_word(void* target, const void* source) {
  if (((reinterpret_cast<uintptr_t>(target) | reinterpret_cast<uintptr_t>(source)) &
       (sizeof(Word) - 1)) != 0)
    return false;
  // One access, so the value is never torn. acquire and release: a program may use the value as a
  // flag for what it ordered before; on x86 they cost nothing.
  __atomic_store_n(static_cast<Word*>(target),
                   __atomic_load_n(static_cast<const Word*>(source), __ATOMIC_ACQUIRE),
                   __ATOMIC_RELEASE);
  return true;
}

// Copies bytes; 1, 2, 4 and 8 aligned bytes arrive in one piece.
inline void copy(void* target, const void* source, size_t bytes) {
  switch (bytes) {
    case 8:
      if (copy_word<uint64_t>(target, source)) return;
      break;
    case 4:
      if (copy_word<uint32_t>(target, source)) return;
      break;
    case 2:
      if (copy_word<uint16_t>(target, source)) return;
      break;
    case 1:
      copy_word<uint8_t>(target, source);
      return;
    default:
      break;
  }
  memcpy(target, source, bytes);
}

// One element, stored in one piece.
template <typename T>
inline void store_element(T* target, T value) {
  copy(target, &value, sizeof(T));
}

template <typename T>
inline T load_element(const T* source) {
  T value;
  copy(&value, source, sizeof(T));
  return value;
}

// Plain pointer of a pointer into the unified buffer.
template <typename T>
inline T* plain(const volatile T* pointer) {
  return const_cast<T*>(pointer);
}

// Elements between the first of the first row and the last of the last row; 0 if nothing moves.
inline uint64_t span_of(uint64_t rows, uint64_t length, uint64_t pitch) {
  return rows == 0 || length == 0 ? 0 : (rows - 1) * pitch + length;
}

// rows x length elements; pitches in elements.
template <typename T>
inline void copy_rows(T* target, const T* source, uint64_t rows, uint64_t length,
                      uint64_t source_pitch, uint64_t target_pitch) {
  for (uint64_t row = 0; row < rows; ++row) {
    copy(target + row * target_pitch, source + row * source_pitch, length * sizeof(T));
  }
}

// Does a range of the unified buffer end inside it? Pointers that are not in the buffer of this
// core pass.
inline bool fits_ub(const volatile void* pointer, uint64_t bytes) {
  const symm_core* core = symm_rt_core();
  const uintptr_t offset =
      reinterpret_cast<uintptr_t>(pointer) - reinterpret_cast<uintptr_t>(core->ub);
  return offset >= core->ub_size || bytes <= core->ub_size - offset;
}

// The MTE operations. Addresses on the far side are symmetric; counts are elements.
template <typename T>
inline void mte_put(T* target, const T* source, uint64_t count, int pe, const char* call) {
  const symm_device_state* s = state(call);
  if (count == 0) return;
  copy(remote_as(s, target, count, pe, call), own(s, source, "the source", call),
       count * sizeof(T));
}

template <typename T>
inline void mte_get(T* target, const T* source, uint64_t count, int pe, const char* call) {
  const symm_device_state* s = state(call);
  if (count == 0) return;
  copy(own(s, target, "the destination", call), remote_as(s, source, count, pe, call),
       count * sizeof(T));
}

template <typename T, typename Param>
inline void mte_put_rows(T* target, const T* source, const Param& p, int pe, const char* call) {
  const symm_device_state* s = state(call);
  const uint64_t span = span_of(p.repeat, p.length, p.dst_ld);
  if (span == 0) return;
  copy_rows(remote_as(s, target, span, pe, call), own(s, source, "the source", call), p.repeat,
            p.length, p.src_ld, p.dst_ld);
}

template <typename T, typename Param>
inline void mte_get_rows(T* target, const T* source, const Param& p, int pe, const char* call) {
  const symm_device_state* s = state(call);
  const uint64_t span = span_of(p.repeat, p.length, p.src_ld);
  if (span == 0) return;
  copy_rows(own(s, target, "the destination", call),
            static_cast<const T*>(remote_as(s, source, span, pe, call)), p.repeat, p.length,
            p.src_ld, p.dst_ld);
}

// Single elements, strides in elements; unit is the element size in bytes.
inline void strided(char* target, const char* source, ptrdiff_t target_stride,
                    ptrdiff_t source_stride, size_t count, size_t unit) {
  for (size_t i = 0; i < count; ++i) {
    copy(target + static_cast<ptrdiff_t>(i) * target_stride * static_cast<ptrdiff_t>(unit),
         source + static_cast<ptrdiff_t>(i) * source_stride * static_cast<ptrdiff_t>(unit), unit);
  }
}

// Bytes from the first to the end of the last element; more than any heap has when that does not
// fit.
inline uint64_t strided_bytes(uint64_t count, ptrdiff_t stride, uint64_t unit) {
  uint64_t elements = 0;
  uint64_t bytes = 0;
  if (stride < 0 || __builtin_mul_overflow(count - 1, static_cast<uint64_t>(stride), &elements) ||
      __builtin_mul_overflow(elements + 1, unit, &bytes)) {
    return UINT64_MAX;
  }
  return bytes;
}

inline void iput(void* target, const void* source, ptrdiff_t dst, ptrdiff_t sst, size_t count,
                 size_t unit, int pe, const char* call) {
  const symm_device_state* s = state(call);
  if (count == 0) return;
  const uint64_t span = strided_bytes(count, dst, unit);
  strided(remote(s, target, span, pe, call),
          static_cast<const char*>(own(s, source, "the source", call)), dst, sst, count, unit);
}

inline void iget(void* target, const void* source, ptrdiff_t dst, ptrdiff_t sst, size_t count,
                 size_t unit, int pe, const char* call) {
  const symm_device_state* s = state(call);
  if (count == 0) return;
  const uint64_t span = strided_bytes(count, sst, unit);
  strided(static_cast<char*>(own(s, target, "the destination", call)),
          remote(s, source, span, pe, call), dst, sst, count, unit);
}

// What the quiet of the MTE engine means here: the core copied inline, so one fence orders it all.
inline void mte_quiet() { full_fence(); }

}  // namespace symm_dev
#endif
