// Comparisons, selection, and operations that move elements of the unified buffer. A comparison
// gives one bit per element, bit i % 8 of byte i / 8.
#pragma once

#include "ascendc/vector.h"

namespace AscendC {

enum class CMPMODE : uint8_t { LT, GT, EQ, LE, GE, NE };
enum class SELMODE : uint8_t { VSEL_CMPMASK_SPR, VSEL_TENSOR_SCALAR_MODE, VSEL_TENSOR_TENSOR_MODE };

struct BrcbRepeatParams {
  uint16_t dstBlkStride = DEFAULT_BLK_STRIDE;
  uint16_t dstRepStride = DEFAULT_REPEAT_STRIDE;

  constexpr BrcbRepeatParams() {}
  constexpr BrcbRepeatParams(uint16_t block, uint16_t repeat)
      : dstBlkStride(block), dstRepStride(repeat) {}
};

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

// dst[i] = bit i of `selected` ? src0[i] : src1[i]. In mode VSEL_CMPMASK_SPR every 256 bytes use
// the same first bits.
template <typename T, typename B>
inline void Select(const LocalTensor<T>& dst, const LocalTensor<B>& selected,
                   const LocalTensor<T>& src0, const LocalTensor<T>& src1, SELMODE mode,
                   uint32_t count) {
  const uint64_t n = count;
  const uint64_t period = mode == SELMODE::VSEL_CMPMASK_SPR ? 256 / sizeof(T) : n;
  T* to = symm::kernel::local_data(dst, n * sizeof(T), "Select");
  const T* a = symm::kernel::local_data(src0, n * sizeof(T), "Select");
  const T* b = symm::kernel::local_data(src1, n * sizeof(T), "Select");
  const uint64_t bits = period < n ? period : n;
  const auto* chosen = reinterpret_cast<const uint8_t*>(
      symm::kernel::local_data(selected, (bits + 7) / 8, "Select"));
  for (uint64_t i = 0; i < n; ++i) to[i] = symm::kernel::get_bit(chosen, i % period) ? a[i] : b[i];
}
template <typename T, typename B, typename U,
          std::enable_if_t<std::is_convertible_v<U, T>, int> = 0>
inline void Select(const LocalTensor<T>& dst, const LocalTensor<B>& selected,
                   const LocalTensor<T>& src0, const U& scalar, SELMODE, uint32_t count) {
  const uint64_t n = count;
  T* to = symm::kernel::local_data(dst, n * sizeof(T), "Select");
  const T* a = symm::kernel::local_data(src0, n * sizeof(T), "Select");
  const T other = static_cast<T>(scalar);
  const auto* chosen =
      reinterpret_cast<const uint8_t*>(symm::kernel::local_data(selected, (n + 7) / 8, "Select"));
  for (uint64_t i = 0; i < n; ++i) to[i] = symm::kernel::get_bit(chosen, i) ? a[i] : other;
}

// dst[i] = the element at byte offsets[i] + base of src.
template <typename T>
inline void Gather(const LocalTensor<T>& dst, const LocalTensor<T>& src,
                   const LocalTensor<uint32_t>& offsets, uint32_t base, uint32_t count) {
  T* to = symm::kernel::local_data(dst, uint64_t{count} * sizeof(T), "Gather");
  const uint32_t* at =
      symm::kernel::local_data(offsets, uint64_t{count} * sizeof(uint32_t), "Gather");
  for (uint32_t i = 0; i < count; ++i) {
    const uint64_t end = uint64_t{at[i]} + base + sizeof(T);
    const auto* bytes =
        reinterpret_cast<const uint8_t*>(symm::kernel::local_data(src, end, "Gather"));
    std::memcpy(static_cast<void*>(to + i), bytes + end - sizeof(T), sizeof(T));
  }
}

// Each of 8 elements per repeat fills a block of 32 bytes.
template <typename T>
inline void Brcb(const LocalTensor<T>& dst, const LocalTensor<T>& src, uint8_t repeat,
                 const BrcbRepeatParams& params) {
  if (repeat == 0) return;
  constexpr uint64_t kPerBlock = symm::kernel::kUbBlock / sizeof(T);
  const uint64_t blocks =
      (repeat - 1u) * uint64_t{params.dstRepStride} + 7u * uint64_t{params.dstBlkStride} + 1;
  T* to = symm::kernel::local_data(dst, blocks * symm::kernel::kUbBlock, "Brcb");
  const T* from = symm::kernel::local_data(src, 8u * repeat * sizeof(T), "Brcb");
  for (uint64_t i = 0; i < 8u * repeat; ++i) {
    T* block = to + (i / 8 * params.dstRepStride + i % 8 * params.dstBlkStride) * kPerBlock;
    for (uint64_t k = 0; k < kPerBlock; ++k) block[k] = from[i];
  }
}

// Transposes 16 x 16 elements of two bytes.
template <typename T>
inline void Transpose(const LocalTensor<T>& dst, const LocalTensor<T>& src) {
  static_assert(sizeof(T) == 2, "Transpose: elements of two bytes");
  T* to = symm::kernel::local_data(dst, 256 * sizeof(T), "Transpose");
  const T* from = symm::kernel::local_data(src, 256 * sizeof(T), "Transpose");
  T copy[256];
  std::memcpy(static_cast<void*>(copy), from, sizeof copy);
  for (int row = 0; row < 16; ++row) {
    for (int column = 0; column < 16; ++column) to[column * 16 + row] = copy[row * 16 + column];
  }
}

// dst[i] = first + i * step
template <typename T>
inline void ArithProgression(const LocalTensor<T>& dst, T first, T step, int32_t count) {
  using W = symm::kernel::Wide<T>;
  const uint64_t n = symm::kernel::check_count(count, "ArithProgression");
  T* to = symm::kernel::local_data(dst, n * sizeof(T), "ArithProgression");
  for (uint64_t i = 0; i < n; ++i)
    to[i] = static_cast<T>(static_cast<W>(first) + static_cast<W>(step) * static_cast<W>(i));
}
template <typename T>
inline void CreateVecIndex(const LocalTensor<T>& dst, T first, uint32_t count) {
  ArithProgression(dst, first, static_cast<T>(1), static_cast<int32_t>(count));
}

}  // namespace AscendC
