// Two-byte floating-point values: IEEE half precision and bfloat16. Used for the device scalars
// half and bfloat16_t and for the host value types op::fp16_t and op::bfloat16. Trivially copyable,
// 2 bytes; conversions round to nearest, ties to even. Copies also work through volatile
// references, since pointers into the unified buffer are volatile.
#pragma once

#include <cstdint>
#include <limits>
#include <type_traits>

namespace symm {

struct HalfFormat {
  static constexpr int kMantissaBits = 10;
  static constexpr int kMaxExponent = 16;
  static constexpr uint16_t kInfinity = 0x7c00;

  // Overflow gives infinity; a NaN stays a (quiet) NaN.
  static constexpr uint16_t encode(float value) {
    const uint32_t bits = __builtin_bit_cast(uint32_t, value);
    const uint32_t sign = (bits >> 16) & 0x8000u;
    const uint32_t magnitude = bits & 0x7fffffffu;
    // Adding one half aligns the last bit of the sum with the last bit of a subnormal half: the
    // addition does the rounding.
    const float aligned = __builtin_bit_cast(float, magnitude) + 0.5f;
    const uint32_t small = __builtin_bit_cast(uint32_t, aligned) - 0x3f000000u;
    const uint32_t normal = (magnitude + 0xc8000fffu + ((magnitude >> 13) & 1u)) >> 13;
    const uint32_t nan = 0x7e00u | ((magnitude >> 13) & 0x3ffu);
    uint32_t result = magnitude < 0x38800000u ? small : normal;
    result = magnitude >= 0x477ff000u ? uint32_t{kInfinity} : result;
    result = magnitude > 0x7f800000u ? nan : result;
    return static_cast<uint16_t>(sign | result);
  }

  static constexpr float decode(uint16_t bits) {
    const uint32_t sign = (uint32_t{bits} & 0x8000u) << 16;
    const uint32_t magnitude = bits & 0x7fffu;
    const float small = static_cast<float>(static_cast<int32_t>(magnitude)) * 0x1p-24f;
    const uint32_t offset = magnitude >= kInfinity ? 224u << 23 : 112u << 23;
    const uint32_t normal = (magnitude << 13) + offset;
    const uint32_t result = magnitude < 0x400u ? __builtin_bit_cast(uint32_t, small) : normal;
    return __builtin_bit_cast(float, sign | result);
  }
};

struct BrainFormat {
  static constexpr int kMantissaBits = 7;
  static constexpr int kMaxExponent = 128;
  static constexpr uint16_t kInfinity = 0x7f80;

  static constexpr uint16_t encode(float value) {
    const uint32_t bits = __builtin_bit_cast(uint32_t, value);
    const uint32_t rounded = (bits + 0x7fffu + ((bits >> 16) & 1u)) >> 16;
    const uint32_t nan = (bits >> 16) | 0x40u;
    return static_cast<uint16_t>((bits & 0x7fffffffu) > 0x7f800000u ? nan : rounded);
  }

  static constexpr float decode(uint16_t bits) {
    return __builtin_bit_cast(float, uint32_t{bits} << 16);
  }
};

// float with the rounding of `value` still open: an inexact result gets an odd last bit, so
// rounding it again to a shorter format gives what rounding `value` once would have given.
constexpr float round_to_odd(double value) {
  const float near = static_cast<float>(value);
  if (!(value - value == 0) || static_cast<double>(near) == value) return near;
  uint32_t bits = __builtin_bit_cast(uint32_t, near);
  if (bits & 1u) return near;
  const bool near_is_larger =
      near < 0 ? static_cast<double>(near) < value : static_cast<double>(near) > value;
  bits = near_is_larger ? bits - 1 : bits + 1;
  return __builtin_bit_cast(float, bits);
}

// `Owner` only makes types distinct.
template <typename Format, typename Owner>
class SmallFloat {
 public:
  using format = Format;

  SmallFloat() = default;
  SmallFloat(const SmallFloat&) = default;
  SmallFloat& operator=(const SmallFloat&) = default;

  template <typename A, std::enable_if_t<std::is_arithmetic_v<A>, int> = 0>
  constexpr SmallFloat(A value) : val(encode(value)) {}
  template <typename F2, typename O2,
            std::enable_if_t<!std::is_same_v<SmallFloat<F2, O2>, SmallFloat>, int> = 0>
  constexpr explicit SmallFloat(const SmallFloat<F2, O2>& other) : val(Format::encode(other)) {}

  // Templates, so that they are no copy constructor or copy assignment and the type stays trivially
  // copyable.
  template <typename S, std::enable_if_t<std::is_same_v<S, SmallFloat>, int> = 0>
  SmallFloat(const volatile S& other) : val(other.val) {}
  template <typename S, std::enable_if_t<std::is_same_v<S, SmallFloat>, int> = 0>
  SmallFloat& operator=(const volatile S& other) {
    val = other.val;
    return *this;
  }
  template <typename S, std::enable_if_t<std::is_same_v<S, SmallFloat>, int> = 0>
  void operator=(const S& other) volatile {
    val = other.val;
  }
  template <typename S, std::enable_if_t<std::is_same_v<S, SmallFloat>, int> = 0>
  void operator=(const volatile S& other) volatile {
    val = other.val;
  }
  template <typename A, std::enable_if_t<std::is_arithmetic_v<A>, int> = 0>
  SmallFloat& operator=(A value) {
    val = encode(value);
    return *this;
  }
  template <typename A, std::enable_if_t<std::is_arithmetic_v<A>, int> = 0>
  void operator=(A value) volatile {
    val = encode(value);
  }

  static constexpr SmallFloat from_bits(uint16_t bits) {
    SmallFloat result(0);
    result.val = bits;
    return result;
  }

  constexpr operator float() const { return Format::decode(val); }
  operator float() const volatile { return Format::decode(val); }

  SmallFloat& operator+=(float other) { return *this = SmallFloat(float(*this) + other); }
  SmallFloat& operator-=(float other) { return *this = SmallFloat(float(*this) - other); }
  SmallFloat& operator*=(float other) { return *this = SmallFloat(float(*this) * other); }
  SmallFloat& operator/=(float other) { return *this = SmallFloat(float(*this) / other); }
  SmallFloat& operator++() { return *this += 1.0f; }
  SmallFloat& operator--() { return *this -= 1.0f; }
  constexpr SmallFloat operator-() const { return from_bits(static_cast<uint16_t>(val ^ 0x8000u)); }
  constexpr SmallFloat operator+() const { return *this; }

  uint16_t val;

 private:
  template <typename A>
  static constexpr uint16_t encode(A value) {
    if constexpr (std::is_same_v<A, float>) {
      return Format::encode(value);
    } else {
      // long double and 64-bit integers round twice here, at 53 bits first.
      return Format::encode(round_to_odd(static_cast<double>(value)));
    }
  }
};

template <typename F, typename O>
constexpr SmallFloat<F, O> operator+(const SmallFloat<F, O>& a, const SmallFloat<F, O>& b) {
  return SmallFloat<F, O>(static_cast<float>(a) + static_cast<float>(b));
}
template <typename F, typename O>
constexpr SmallFloat<F, O> operator-(const SmallFloat<F, O>& a, const SmallFloat<F, O>& b) {
  return SmallFloat<F, O>(static_cast<float>(a) - static_cast<float>(b));
}
template <typename F, typename O>
constexpr SmallFloat<F, O> operator*(const SmallFloat<F, O>& a, const SmallFloat<F, O>& b) {
  return SmallFloat<F, O>(static_cast<float>(a) * static_cast<float>(b));
}
template <typename F, typename O>
constexpr SmallFloat<F, O> operator/(const SmallFloat<F, O>& a, const SmallFloat<F, O>& b) {
  return SmallFloat<F, O>(static_cast<float>(a) / static_cast<float>(b));
}

template <typename T>
struct is_small_float : std::false_type {};
template <typename F, typename O>
struct is_small_float<SmallFloat<F, O>> : std::true_type {};
template <typename T>
inline constexpr bool is_small_float_v = is_small_float<std::remove_cv_t<T>>::value;

struct DeviceValue;
struct HostValue;

}  // namespace symm

namespace std {
template <typename F, typename O>
class numeric_limits<symm::SmallFloat<F, O>> {
  using V = symm::SmallFloat<F, O>;
  static constexpr uint16_t one_ulp = uint16_t(1u << F::kMantissaBits);

 public:
  static constexpr bool is_specialized = true;
  static constexpr bool is_signed = true;
  static constexpr bool is_integer = false;
  static constexpr bool is_exact = false;
  static constexpr bool has_infinity = true;
  static constexpr bool has_quiet_NaN = true;
  static constexpr bool is_iec559 = true;
  static constexpr bool is_bounded = true;
  static constexpr int radix = 2;
  static constexpr int digits = F::kMantissaBits + 1;
  static constexpr int max_exponent = F::kMaxExponent;
  static constexpr int min_exponent = 3 - F::kMaxExponent;
  static constexpr V min() { return V::from_bits(one_ulp); }
  static constexpr V max() { return V::from_bits(uint16_t(F::kInfinity - 1)); }
  static constexpr V lowest() { return -max(); }
  static constexpr V denorm_min() { return V::from_bits(1); }
  static constexpr V infinity() { return V::from_bits(F::kInfinity); }
  static constexpr V quiet_NaN() { return V::from_bits(uint16_t(F::kInfinity | (one_ulp >> 1))); }
  static constexpr V epsilon() { return V(F::kMantissaBits == 10 ? 0x1p-10f : 0x1p-7f); }
};
}  // namespace std
