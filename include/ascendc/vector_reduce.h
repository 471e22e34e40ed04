// Reductions over the unified buffer. Sums of half and bfloat16 are kept in float and rounded once.
#pragma once

#include "ascendc/vector.h"

namespace AscendC {

enum class ReduceOrder : uint8_t {
  ORDER_VALUE_INDEX,
  ORDER_INDEX_VALUE,
  ORDER_ONLY_VALUE,
  ORDER_ONLY_INDEX
};

}  // namespace AscendC

namespace symm::kernel {

// Independent partial sums, so that the loop can be vectorised; the order is fixed, so results
// repeat.
template <typename T>
T sum(const T* values, uint64_t count) {
  constexpr uint64_t kLanes = 16;
  Wide<T> partial[kLanes] = {};
  uint64_t i = 0;
  for (; i + kLanes <= count; i += kLanes) {
    for (uint64_t k = 0; k < kLanes; ++k)
      partial[k] = add(partial[k], static_cast<Wide<T>>(values[i + k]));
  }
  for (; i < count; ++i)
    partial[i % kLanes] = add(partial[i % kLanes], static_cast<Wide<T>>(values[i]));
  for (uint64_t width = kLanes / 2; width != 0; width /= 2) {
    for (uint64_t k = 0; k < width; ++k) partial[k] = add(partial[k], partial[k + width]);
  }
  return static_cast<T>(partial[0]);
}

// Whether `value` replaces `best`; the first of equal ones stays.
struct Larger {
  template <typename W>
  bool operator()(W value, W best) const {
    return best < value;
  }
};
struct Smaller {
  template <typename W>
  bool operator()(W value, W best) const {
    return value < best;
  }
};

// An index in the bits of an element.
template <typename T>
T index_bits(uint64_t index) {
  using Bits = std::conditional_t<sizeof(T) == 2, uint16_t,
                                  std::conditional_t<sizeof(T) == 4, uint32_t, uint64_t>>;
  return __builtin_bit_cast(T, static_cast<Bits>(index));
}

template <typename Better, typename T>
void find_best(const AscendC::LocalTensor<T>& dst, const AscendC::LocalTensor<T>& src,
               int64_t count, bool index, const char* call) {
  const uint64_t n = check_count(count, call);
  if (n == 0) return;
  const T* values = local_data(src, n * sizeof(T), call);
  uint64_t best = 0;
  for (uint64_t i = 1; i < n; ++i) {
    if (Better()(static_cast<Wide<T>>(values[i]), static_cast<Wide<T>>(values[best]))) best = i;
  }
  const T value = values[best];
  T* to = local_data(dst, (index ? 2 : 1) * sizeof(T), call);
  to[0] = value;
  if (index) to[1] = index_bits<T>(best);
}

// The source of a whole-repeat reduction, and the elements of repeat r that take part.
template <typename T>
struct RepeatSource {
  static constexpr uint32_t kPerRepeat = 256 / sizeof(T);
  Mask mask;
  Strided<T> values;

  RepeatSource(const AscendC::LocalTensor<T>& src, const Mask& active, uint64_t repeats,
               uint64_t block_stride, uint64_t repeat_stride, const char* call)
      : mask(active),
        values(strided(src, block_stride, repeat_stride, active, repeats, kPerRepeat, call)) {}

  template <typename F>
  void for_each(uint64_t r, F f) const {
    for (uint32_t e = 0; e < kPerRepeat; ++e) {
      if (mask.test(e)) f(e, values.at(r, e));
    }
  }
};

template <typename T>
void whole_sum(const AscendC::LocalTensor<T>& dst, const RepeatSource<T>& source, uint64_t repeats,
               uint64_t dst_stride, const char* call) {
  if (repeats == 0) return;
  T* to = local_data(dst, ((repeats - 1) * dst_stride + 1) * sizeof(T), call);
  for (uint64_t r = 0; r < repeats; ++r) {
    Wide<T> total{};
    source.for_each(
        r, [&](uint32_t, const T& value) { total = add(total, static_cast<Wide<T>>(value)); });
    to[r * dst_stride] = static_cast<T>(total);
  }
}

template <typename Better, typename T>
void whole_best(const AscendC::LocalTensor<T>& dst, const RepeatSource<T>& source, uint64_t repeats,
                uint64_t dst_stride, AscendC::ReduceOrder order, const char* call) {
  using AscendC::ReduceOrder;
  if (repeats == 0) return;
  const bool both =
      order == ReduceOrder::ORDER_VALUE_INDEX || order == ReduceOrder::ORDER_INDEX_VALUE;
  const uint64_t step = both ? 2 * dst_stride : dst_stride;
  T* to = local_data(dst, ((repeats - 1) * step + (both ? 2 : 1)) * sizeof(T), call);
  for (uint64_t r = 0; r < repeats; ++r) {
    bool any = false;
    T best{};
    uint32_t at = 0;
    source.for_each(r, [&](uint32_t e, const T& value) {
      if (!any || Better()(static_cast<Wide<T>>(value), static_cast<Wide<T>>(best))) {
        best = value;
        at = e;
      }
      any = true;
    });
    T* result = to + r * step;
    if (order == ReduceOrder::ORDER_ONLY_VALUE) result[0] = best;
    if (order == ReduceOrder::ORDER_ONLY_INDEX) result[0] = index_bits<T>(at);
    if (both) {
      result[order == ReduceOrder::ORDER_VALUE_INDEX ? 0 : 1] = best;
      result[order == ReduceOrder::ORDER_VALUE_INDEX ? 1 : 0] = index_bits<T>(at);
    }
  }
}

// One result per group of `group` neighbouring elements: blocks of 32 bytes, or pairs.
template <typename T, typename F>
void group_reduce(const AscendC::LocalTensor<T>& dst, const RepeatSource<T>& source,
                  uint64_t repeats, uint64_t group, uint64_t dst_stride, const char* call, F f) {
  if (repeats == 0) return;
  const uint64_t groups = RepeatSource<T>::kPerRepeat / group;
  T* to = local_data(dst, ((repeats - 1) * dst_stride + 1) * groups * sizeof(T), call);
  for (uint64_t r = 0; r < repeats; ++r) {
    bool started[128] = {};
    Wide<T> results[128] = {};
    source.for_each(r, [&](uint32_t e, const T& value) {
      const uint64_t g = e / group;
      const auto wide = static_cast<Wide<T>>(value);
      results[g] = started[g] ? f(results[g], wide) : wide;
      started[g] = true;
    });
    for (uint64_t g = 0; g < groups; ++g) {
      if (started[g]) to[r * dst_stride * groups + g] = static_cast<T>(results[g]);
    }
  }
}

}  // namespace symm::kernel

namespace AscendC {

// dst[0] = sum of `count` elements. The work tensor is not needed here.
template <typename T>
inline void ReduceSum(const LocalTensor<T>& dst, const LocalTensor<T>& src, const LocalTensor<T>&,
                      int32_t count) {
  const uint64_t n = symm::kernel::check_count(count, "ReduceSum");
  const T total = symm::kernel::sum(symm::kernel::local_data(src, n * sizeof(T), "ReduceSum"), n);
  symm::kernel::local_data(dst, sizeof(T), "ReduceSum")[0] = total;
}
template <typename T>
inline void ReduceSum(const LocalTensor<T>& dst, const LocalTensor<T>& src, const LocalTensor<T>&,
                      int32_t mask, int32_t repeat, int32_t src_repeat_stride) {
  const symm::kernel::RepeatSource<T> source(
      src, symm::kernel::Mask::first(static_cast<uint64_t>(mask)), static_cast<uint64_t>(repeat), 1,
      static_cast<uint64_t>(src_repeat_stride), "ReduceSum");
  symm::kernel::Wide<T> total{};
  for (uint64_t r = 0; r < static_cast<uint64_t>(repeat); ++r) {
    source.for_each(r, [&](uint32_t, const T& value) {
      total = symm::kernel::add(total, static_cast<symm::kernel::Wide<T>>(value));
    });
  }
  symm::kernel::local_data(dst, sizeof(T), "ReduceSum")[0] = static_cast<T>(total);
}

// dst[0] = the largest (smallest) element; with an index, dst[1] holds it as bits.
template <typename T>
inline void ReduceMax(const LocalTensor<T>& dst, const LocalTensor<T>& src, const LocalTensor<T>&,
                      int32_t count, bool index = false) {
  symm::kernel::find_best<symm::kernel::Larger>(dst, src, count, index, "ReduceMax");
}
template <typename T>
inline void ReduceMin(const LocalTensor<T>& dst, const LocalTensor<T>& src, const LocalTensor<T>&,
                      int32_t count, bool index = false) {
  symm::kernel::find_best<symm::kernel::Smaller>(dst, src, count, index, "ReduceMin");
}

// One sum per repeat, at dst[r * dst_stride] (elements).
template <typename T, bool set_mask = true>
inline void WholeReduceSum(const LocalTensor<T>& dst, const LocalTensor<T>& src, int32_t mask,
                           int32_t repeat, int32_t dst_stride, int32_t src_block_stride,
                           int32_t src_repeat_stride) {
  const uint64_t repeats = static_cast<uint64_t>(repeat);
  const auto active =
      symm::kernel::number_mask(static_cast<uint64_t>(mask), set_mask, "WholeReduceSum");
  const symm::kernel::RepeatSource<T> source(
      src, active, repeats, static_cast<uint64_t>(src_block_stride),
      static_cast<uint64_t>(src_repeat_stride), "WholeReduceSum");
  symm::kernel::whole_sum(dst, source, repeats, static_cast<uint64_t>(dst_stride),
                          "WholeReduceSum");
}
template <typename T, bool set_mask = true>
inline void WholeReduceSum(const LocalTensor<T>& dst, const LocalTensor<T>& src,
                           const uint64_t mask[], int32_t repeat, int32_t dst_stride,
                           int32_t src_block_stride, int32_t src_repeat_stride) {
  const uint64_t repeats = static_cast<uint64_t>(repeat);
  const auto active =
      symm::kernel::choose_mask(symm::kernel::Mask::bits(mask), set_mask, "WholeReduceSum");
  const symm::kernel::RepeatSource<T> source(
      src, active, repeats, static_cast<uint64_t>(src_block_stride),
      static_cast<uint64_t>(src_repeat_stride), "WholeReduceSum");
  symm::kernel::whole_sum(dst, source, repeats, static_cast<uint64_t>(dst_stride),
                          "WholeReduceSum");
}

// The largest (smallest) element of each repeat with its index, in the given order; one pair is one
// step of dst.
template <typename T, bool set_mask = true>
inline void WholeReduceMax(const LocalTensor<T>& dst, const LocalTensor<T>& src, int32_t mask,
                           int32_t repeat, int32_t dst_stride, int32_t src_block_stride,
                           int32_t src_repeat_stride,
                           ReduceOrder order = ReduceOrder::ORDER_VALUE_INDEX) {
  const uint64_t repeats = static_cast<uint64_t>(repeat);
  const auto active =
      symm::kernel::number_mask(static_cast<uint64_t>(mask), set_mask, "WholeReduceMax");
  const symm::kernel::RepeatSource<T> source(
      src, active, repeats, static_cast<uint64_t>(src_block_stride),
      static_cast<uint64_t>(src_repeat_stride), "WholeReduceMax");
  symm::kernel::whole_best<symm::kernel::Larger>(
      dst, source, repeats, static_cast<uint64_t>(dst_stride), order, "WholeReduceMax");
}
template <typename T, bool set_mask = true>
inline void WholeReduceMin(const LocalTensor<T>& dst, const LocalTensor<T>& src, int32_t mask,
                           int32_t repeat, int32_t dst_stride, int32_t src_block_stride,
                           int32_t src_repeat_stride,
                           ReduceOrder order = ReduceOrder::ORDER_VALUE_INDEX) {
  const uint64_t repeats = static_cast<uint64_t>(repeat);
  const auto active =
      symm::kernel::number_mask(static_cast<uint64_t>(mask), set_mask, "WholeReduceMin");
  const symm::kernel::RepeatSource<T> source(
      src, active, repeats, static_cast<uint64_t>(src_block_stride),
      static_cast<uint64_t>(src_repeat_stride), "WholeReduceMin");
  symm::kernel::whole_best<symm::kernel::Smaller>(
      dst, source, repeats, static_cast<uint64_t>(dst_stride), order, "WholeReduceMin");
}

// One result per block of 32 bytes; a repeat gives 8 of them. dst_stride in units of these 8.
#define SYMM_BLOCK_REDUCTION(name, group, function)                                              \
  template <typename T, bool set_mask = true>                                                    \
  inline void name(const LocalTensor<T>& dst, const LocalTensor<T>& src, int32_t repeat,         \
                   int32_t mask, int32_t dst_stride, int32_t src_block_stride,                   \
                   int32_t src_repeat_stride) {                                                  \
    using W = symm::kernel::Wide<T>;                                                             \
    const uint64_t repeats = static_cast<uint64_t>(repeat);                                      \
    const auto active = symm::kernel::number_mask(static_cast<uint64_t>(mask), set_mask, #name); \
    const symm::kernel::RepeatSource<T> source(src, active, repeats,                             \
                                               static_cast<uint64_t>(src_block_stride),          \
                                               static_cast<uint64_t>(src_repeat_stride), #name); \
    symm::kernel::group_reduce(dst, source, repeats, group, static_cast<uint64_t>(dst_stride),   \
                               #name, [](W a, W b) { return symm::kernel::function(a, b); });    \
  }
SYMM_BLOCK_REDUCTION(BlockReduceSum, symm::kernel::kUbBlock / sizeof(T), add)
SYMM_BLOCK_REDUCTION(BlockReduceMax, symm::kernel::kUbBlock / sizeof(T), larger)
SYMM_BLOCK_REDUCTION(BlockReduceMin, symm::kernel::kUbBlock / sizeof(T), smaller)
SYMM_BLOCK_REDUCTION(PairReduceSum, 2, add)
#undef SYMM_BLOCK_REDUCTION

}  // namespace AscendC
