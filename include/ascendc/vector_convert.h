// Cast between element types with the rounding modes of the hardware. Conversions to integers
// saturate, NaN becomes 0; conversions to half and bfloat16 overflow to infinity where the rounding
// mode goes away from zero.
#pragma once

#include "ascendc/vector.h"

namespace symm::kernel {

using AscendC::RoundMode;

// The integer that the mode makes of a value.
template <RoundMode mode>
inline double round_integer(double value) {
  if constexpr (mode == RoundMode::CAST_FLOOR) return std::floor(value);
  if constexpr (mode == RoundMode::CAST_CEIL) return std::ceil(value);
  if constexpr (mode == RoundMode::CAST_TRUNC) return std::trunc(value);
  if constexpr (mode == RoundMode::CAST_ROUND) return std::round(value);
  if constexpr (mode == RoundMode::CAST_ODD) {
    const double toward_zero = std::trunc(value);
    if (toward_zero == value || std::fmod(toward_zero, 2) != 0) return toward_zero;
    return toward_zero + (value < 0 ? -1 : 1);
  }
  return std::nearbyint(value);  // ties to even in the default floating-point environment
}

template <typename D>
inline D saturate(double value) {
  if (!(value == value)) return D(0);
  // The bounds as doubles: the upper one may be rounded up, so compare with >=.
  const double low = static_cast<double>(std::numeric_limits<D>::min());
  const double high = static_cast<double>(std::numeric_limits<D>::max());
  if (value <= low) return std::numeric_limits<D>::min();
  if (value >= high) return std::numeric_limits<D>::max();
  return static_cast<D>(value);
}

// Bits of the two-byte format, by magnitude: one less is the neighbour towards zero.
template <typename Format, RoundMode mode>
inline uint16_t encode_rounded(float value) {
  const uint16_t near = Format::encode(value);
  if constexpr (mode == RoundMode::CAST_NONE || mode == RoundMode::CAST_RINT ||
                mode == RoundMode::CAST_HYBRID) {
    return near;
  }
  const float back = Format::decode(near);
  if (!(value == value) || back == value) return near;
  const uint16_t inward =
      std::fabs(back) > std::fabs(value) ? static_cast<uint16_t>(near - 1) : near;
  const uint16_t outward = static_cast<uint16_t>(inward + 1);
  const bool negative = value < 0;
  if constexpr (mode == RoundMode::CAST_TRUNC) return inward;
  if constexpr (mode == RoundMode::CAST_FLOOR) return negative ? outward : inward;
  if constexpr (mode == RoundMode::CAST_CEIL) return negative ? inward : outward;
  if constexpr (mode == RoundMode::CAST_ODD) return inward & 1 ? inward : outward;
  // Ties away from zero: the middle between the neighbours is exact in double. Past the largest
  // value the next step would be the power of two behind it.
  const double inner = std::fabs(static_cast<double>(Format::decode(inward)));
  const bool overflows = (outward & 0x7fff) == Format::kInfinity;
  const double outer = overflows ? std::ldexp(1.0, Format::kMaxExponent)
                                 : std::fabs(static_cast<double>(Format::decode(outward)));
  return std::fabs(static_cast<double>(value)) >= (inner + outer) / 2 ? outward : inward;
}

// An integer as float, rounded by the mode.
template <RoundMode mode>
inline float integer_to_float(int64_t value) {
  const float near = static_cast<float>(value);
  // 2^63 itself does not fit back.
  if (near < 0x1p63f && static_cast<int64_t>(near) == value) return near;
  const bool near_is_larger = near >= 0x1p63f || static_cast<int64_t>(near) > value;
  const float below = near_is_larger ? std::nextafter(near, -INFINITY) : near;
  const float above = near_is_larger ? near : std::nextafter(near, INFINITY);
  if constexpr (mode == RoundMode::CAST_FLOOR) return below;
  if constexpr (mode == RoundMode::CAST_CEIL) return above;
  if constexpr (mode == RoundMode::CAST_TRUNC) return value < 0 ? above : below;
  if constexpr (mode == RoundMode::CAST_ODD)
    return __builtin_bit_cast(uint32_t, below) & 1 ? below : above;
  if constexpr (mode == RoundMode::CAST_ROUND) {
    const double middle = (static_cast<double>(below) + static_cast<double>(above)) / 2;
    const double exact = static_cast<double>(value);
    return value < 0 ? (exact <= middle ? below : above) : (exact >= middle ? above : below);
  }
  return near;
}

template <typename D, RoundMode mode, typename S>
inline D convert(S value) {
  if constexpr (std::is_integral_v<D> && std::is_integral_v<S>) {
    using Both = std::common_type_t<D, S, int64_t>;
    const Both wide = static_cast<Both>(value);
    if (wide < static_cast<Both>(std::numeric_limits<D>::min()))
      return std::numeric_limits<D>::min();
    if (wide > static_cast<Both>(std::numeric_limits<D>::max()))
      return std::numeric_limits<D>::max();
    return static_cast<D>(wide);
  } else if constexpr (std::is_integral_v<D>) {
    return saturate<D>(round_integer<mode>(static_cast<double>(static_cast<Wide<S>>(value))));
  } else if constexpr (is_small_float_v<D>) {
    if constexpr (std::is_integral_v<S>) {
      // Small integers are exact in float; larger ones keep what decides the second rounding in an
      // odd last bit.
      return D::from_bits(encode_rounded<typename D::format, mode>(
          integer_to_float<RoundMode::CAST_ODD>(static_cast<int64_t>(value))));
    } else {
      return D::from_bits(encode_rounded<typename D::format, mode>(static_cast<float>(value)));
    }
  } else if constexpr (std::is_integral_v<S>) {
    return static_cast<D>(integer_to_float<mode>(static_cast<int64_t>(value)));
  } else if constexpr (std::is_same_v<D, S>) {
    return static_cast<D>(
        mode == RoundMode::CAST_NONE ? value : static_cast<D>(round_integer<mode>(value)));
  } else {
    return static_cast<D>(value);
  }
}

// Calls f with the mode as a constant.
template <typename F>
void with_mode(RoundMode mode, F f) {
  switch (mode) {
    case RoundMode::CAST_FLOOR:
      return f(std::integral_constant<RoundMode, RoundMode::CAST_FLOOR>());
    case RoundMode::CAST_CEIL:
      return f(std::integral_constant<RoundMode, RoundMode::CAST_CEIL>());
    case RoundMode::CAST_ROUND:
      return f(std::integral_constant<RoundMode, RoundMode::CAST_ROUND>());
    case RoundMode::CAST_TRUNC:
      return f(std::integral_constant<RoundMode, RoundMode::CAST_TRUNC>());
    case RoundMode::CAST_ODD:
      return f(std::integral_constant<RoundMode, RoundMode::CAST_ODD>());
    case RoundMode::CAST_RINT:
      return f(std::integral_constant<RoundMode, RoundMode::CAST_RINT>());
    case RoundMode::CAST_NONE:
    case RoundMode::CAST_HYBRID:
      return f(std::integral_constant<RoundMode, RoundMode::CAST_NONE>());
  }
  fail("Cast: unknown rounding mode %d", static_cast<int>(mode));
}

}  // namespace symm::kernel

namespace AscendC {

// dst[i] = src[i] converted. One repeat covers 256 bytes of the larger type.
template <typename D, typename S>
inline void Cast(const LocalTensor<D>& dst, const LocalTensor<S>& src, const RoundMode& mode,
                 uint32_t count) {
  [[maybe_unused]] const bool nearest =
      mode == RoundMode::CAST_NONE || mode == RoundMode::CAST_RINT;
  if constexpr (std::is_same_v<D, float> && symm::is_small_float_v<S>) {
    const S* from = symm::kernel::local_data(src, uint64_t{count} * sizeof(S), "Cast");
    symm::kernel::widen(from, symm::kernel::local_data(dst, uint64_t{count} * sizeof(D), "Cast"),
                        count);
    return;
  } else if constexpr (std::is_same_v<S, float> && symm::is_small_float_v<D>) {
    if (nearest) {
      const S* from = symm::kernel::local_data(src, uint64_t{count} * sizeof(S), "Cast");
      symm::kernel::narrow(from, symm::kernel::local_data(dst, uint64_t{count} * sizeof(D), "Cast"),
                           count);
      return;
    }
  }
  symm::kernel::with_mode(mode, [&](auto constant) {
    symm::kernel::map_count(dst, src, count, "Cast", [](S value) {
      return symm::kernel::convert<D, decltype(constant)::value>(value);
    });
  });
}
template <typename D, typename S, bool set_mask = true>
inline void Cast(const LocalTensor<D>& dst, const LocalTensor<S>& src, const RoundMode& mode,
                 uint64_t mask, uint8_t repeat, const UnaryRepeatParams& params) {
  symm::kernel::with_mode(mode, [&](auto constant) {
    symm::kernel::map_masked(
        dst, src, symm::kernel::number_mask(mask, set_mask, "Cast"), repeat, params, "Cast",
        [](S value) { return symm::kernel::convert<D, decltype(constant)::value>(value); });
  });
}
template <typename D, typename S, bool set_mask = true>
inline void Cast(const LocalTensor<D>& dst, const LocalTensor<S>& src, const RoundMode& mode,
                 const uint64_t mask[], uint8_t repeat, const UnaryRepeatParams& params) {
  const auto chosen = symm::kernel::choose_mask(symm::kernel::Mask::bits(mask), set_mask, "Cast");
  symm::kernel::with_mode(mode, [&](auto constant) {
    symm::kernel::map_masked(dst, src, chosen, repeat, params, "Cast", [](S value) {
      return symm::kernel::convert<D, decltype(constant)::value>(value);
    });
  });
}

}  // namespace AscendC
