// Comparisons of the unified buffer: one bit per element, bit i % 8 of byte i / 8. In the masked
// forms the bits of repeat r start at bit r * (elements of a repeat); those of inactive elements
// stay.
#pragma once

#include "ascendc/vector.h"

namespace AscendC {

enum class CMPMODE : uint8_t { LT, GT, EQ, LE, GE, NE };
enum class SELMODE : uint8_t { VSEL_CMPMASK_SPR, VSEL_TENSOR_SCALAR_MODE, VSEL_TENSOR_TENSOR_MODE };

}  // namespace AscendC

namespace symm::kernel {

template <typename W>
bool compare(W a, W b, AscendC::CMPMODE mode) {
  using AscendC::CMPMODE;
  switch (mode) {
    case CMPMODE::LT:
      return a < b;
    case CMPMODE::GT:
      return a > b;
    case CMPMODE::EQ:
      return a == b;
    case CMPMODE::LE:
      return a <= b;
    case CMPMODE::GE:
      return a >= b;
    case CMPMODE::NE:
      return a != b;
  }
  return false;
}

// Bytes of `n` bits; bits past the last element of a byte are 0.
template <typename F>
void pack_bits(uint8_t* to, uint64_t n, F bit) {
  for (uint64_t at = 0; at < n; at += 8) {
    uint8_t byte = 0;
    for (uint64_t k = 0; k < 8 && at + k < n; ++k)
      byte = static_cast<uint8_t>(byte | (bit(at + k) ? 1u << k : 0u));
    to[at / 8] = byte;
  }
}
inline bool get_bit(const uint8_t* bits, uint64_t i) { return (bits[i / 8] >> (i % 8)) & 1; }
inline void put_bit(uint8_t* bits, uint64_t i, bool value) {
  const uint8_t bit = static_cast<uint8_t>(1u << (i % 8));
  bits[i / 8] = static_cast<uint8_t>(value ? bits[i / 8] | bit : bits[i / 8] & ~bit);
}

// other(r, e): what the element is compared with.
template <typename T, typename Other>
void compare_active(uint8_t* bits, const Strided<T>& a, AscendC::CMPMODE mode, const Mask& mask,
                    uint64_t repeats, Other other) {
  using W = Wide<T>;
  constexpr uint32_t kPerRepeat = 256 / sizeof(T);
  for_active(mask, repeats, kPerRepeat, [&](uint64_t r, uint64_t e) {
    put_bit(bits, r * kPerRepeat + e,
            compare(static_cast<W>(a.at(r, e)), static_cast<W>(other(r, e)), mode));
  });
}

template <typename T, typename B>
uint8_t* comparison_bits(const AscendC::LocalTensor<B>& dst, const Mask& mask, uint64_t repeats,
                         const char* call) {
  const uint64_t per_repeat = 256 / sizeof(T);
  if (mask.total != 0) repeats = (mask.total + per_repeat - 1) / per_repeat;
  return reinterpret_cast<uint8_t*>(local_data(dst, (repeats * per_repeat + 7) / 8, call));
}

template <typename T>
void compare_tensors(uint8_t* bits, const AscendC::LocalTensor<T>& src0,
                     const AscendC::LocalTensor<T>& src1, AscendC::CMPMODE mode, const Mask& mask,
                     uint64_t repeats, const AscendC::BinaryRepeatParams& p) {
  constexpr uint32_t kPerRepeat = 256 / sizeof(T);
  const auto a =
      strided(src0, p.src0BlkStride, p.src0RepStride, mask, repeats, kPerRepeat, "Compare");
  const auto b =
      strided(src1, p.src1BlkStride, p.src1RepStride, mask, repeats, kPerRepeat, "Compare");
  compare_active(bits, a, mode, mask, repeats, [&](uint64_t r, uint64_t e) { return b.at(r, e); });
}

template <typename T, typename B, typename U>
void compare_with_scalar(const AscendC::LocalTensor<B>& dst, const AscendC::LocalTensor<T>& src,
                         const U& scalar, AscendC::CMPMODE mode, const Mask& mask, uint64_t repeats,
                         const AscendC::UnaryRepeatParams& p) {
  constexpr uint32_t kPerRepeat = 256 / sizeof(T);
  uint8_t* bits = comparison_bits<T>(dst, mask, repeats, "CompareScalar");
  const auto a =
      strided(src, p.srcBlkStride, p.srcRepStride, mask, repeats, kPerRepeat, "CompareScalar");
  const T other = static_cast<T>(scalar);
  compare_active(bits, a, mode, mask, repeats, [other](uint64_t, uint64_t) { return other; });
}

}  // namespace symm::kernel

namespace AscendC {

template <typename T, typename B>
inline void Compare(const LocalTensor<B>& dst, const LocalTensor<T>& src0,
                    const LocalTensor<T>& src1, CMPMODE mode, uint32_t count) {
  using W = symm::kernel::Wide<T>;
  const T* a = symm::kernel::local_data(src0, uint64_t{count} * sizeof(T), "Compare");
  const T* b = symm::kernel::local_data(src1, uint64_t{count} * sizeof(T), "Compare");
  auto* to = reinterpret_cast<uint8_t*>(
      symm::kernel::local_data(dst, (uint64_t{count} + 7) / 8, "Compare"));
  symm::kernel::pack_bits(to, count, [=](uint64_t i) {
    return symm::kernel::compare(static_cast<W>(a[i]), static_cast<W>(b[i]), mode);
  });
}
template <typename T, typename B, typename U>
inline void CompareScalar(const LocalTensor<B>& dst, const LocalTensor<T>& src, const U& scalar,
                          CMPMODE mode, uint32_t count) {
  using W = symm::kernel::Wide<T>;
  const T* a = symm::kernel::local_data(src, uint64_t{count} * sizeof(T), "CompareScalar");
  const W s = static_cast<W>(static_cast<T>(scalar));
  auto* to = reinterpret_cast<uint8_t*>(
      symm::kernel::local_data(dst, (uint64_t{count} + 7) / 8, "CompareScalar"));
  symm::kernel::pack_bits(
      to, count, [=](uint64_t i) { return symm::kernel::compare(static_cast<W>(a[i]), s, mode); });
}

template <typename T, typename B, bool set_mask = true>
inline void Compare(const LocalTensor<B>& dst, const LocalTensor<T>& src0,
                    const LocalTensor<T>& src1, CMPMODE mode, uint64_t mask, uint8_t repeat,
                    const BinaryRepeatParams& params) {
  const auto chosen = symm::kernel::number_mask(mask, set_mask, "Compare");
  symm::kernel::compare_tensors(symm::kernel::comparison_bits<T>(dst, chosen, repeat, "Compare"),
                                src0, src1, mode, chosen, repeat, params);
}
template <typename T, typename B, bool set_mask = true>
inline void Compare(const LocalTensor<B>& dst, const LocalTensor<T>& src0,
                    const LocalTensor<T>& src1, CMPMODE mode, const uint64_t mask[], uint8_t repeat,
                    const BinaryRepeatParams& params) {
  const auto chosen =
      symm::kernel::choose_mask(symm::kernel::Mask::bits(mask), set_mask, "Compare");
  symm::kernel::compare_tensors(symm::kernel::comparison_bits<T>(dst, chosen, repeat, "Compare"),
                                src0, src1, mode, chosen, repeat, params);
}
// One repeat, into the register that GetCmpMask reads and Select without bits uses.
template <typename T, bool set_mask = true>
inline void Compare(const LocalTensor<T>& src0, const LocalTensor<T>& src1, CMPMODE mode,
                    uint64_t mask, const BinaryRepeatParams& params) {
  auto* bits = reinterpret_cast<uint8_t*>(symm::kernel::language("Compare").compare);
  symm::kernel::compare_tensors(bits, src0, src1, mode,
                                symm::kernel::number_mask(mask, set_mask, "Compare"), 1, params);
}
template <typename T, bool set_mask = true>
inline void Compare(const LocalTensor<T>& src0, const LocalTensor<T>& src1, CMPMODE mode,
                    const uint64_t mask[], const BinaryRepeatParams& params) {
  auto* bits = reinterpret_cast<uint8_t*>(symm::kernel::language("Compare").compare);
  const auto chosen =
      symm::kernel::choose_mask(symm::kernel::Mask::bits(mask), set_mask, "Compare");
  symm::kernel::compare_tensors(bits, src0, src1, mode, chosen, 1, params);
}
// 128 bits of the register.
template <typename T>
inline void GetCmpMask(const LocalTensor<T>& dst) {
  std::memcpy(static_cast<void*>(symm::kernel::local_data(dst, 16, "GetCmpMask")),
              symm::kernel::language("GetCmpMask").compare, 16);
}
template <typename T>
inline void SetCmpMask(const LocalTensor<T>& src) {
  std::memcpy(symm::kernel::language("SetCmpMask").compare,
              symm::kernel::local_data(src, 16, "SetCmpMask"), 16);
}

template <typename T, typename B, bool set_mask = true, typename U>
inline void CompareScalar(const LocalTensor<B>& dst, const LocalTensor<T>& src, const U& scalar,
                          CMPMODE mode, uint64_t mask, uint8_t repeat,
                          const UnaryRepeatParams& params) {
  symm::kernel::compare_with_scalar(dst, src, scalar, mode,
                                    symm::kernel::number_mask(mask, set_mask, "CompareScalar"),
                                    repeat, params);
}
template <typename T, typename B, bool set_mask = true, typename U>
inline void CompareScalar(const LocalTensor<B>& dst, const LocalTensor<T>& src, const U& scalar,
                          CMPMODE mode, const uint64_t mask[], uint8_t repeat,
                          const UnaryRepeatParams& params) {
  const auto chosen =
      symm::kernel::choose_mask(symm::kernel::Mask::bits(mask), set_mask, "CompareScalar");
  symm::kernel::compare_with_scalar(dst, src, scalar, mode, chosen, repeat, params);
}
// Another name of the same.
template <typename... A>
inline void Compares(const A&... arguments) {
  CompareScalar(arguments...);
}

}  // namespace AscendC
