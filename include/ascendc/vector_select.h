// Selection by comparison (vector_compare.h), and operations that move elements of the unified
// buffer.
#pragma once

#include "ascendc/vector_compare.h"

namespace AscendC {

struct BrcbRepeatParams {
  uint16_t dstBlkStride = DEFAULT_BLK_STRIDE;
  uint16_t dstRepStride = DEFAULT_REPEAT_STRIDE;

  constexpr BrcbRepeatParams() {}
  constexpr BrcbRepeatParams(uint16_t block, uint16_t repeat)
      : dstBlkStride(block), dstRepStride(repeat) {}
};

}  // namespace AscendC

namespace symm::kernel {

// One choice per active element; with `same_bits` every repeat uses the first bits.
template <typename T, typename Other>
void select_by_bits_with(const Strided<T>& to, const Strided<T>& a, const uint8_t* bits,
                         bool same_bits, const Mask& mask, uint64_t repeats, Other other) {
  constexpr uint32_t kPerRepeat = 256 / sizeof(T);
  for_active(mask, repeats, kPerRepeat, [&](uint64_t r, uint64_t e) {
    const bool first = get_bit(bits, (same_bits ? 0 : r * kPerRepeat) + e);
    to.at(r, e) = first ? a.at(r, e) : other(r, e);
  });
}

template <typename T>
void select_by_bits(const AscendC::LocalTensor<T>& dst, const uint8_t* bits, bool same_bits,
                    const AscendC::LocalTensor<T>& src0, const AscendC::LocalTensor<T>& src1,
                    const Mask& mask, uint64_t repeats, const AscendC::BinaryRepeatParams& p) {
  constexpr uint32_t kPerRepeat = 256 / sizeof(T);
  const auto to = strided(dst, p.dstBlkStride, p.dstRepStride, mask, repeats, kPerRepeat, "Select");
  const auto a =
      strided(src0, p.src0BlkStride, p.src0RepStride, mask, repeats, kPerRepeat, "Select");
  const auto b =
      strided(src1, p.src1BlkStride, p.src1RepStride, mask, repeats, kPerRepeat, "Select");
  select_by_bits_with(to, a, bits, same_bits, mask, repeats,
                      [&](uint64_t r, uint64_t e) { return b.at(r, e); });
}

template <typename T, typename B>
const uint8_t* selection_bits(const AscendC::LocalTensor<B>& selected, bool same_bits,
                              const Mask& mask, uint64_t repeats) {
  const uint64_t per_repeat = 256 / sizeof(T);
  if (mask.total != 0) repeats = (mask.total + per_repeat - 1) / per_repeat;
  const uint64_t bits = (same_bits ? 1 : repeats) * per_repeat;
  return reinterpret_cast<const uint8_t*>(local_data(selected, (bits + 7) / 8, "Select"));
}

template <typename T, typename B>
void select_masked(const AscendC::LocalTensor<T>& dst, const AscendC::LocalTensor<B>& selected,
                   const AscendC::LocalTensor<T>& src0, const AscendC::LocalTensor<T>& src1,
                   AscendC::SELMODE mode, const Mask& mask, uint64_t repeats,
                   const AscendC::BinaryRepeatParams& p) {
  const bool same = mode == AscendC::SELMODE::VSEL_CMPMASK_SPR;
  select_by_bits(dst, selection_bits<T>(selected, same, mask, repeats), same, src0, src1, mask,
                 repeats, p);
}

template <typename T, typename B>
void select_masked_scalar(const AscendC::LocalTensor<T>& dst,
                          const AscendC::LocalTensor<B>& selected,
                          const AscendC::LocalTensor<T>& src0, T scalar, AscendC::SELMODE mode,
                          const Mask& mask, uint64_t repeats,
                          const AscendC::BinaryRepeatParams& p) {
  constexpr uint32_t kPerRepeat = 256 / sizeof(T);
  const bool same = mode == AscendC::SELMODE::VSEL_CMPMASK_SPR;
  const auto to = strided(dst, p.dstBlkStride, p.dstRepStride, mask, repeats, kPerRepeat, "Select");
  const auto a =
      strided(src0, p.src0BlkStride, p.src0RepStride, mask, repeats, kPerRepeat, "Select");
  select_by_bits_with(to, a, selection_bits<T>(selected, same, mask, repeats), same, mask, repeats,
                      [scalar](uint64_t, uint64_t) { return scalar; });
}

}  // namespace symm::kernel

namespace AscendC {

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

// The masked forms: active elements of each repeat of 256 bytes. The bits of repeat r start at bit
// r * (elements of a repeat), except in mode VSEL_CMPMASK_SPR.
template <typename T, typename B>
inline void Select(const LocalTensor<T>& dst, const LocalTensor<B>& selected,
                   const LocalTensor<T>& src0, const LocalTensor<T>& src1, SELMODE mode,
                   uint64_t mask, uint8_t repeat, const BinaryRepeatParams& params) {
  symm::kernel::select_masked(dst, selected, src0, src1, mode,
                              symm::kernel::number_mask(mask, true, "Select"), repeat, params);
}
template <typename T, typename B>
inline void Select(const LocalTensor<T>& dst, const LocalTensor<B>& selected,
                   const LocalTensor<T>& src0, const LocalTensor<T>& src1, SELMODE mode,
                   const uint64_t mask[], uint8_t repeat, const BinaryRepeatParams& params) {
  const auto chosen = symm::kernel::choose_mask(symm::kernel::Mask::bits(mask), true, "Select");
  symm::kernel::select_masked(dst, selected, src0, src1, mode, chosen, repeat, params);
}
template <typename T, typename B, typename U,
          std::enable_if_t<std::is_convertible_v<U, T>, int> = 0>
inline void Select(const LocalTensor<T>& dst, const LocalTensor<B>& selected,
                   const LocalTensor<T>& src0, const U& scalar, SELMODE mode, uint64_t mask,
                   uint8_t repeat, const BinaryRepeatParams& params) {
  symm::kernel::select_masked_scalar(dst, selected, src0, static_cast<T>(scalar), mode,
                                     symm::kernel::number_mask(mask, true, "Select"), repeat,
                                     params);
}
template <typename T, typename B, typename U,
          std::enable_if_t<std::is_convertible_v<U, T>, int> = 0>
inline void Select(const LocalTensor<T>& dst, const LocalTensor<B>& selected,
                   const LocalTensor<T>& src0, const U& scalar, SELMODE mode, const uint64_t mask[],
                   uint8_t repeat, const BinaryRepeatParams& params) {
  const auto chosen = symm::kernel::choose_mask(symm::kernel::Mask::bits(mask), true, "Select");
  symm::kernel::select_masked_scalar(dst, selected, src0, static_cast<T>(scalar), mode, chosen,
                                     repeat, params);
}
// By the result of the last Compare without a destination (or SetCmpMask), the same for every
// repeat.
template <typename T, SELMODE mode = SELMODE::VSEL_CMPMASK_SPR>
inline void Select(const LocalTensor<T>& dst, const LocalTensor<T>& src0,
                   const LocalTensor<T>& src1, uint8_t repeat, const BinaryRepeatParams& params) {
  static_assert(mode == SELMODE::VSEL_CMPMASK_SPR, "Select without bits takes those of Compare");
  const auto& state = symm::kernel::language("Select");
  symm::kernel::select_by_bits(dst, reinterpret_cast<const uint8_t*>(state.compare), true, src0,
                               src1, symm::kernel::choose_mask({}, false, "Select"), repeat,
                               params);
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

// Repeats src along `axis` until it has the shape of dst; dim is 1 or 2, and src has length 1
// there.
template <typename T, int32_t dim, int32_t axis, bool reuse_source = false>
inline void Broadcast(const LocalTensor<T>& dst, const LocalTensor<T>& src,
                      const uint32_t dst_shape[dim], const uint32_t src_shape[dim]) {
  static_assert((dim == 1 || dim == 2) && axis >= 0 && axis < dim, "Broadcast: 1 or 2 dimensions");
  const uint64_t rows = dim == 2 ? dst_shape[0] : 1;
  const uint64_t columns = dst_shape[dim - 1];
  if (src_shape[axis] != 1)
    symm::kernel::fail("Broadcast: the source has length %u along axis %d, not 1", src_shape[axis],
                       axis);
  if (dim == 2 && src_shape[1 - axis] != dst_shape[1 - axis])
    symm::kernel::fail("Broadcast: lengths %u and %u differ along the axis that stays",
                       src_shape[1 - axis], dst_shape[1 - axis]);
  const uint64_t sources = dim == 1 ? 1 : axis == 0 ? columns : rows;
  T* to = symm::kernel::local_data(dst, rows * columns * sizeof(T), "Broadcast");
  const T* from = symm::kernel::local_data(src, sources * sizeof(T), "Broadcast");
  for (uint64_t r = 0; r < rows; ++r) {
    for (uint64_t c = 0; c < columns; ++c) {
      to[r * columns + c] = from[dim == 1 ? 0 : axis == 0 ? c : r];
    }
  }
}
// The hardware needs room to work in.
template <typename T, int32_t dim, int32_t axis, bool reuse_source = false>
inline void Broadcast(const LocalTensor<T>& dst, const LocalTensor<T>& src,
                      const uint32_t dst_shape[dim], const uint32_t src_shape[dim],
                      LocalTensor<uint8_t>&) {
  Broadcast<T, dim, axis, reuse_source>(dst, src, dst_shape, src_shape);
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
