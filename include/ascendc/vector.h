// Arithmetic vector operations on the unified buffer; their three forms: vector_frame.h.
// Destinations may be exactly a source; partly overlapping ranges are undefined, as on hardware.
// Loops are plain, for the compiler to vectorise; half and bfloat16 compute in float and round
// once. Integers wrap.
#pragma once

#include <cmath>

#include "ascendc/vector_frame.h"

// The three forms of `name(dst, src0, src1, ...)`; a, b and d (the old destination) are of the wide
// type W.
#define SYMM_BINARY_OPERATION(name, ...) SYMM_ZIP_OPERATION(name, (W a, W b), __VA_ARGS__)
#define SYMM_ACCUMULATE_OPERATION(name, ...) SYMM_ZIP_OPERATION(name, (W a, W b, W d), __VA_ARGS__)
#define SYMM_ZIP_OPERATION(name, parameters, ...)                                                  \
  template <typename T>                                                                            \
  inline void name(const LocalTensor<T>& dst, const LocalTensor<T>& src0,                          \
                   const LocalTensor<T>& src1, int32_t count) {                                    \
    using W = symm::kernel::Wide<T>;                                                               \
    symm::kernel::zip_count(dst, src0, src1, count, #name, [] parameters { return __VA_ARGS__; }); \
  }                                                                                                \
  template <typename T, bool set_mask = true>                                                      \
  inline void name(const LocalTensor<T>& dst, const LocalTensor<T>& src0,                          \
                   const LocalTensor<T>& src1, uint64_t mask, uint8_t repeat,                      \
                   const BinaryRepeatParams& params) {                                             \
    using W = symm::kernel::Wide<T>;                                                               \
    symm::kernel::zip_masked(dst, src0, src1, symm::kernel::number_mask(mask, set_mask, #name),    \
                             repeat, params, #name, [] parameters { return __VA_ARGS__; });        \
  }                                                                                                \
  template <typename T, bool set_mask = true>                                                      \
  inline void name(const LocalTensor<T>& dst, const LocalTensor<T>& src0,                          \
                   const LocalTensor<T>& src1, const uint64_t mask[], uint8_t repeat,              \
                   const BinaryRepeatParams& params) {                                             \
    using W = symm::kernel::Wide<T>;                                                               \
    const auto chosen =                                                                            \
        symm::kernel::choose_mask(symm::kernel::Mask::bits(mask), set_mask, #name);                \
    symm::kernel::zip_masked(dst, src0, src1, chosen, repeat, params, #name,                       \
                             [] parameters { return __VA_ARGS__; });                               \
  }

// The three forms of `name(dst, src, ...)`; a is of the wide type W.
#define SYMM_UNARY_OPERATION(name, ...)                                                          \
  template <typename T>                                                                          \
  inline void name(const LocalTensor<T>& dst, const LocalTensor<T>& src, int32_t count) {        \
    using W = symm::kernel::Wide<T>;                                                             \
    symm::kernel::map_count(dst, src, count, #name,                                              \
                            [](W a) { return static_cast<W>(__VA_ARGS__); });                    \
  }                                                                                              \
  template <typename T, bool set_mask = true>                                                    \
  inline void name(const LocalTensor<T>& dst, const LocalTensor<T>& src, uint64_t mask,          \
                   uint8_t repeat, const UnaryRepeatParams& params) {                            \
    using W = symm::kernel::Wide<T>;                                                             \
    symm::kernel::map_masked(dst, src, symm::kernel::number_mask(mask, set_mask, #name), repeat, \
                             params, #name, [](W a) { return static_cast<W>(__VA_ARGS__); });    \
  }                                                                                              \
  template <typename T, bool set_mask = true>                                                    \
  inline void name(const LocalTensor<T>& dst, const LocalTensor<T>& src, const uint64_t mask[],  \
                   uint8_t repeat, const UnaryRepeatParams& params) {                            \
    using W = symm::kernel::Wide<T>;                                                             \
    const auto chosen =                                                                          \
        symm::kernel::choose_mask(symm::kernel::Mask::bits(mask), set_mask, #name);              \
    symm::kernel::map_masked(dst, src, chosen, repeat, params, #name,                            \
                             [](W a) { return static_cast<W>(__VA_ARGS__); });                   \
  }

// The three forms of `name(dst, src, scalar, ...)`; a and s are of the wide type W.
#define SYMM_SCALAR_OPERATION(name, ...)                                                         \
  template <typename T, typename U>                                                              \
  inline void name(const LocalTensor<T>& dst, const LocalTensor<T>& src, const U& scalar,        \
                   int32_t count) {                                                              \
    using W = symm::kernel::Wide<T>;                                                             \
    const W s = static_cast<W>(static_cast<T>(scalar));                                          \
    symm::kernel::map_count(dst, src, count, #name, [s](W a) { return __VA_ARGS__; });           \
  }                                                                                              \
  template <typename T, bool set_mask = true, typename U>                                        \
  inline void name(const LocalTensor<T>& dst, const LocalTensor<T>& src, const U& scalar,        \
                   uint64_t mask, uint8_t repeat, const UnaryRepeatParams& params) {             \
    using W = symm::kernel::Wide<T>;                                                             \
    const W s = static_cast<W>(static_cast<T>(scalar));                                          \
    symm::kernel::map_masked(dst, src, symm::kernel::number_mask(mask, set_mask, #name), repeat, \
                             params, #name, [s](W a) { return __VA_ARGS__; });                   \
  }                                                                                              \
  template <typename T, bool set_mask = true, typename U>                                        \
  inline void name(const LocalTensor<T>& dst, const LocalTensor<T>& src, const U& scalar,        \
                   const uint64_t mask[], uint8_t repeat, const UnaryRepeatParams& params) {     \
    using W = symm::kernel::Wide<T>;                                                             \
    const W s = static_cast<W>(static_cast<T>(scalar));                                          \
    const auto chosen =                                                                          \
        symm::kernel::choose_mask(symm::kernel::Mask::bits(mask), set_mask, #name);              \
    symm::kernel::map_masked(dst, src, chosen, repeat, params, #name,                            \
                             [s](W a) { return __VA_ARGS__; });                                  \
  }

namespace AscendC {

// The mask of operations called with set_mask = false: bits, high word first, or a number of
// elements.
template <typename T, MaskMode mode = MaskMode::NORMAL>
inline void SetVectorMask(uint64_t high, uint64_t low) {
  auto& state = symm::kernel::language("SetVectorMask");
  state.mask[0] = low;
  state.mask[1] = high;
  state.mask_mode = mode == MaskMode::COUNTER ? 1 : state.mask_mode;
}
template <typename T, MaskMode mode = MaskMode::NORMAL>
inline void SetVectorMask(int32_t length) {
  auto& state = symm::kernel::language("SetVectorMask");
  if (mode == MaskMode::COUNTER || state.mask_mode == 1) {
    state.mask[0] = static_cast<uint64_t>(length);
    state.mask_mode = 1;
    return;
  }
  const auto mask = symm::kernel::Mask::first(static_cast<uint64_t>(length));
  state.mask[0] = mask.low;
  state.mask[1] = mask.high;
}
inline void ResetMask() {
  auto& state = symm::kernel::language("ResetMask");
  state.mask[0] = state.mask[1] = ~uint64_t{0};
}
// Counter mode: the mask is the number of elements over all repeats.
inline void SetMaskCount() { symm::kernel::language("SetMaskCount").mask_mode = 1; }
inline void SetMaskNorm() { symm::kernel::language("SetMaskNorm").mask_mode = 0; }

SYMM_BINARY_OPERATION(Add, symm::kernel::add(a, b))
SYMM_BINARY_OPERATION(Sub, symm::kernel::subtract(a, b))
SYMM_BINARY_OPERATION(Mul, symm::kernel::multiply(a, b))
SYMM_BINARY_OPERATION(Div, a / b)
SYMM_BINARY_OPERATION(Max, symm::kernel::larger(a, b))
SYMM_BINARY_OPERATION(Min, symm::kernel::smaller(a, b))
SYMM_BINARY_OPERATION(And, static_cast<W>(a& b))
SYMM_BINARY_OPERATION(Or, static_cast<W>(a | b))
SYMM_BINARY_OPERATION(Xor, static_cast<W>(a ^ b))
SYMM_BINARY_OPERATION(AddRelu, symm::kernel::larger(symm::kernel::add(a, b), W(0)))
SYMM_BINARY_OPERATION(SubRelu, symm::kernel::larger(symm::kernel::subtract(a, b), W(0)))
SYMM_ACCUMULATE_OPERATION(MulAddDst, symm::kernel::add(symm::kernel::multiply(a, b), d))
SYMM_ACCUMULATE_OPERATION(FusedMulAdd, symm::kernel::add(symm::kernel::multiply(a, d), b))
SYMM_ACCUMULATE_OPERATION(FusedMulAddRelu,
                          symm::kernel::larger(symm::kernel::add(symm::kernel::multiply(a, d), b),
                                               W(0)))

SYMM_UNARY_OPERATION(Abs, a < W(0) ? symm::kernel::subtract(W(0), a) : a + W(0))
SYMM_UNARY_OPERATION(Exp, std::exp(a))
SYMM_UNARY_OPERATION(Ln, std::log(a))
SYMM_UNARY_OPERATION(Sqrt, std::sqrt(a))
SYMM_UNARY_OPERATION(Rsqrt, W(1) / std::sqrt(a))
SYMM_UNARY_OPERATION(Reciprocal, W(1) / a)
SYMM_UNARY_OPERATION(Relu, symm::kernel::larger(a, W(0)))
SYMM_UNARY_OPERATION(Not, ~a)
SYMM_UNARY_OPERATION(Neg, symm::kernel::subtract(W(0), a))

SYMM_SCALAR_OPERATION(Adds, symm::kernel::add(a, s))
SYMM_SCALAR_OPERATION(Muls, symm::kernel::multiply(a, s))
SYMM_SCALAR_OPERATION(Maxs, symm::kernel::larger(a, s))
SYMM_SCALAR_OPERATION(Mins, symm::kernel::smaller(a, s))
SYMM_SCALAR_OPERATION(LeakyRelu, a < W(0) ? symm::kernel::multiply(a, s) : a)
// Values above (below) the scalar become the scalar.
SYMM_SCALAR_OPERATION(ClampMax, symm::kernel::smaller(a, s))
SYMM_SCALAR_OPERATION(ClampMin, symm::kernel::larger(a, s))
// Shifts by the scalar; right shifts of signed types keep the sign.
SYMM_SCALAR_OPERATION(ShiftLeft, static_cast<W>(static_cast<symm::kernel::Wrapping<W>>(a) << s))
SYMM_SCALAR_OPERATION(ShiftRight, static_cast<W>(a >> s))

// dst[i] += src[i] * scalar; dst may be float with half sources.
template <typename T, typename U>
inline void Axpy(const LocalTensor<T>& dst, const LocalTensor<U>& src, const U& scalar,
                 int32_t count) {
  using W = symm::kernel::Wide<T>;
  const uint64_t n = symm::kernel::check_count(count, "Axpy");
  T* to = symm::kernel::local_data(dst, n * sizeof(T), "Axpy");
  const U* from = symm::kernel::local_data(src, n * sizeof(U), "Axpy");
  const W s = static_cast<W>(scalar);
  SYMM_INDEPENDENT_LOOP
  for (uint64_t i = 0; i < n; ++i)
    to[i] = static_cast<T>(static_cast<W>(to[i]) + static_cast<W>(from[i]) * s);
}

// dst[i] = scalar
template <typename T, typename U>
inline void Duplicate(const LocalTensor<T>& dst, const U& scalar, int32_t count) {
  const uint64_t n = symm::kernel::check_count(count, "Duplicate");
  T* to = symm::kernel::local_data(dst, n * sizeof(T), "Duplicate");
  const T value = static_cast<T>(scalar);
  for (uint64_t i = 0; i < n; ++i) to[i] = value;
}
template <typename T, bool set_mask = true, typename U>
inline void Duplicate(const LocalTensor<T>& dst, const U& scalar, uint64_t mask, uint8_t repeat,
                      uint16_t block_stride, uint8_t repeat_stride) {
  const T value = static_cast<T>(scalar);
  symm::kernel::map_masked(
      dst, dst, symm::kernel::number_mask(mask, set_mask, "Duplicate"), repeat,
      UnaryRepeatParams(block_stride, block_stride, repeat_stride, repeat_stride), "Duplicate",
      [value](const T&) { return value; });
}
template <typename T, bool set_mask = true, typename U>
inline void Duplicate(const LocalTensor<T>& dst, const U& scalar, const uint64_t mask[],
                      uint8_t repeat, uint16_t block_stride, uint8_t repeat_stride) {
  const T value = static_cast<T>(scalar);
  const auto chosen =
      symm::kernel::choose_mask(symm::kernel::Mask::bits(mask), set_mask, "Duplicate");
  symm::kernel::map_masked(
      dst, dst, chosen, repeat,
      UnaryRepeatParams(block_stride, block_stride, repeat_stride, repeat_stride), "Duplicate",
      [value](const T&) { return value; });
}

}  // namespace AscendC
