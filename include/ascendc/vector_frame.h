// The frame of the vector operations: masks, strides, and loops over elements. An operation has
// three forms: `count` elements; `mask` active elements in each of `repeat` stretches of 256 bytes;
// a bit mask instead of the number. Strides are in units of 32 bytes.
#pragma once

#include "ascendc/tensor.h"

// The iterations are independent: sources and destination are equal or apart.
#if defined(__clang__)
// Without optimisation, or with calls in the loop, clang would complain that it did not vectorise.
#pragma clang diagnostic ignored "-Wpass-failed"
#define SYMM_INDEPENDENT_LOOP _Pragma("clang loop vectorize(assume_safety)")
#else
#define SYMM_INDEPENDENT_LOOP _Pragma("GCC ivdep")
#endif

namespace AscendC {

inline constexpr uint8_t DEFAULT_BLK_STRIDE = 1;
inline constexpr uint8_t DEFAULT_REPEAT_STRIDE = 8;

struct UnaryRepeatParams {
  uint16_t dstBlkStride = DEFAULT_BLK_STRIDE;
  uint16_t srcBlkStride = DEFAULT_BLK_STRIDE;
  uint8_t dstRepStride = DEFAULT_REPEAT_STRIDE;
  uint8_t srcRepStride = DEFAULT_REPEAT_STRIDE;

  constexpr UnaryRepeatParams() {}
  constexpr UnaryRepeatParams(uint16_t dst_block, uint16_t src_block, uint8_t dst_repeat,
                              uint8_t src_repeat)
      : dstBlkStride(dst_block),
        srcBlkStride(src_block),
        dstRepStride(dst_repeat),
        srcRepStride(src_repeat) {}
};

struct BinaryRepeatParams {
  uint8_t dstBlkStride = DEFAULT_BLK_STRIDE;
  uint8_t src0BlkStride = DEFAULT_BLK_STRIDE;
  uint8_t src1BlkStride = DEFAULT_BLK_STRIDE;
  uint8_t dstRepStride = DEFAULT_REPEAT_STRIDE;
  uint8_t src0RepStride = DEFAULT_REPEAT_STRIDE;
  uint8_t src1RepStride = DEFAULT_REPEAT_STRIDE;

  constexpr BinaryRepeatParams() {}
  constexpr BinaryRepeatParams(uint8_t dst_block, uint8_t src0_block, uint8_t src1_block,
                               uint8_t dst_repeat, uint8_t src0_repeat, uint8_t src1_repeat)
      : dstBlkStride(dst_block),
        src0BlkStride(src0_block),
        src1BlkStride(src1_block),
        dstRepStride(dst_repeat),
        src0RepStride(src0_repeat),
        src1RepStride(src1_repeat) {}
};

enum class MaskMode : uint8_t { NORMAL, COUNTER };

}  // namespace AscendC

namespace symm::kernel {

// The type an operation computes in.
template <typename T>
using Wide = std::conditional_t<is_small_float_v<T>, float, T>;

// Which elements of each repeat take part.
struct Mask {
  uint64_t low = ~uint64_t{0};
  uint64_t high = ~uint64_t{0};
  uint64_t total = 0;  // counter mode: elements over all repeats; 0: not in counter mode

  static constexpr Mask first(uint64_t count) {
    Mask mask;
    mask.low = count >= 64 ? ~uint64_t{0} : (uint64_t{1} << count) - 1;
    mask.high = count >= 128 ? ~uint64_t{0} : count <= 64 ? 0 : (uint64_t{1} << (count - 64)) - 1;
    return mask;
  }
  static constexpr Mask bits(const uint64_t* words) { return {words[0], words[1], 0}; }

  // Elements beyond 128 exist for one-byte types only, which have no bit masks.
  constexpr bool test(uint32_t i) const {
    return i < 64 ? (low >> i) & 1 : i < 128 ? (high >> (i - 64)) & 1 : (high >> 63) & 1;
  }
  constexpr uint32_t last() const {
    for (uint32_t i = 128; i-- > 0;) {
      if (test(i)) return i;
    }
    return 0;
  }
};

// The mask that an operation gets: its own, or the one of SetVectorMask.
inline Mask choose_mask(Mask given, bool set, const char* call) {
  const CoreLanguage& state = language(call);
  if (state.mask_mode == 1) return {~uint64_t{0}, ~uint64_t{0}, set ? given.low : state.mask[0]};
  return set ? given : Mask{state.mask[0], state.mask[1], 0};
}
// In counter mode the mask argument is a number of elements, not of bits.
inline Mask number_mask(uint64_t number, bool set, const char* call) {
  if (language(call).mask_mode == 1 && set) return {~uint64_t{0}, ~uint64_t{0}, number};
  return choose_mask(Mask::first(number), set, call);
}

// One operand of a masked operation.
template <typename T>
struct Strided {
  T* data;
  uint64_t block;  // strides in units of 32 bytes
  uint64_t repeat;

  T& at(uint64_t r, uint64_t e) const {
    constexpr uint64_t kPerBlock = kUbBlock / sizeof(T);
    return data[(r * repeat + e / kPerBlock * block) * kPerBlock + e % kPerBlock];
  }
};

template <typename T>
Strided<T> strided(const AscendC::LocalTensor<T>& tensor, uint64_t block, uint64_t repeat,
                   const Mask& mask, uint64_t repeats, uint32_t per_repeat, const char* call) {
  uint64_t last = mask.last() < per_repeat ? mask.last() : per_repeat - 1;
  if (mask.total != 0) {
    last = mask.total < per_repeat ? mask.total - 1 : per_repeat - 1;
    repeats = (mask.total + per_repeat - 1) / per_repeat;
  }
  if (repeats == 0) return {nullptr, block, repeat};
  const uint64_t last_block = last / (kUbBlock / sizeof(T));
  return {local_data(tensor, ((repeats - 1) * repeat + last_block * block + 1) * kUbBlock, call),
          block, repeat};
}

template <typename F>
void for_active(const Mask& mask, uint64_t repeats, uint32_t per_repeat, F f) {
  if (mask.total != 0) {
    for (uint64_t i = 0; i < mask.total; ++i) f(i / per_repeat, i % per_repeat);
    return;
  }
  for (uint64_t r = 0; r < repeats; ++r) {
    for (uint32_t e = 0; e < per_repeat; ++e) {
      if (mask.test(e)) f(r, e);
    }
  }
}

inline uint64_t check_count(int64_t count, const char* call) {
  if (count < 0) fail("%s: count is %lld", call, static_cast<long long>(count));
  return static_cast<uint64_t>(count);
}

// Arrays of half are computed in stretches of float: the library converts them with the
// processor's instructions.
inline constexpr uint64_t kStretch = 256;

template <typename T>
void widen(const T* from, float* to, uint64_t count) {
  if constexpr (std::is_same_v<typename T::format, HalfFormat>) {
    symm_rt_half_to_float(&from->val, to, count);
  } else {
    for (uint64_t i = 0; i < count; ++i) to[i] = from[i];
  }
}
template <typename T>
void narrow(const float* from, T* to, uint64_t count) {
  if constexpr (std::is_same_v<typename T::format, HalfFormat>) {
    symm_rt_float_to_half(from, &to->val, count);
  } else {
    for (uint64_t i = 0; i < count; ++i) to[i] = T(from[i]);
  }
}
// Operations on two elements, or on two and the old destination.
template <typename A, typename F, typename D>
auto apply_zip(F f, A a, A b, [[maybe_unused]] const D& old) {
  if constexpr (std::is_invocable_v<F, A, A>) {
    return f(a, b);
  } else {
    return f(a, b, static_cast<A>(old));
  }
}
template <typename T, typename F>
void map_short(T* to, const T* from, uint64_t count, F f) {
  float a[kStretch];
  for (uint64_t start = 0; start < count; start += kStretch) {
    const uint64_t n = count - start < kStretch ? count - start : kStretch;
    widen(from + start, a, n);
    SYMM_INDEPENDENT_LOOP
    for (uint64_t i = 0; i < n; ++i) a[i] = f(a[i]);
    narrow(a, to + start, n);
  }
}
template <typename T, typename F>
void zip_short(T* to, const T* first, const T* second, uint64_t count, F f) {
  float a[kStretch];
  float b[kStretch];
  float d[kStretch];
  for (uint64_t start = 0; start < count; start += kStretch) {
    const uint64_t n = count - start < kStretch ? count - start : kStretch;
    widen(first + start, a, n);
    widen(second + start, b, n);
    if constexpr (!std::is_invocable_v<F, float, float>) widen(to + start, d, n);
    SYMM_INDEPENDENT_LOOP
    for (uint64_t i = 0; i < n; ++i) d[i] = apply_zip<float>(f, a[i], b[i], d[i]);
    narrow(d, to + start, n);
  }
}

// dst[i] = f(src[i])
template <typename D, typename S, typename F>
void map_count(const AscendC::LocalTensor<D>& dst, const AscendC::LocalTensor<S>& src,
               int64_t count, const char* call, F f) {
  const uint64_t n = check_count(count, call);
  D* to = local_data(dst, n * sizeof(D), call);
  const S* from = local_data(src, n * sizeof(S), call);
  if constexpr (std::is_same_v<D, ::half> && std::is_same_v<D, S>) {
    map_short(to, from, n, f);
  } else {
    SYMM_INDEPENDENT_LOOP
    for (uint64_t i = 0; i < n; ++i) to[i] = static_cast<D>(f(from[i]));
  }
}
template <typename D, typename S, typename F>
void map_masked(const AscendC::LocalTensor<D>& dst, const AscendC::LocalTensor<S>& src,
                const Mask& mask, uint64_t repeats, const AscendC::UnaryRepeatParams& p,
                const char* call, F f) {
  constexpr uint32_t kPerRepeat = 256 / (sizeof(D) > sizeof(S) ? sizeof(D) : sizeof(S));
  const auto to = strided(dst, p.dstBlkStride, p.dstRepStride, mask, repeats, kPerRepeat, call);
  const auto from = strided(src, p.srcBlkStride, p.srcRepStride, mask, repeats, kPerRepeat, call);
  for_active(mask, repeats, kPerRepeat,
             [&](uint64_t r, uint64_t e) { to.at(r, e) = static_cast<D>(f(from.at(r, e))); });
}

// dst[i] = f(src0[i], src1[i]), or f(src0[i], src1[i], dst[i])
template <typename D, typename S, typename F>
void zip_count(const AscendC::LocalTensor<D>& dst, const AscendC::LocalTensor<S>& src0,
               const AscendC::LocalTensor<S>& src1, int64_t count, const char* call, F f) {
  const uint64_t n = check_count(count, call);
  D* to = local_data(dst, n * sizeof(D), call);
  const S* a = local_data(src0, n * sizeof(S), call);
  const S* b = local_data(src1, n * sizeof(S), call);
  if constexpr (std::is_same_v<D, ::half> && std::is_same_v<D, S>) {
    zip_short(to, a, b, n, f);
  } else {
    SYMM_INDEPENDENT_LOOP
    for (uint64_t i = 0; i < n; ++i) {
      to[i] = static_cast<D>(apply_zip<Wide<S>>(f, a[i], b[i], to[i]));
    }
  }
}
template <typename D, typename S, typename F>
void zip_masked(const AscendC::LocalTensor<D>& dst, const AscendC::LocalTensor<S>& src0,
                const AscendC::LocalTensor<S>& src1, const Mask& mask, uint64_t repeats,
                const AscendC::BinaryRepeatParams& p, const char* call, F f) {
  constexpr uint32_t kPerRepeat = 256 / (sizeof(D) > sizeof(S) ? sizeof(D) : sizeof(S));
  const auto to = strided(dst, p.dstBlkStride, p.dstRepStride, mask, repeats, kPerRepeat, call);
  const auto a = strided(src0, p.src0BlkStride, p.src0RepStride, mask, repeats, kPerRepeat, call);
  const auto b = strided(src1, p.src1BlkStride, p.src1RepStride, mask, repeats, kPerRepeat, call);
  for_active(mask, repeats, kPerRepeat, [&](uint64_t r, uint64_t e) {
    to.at(r, e) = static_cast<D>(apply_zip<Wide<S>>(f, a.at(r, e), b.at(r, e), to.at(r, e)));
  });
}

// Arithmetic on the wide type; integers wrap instead of overflowing.
template <typename W>
using Wrapping = std::make_unsigned_t<std::conditional_t<(sizeof(W) < 4), int32_t, W>>;

template <typename W>
constexpr W add(W a, W b) {
  if constexpr (std::is_integral_v<W>) {
    return static_cast<W>(static_cast<Wrapping<W>>(a) + static_cast<Wrapping<W>>(b));
  } else {
    return a + b;
  }
}
template <typename W>
constexpr W subtract(W a, W b) {
  if constexpr (std::is_integral_v<W>) {
    return static_cast<W>(static_cast<Wrapping<W>>(a) - static_cast<Wrapping<W>>(b));
  } else {
    return a - b;
  }
}
template <typename W>
constexpr W multiply(W a, W b) {
  if constexpr (std::is_integral_v<W>) {
    return static_cast<W>(static_cast<Wrapping<W>>(a) * static_cast<Wrapping<W>>(b));
  } else {
    return a * b;
  }
}
template <typename W>
constexpr W larger(W a, W b) {
  return a < b ? b : a;
}
template <typename W>
constexpr W smaller(W a, W b) {
  return b < a ? b : a;
}

}  // namespace symm::kernel
