// Sorting of scores with their indices: Sort32 sorts stretches of 32, MrgSort merges sorted lists.
// A pair takes 8 bytes: the score (of half: with two unused bytes behind it), then the index as
// uint32. Order: falling scores; equal ones keep the order they came in.
#pragma once

#include "ascendc/vector.h"

namespace AscendC {

// Up to four lists, in the order that decides between equal scores.
template <typename T>
struct MrgSortSrcList {
  MrgSortSrcList() {}
  MrgSortSrcList(const LocalTensor<T>& first, const LocalTensor<T>& second,
                 const LocalTensor<T>& third, const LocalTensor<T>& fourth)
      : src1(first), src2(second), src3(third), src4(fourth) {}

  LocalTensor<T> src1;
  LocalTensor<T> src2;
  LocalTensor<T> src3;
  LocalTensor<T> src4;
};

// elementLengths: pairs of each list. validBit: bit i says that list i takes part (3, 7 or 15).
// ifExhaustedSuspension: stop when the first list is used up; GetMrgSortResult then tells how far
// each got. repeatTimes above 1: so many groups of four lists of one length, one behind the other.
struct MrgSort4Info {
  MrgSort4Info() {}
  MrgSort4Info(const uint16_t lengths[4], bool suspend, uint16_t valid, uint16_t repeat)
      : ifExhaustedSuspension(suspend), validBit(valid), repeatTimes(static_cast<uint8_t>(repeat)) {
    for (int i = 0; i < 4; ++i) elementLengths[i] = lengths[i];
  }

  uint16_t elementLengths[4] = {0};
  bool ifExhaustedSuspension = false;
  uint16_t validBit = 0;
  uint8_t repeatTimes = 1;
};

}  // namespace AscendC

namespace symm::kernel {

template <typename T>
struct ScorePair {
  T score;
  uint32_t index;
};
static_assert(sizeof(ScorePair<float>) == 8 && sizeof(ScorePair<::half>) == 8);

// Merges lists[0..3] of the given lengths into `to` until all are used up, or one when `suspend`;
// taken[i]: pairs taken from each. The lists do not overlap `to`.
template <typename T>
void merge_pairs(ScorePair<T>* to, const ScorePair<T>* const lists[4], const uint32_t lengths[4],
                 bool suspend, uint32_t taken[4]) {
  for (int i = 0; i < 4; ++i) taken[i] = 0;
  while (true) {
    int best = -1;
    for (int i = 0; i < 4; ++i) {
      if (taken[i] >= lengths[i]) continue;
      if (best < 0 || static_cast<Wide<T>>(lists[best][taken[best]].score) <
                          static_cast<Wide<T>>(lists[i][taken[i]].score)) {
        best = i;
      }
    }
    if (best < 0) return;
    *to++ = lists[best][taken[best]++];
    if (suspend && taken[best] == lengths[best]) return;
  }
}

}  // namespace symm::kernel

namespace AscendC {

// Sorts `repeat` stretches of 32 scores of src with their indices into pairs.
template <typename T>
inline void Sort32(const LocalTensor<T>& dst, const LocalTensor<T>& src,
                   const LocalTensor<uint32_t>& indices, int32_t repeat) {
  static_assert(std::is_same_v<T, float> || std::is_same_v<T, ::half>, "Sort32: half or float");
  using Pair = symm::kernel::ScorePair<T>;
  const uint64_t n = 32 * symm::kernel::check_count(repeat, "Sort32");
  const T* scores = symm::kernel::local_data(src, n * sizeof(T), "Sort32");
  const uint32_t* numbers = symm::kernel::local_data(indices, n * sizeof(uint32_t), "Sort32");
  auto* to = reinterpret_cast<Pair*>(symm::kernel::local_data(dst, n * sizeof(Pair), "Sort32"));
  for (uint64_t first = 0; first < n; first += 32) {
    Pair sorted[32];
    for (uint64_t i = 0; i < 32; ++i) {
      const Pair pair{scores[first + i], numbers[first + i]};
      uint64_t at = i;
      for (; at > 0 && static_cast<symm::kernel::Wide<T>>(sorted[at - 1].score) <
                           static_cast<symm::kernel::Wide<T>>(pair.score);
           --at) {
        sorted[at] = sorted[at - 1];
      }
      sorted[at] = pair;
    }
    for (uint64_t i = 0; i < 32; ++i) to[first + i] = sorted[i];
  }
}

// Merges sorted lists of pairs into dst.
template <typename T>
inline void MrgSort(const LocalTensor<T>& dst, const MrgSortSrcList<T>& src,
                    const MrgSort4Info& info) {
  static_assert(std::is_same_v<T, float> || std::is_same_v<T, ::half>, "MrgSort: half or float");
  using Pair = symm::kernel::ScorePair<T>;
  const bool groups = info.repeatTimes > 1;
  const LocalTensor<T>* tensors[4] = {&src.src1, &src.src2, &src.src3, &src.src4};
  const Pair* lists[4] = {};
  uint32_t lengths[4] = {};
  uint64_t total = 0;
  for (int i = 0; i < 4; ++i) {
    if ((info.validBit >> i & 1) == 0) continue;
    lengths[i] = info.elementLengths[i];
    if (lengths[i] == 0) continue;
    lists[i] = reinterpret_cast<const Pair*>(
        symm::kernel::local_data(*tensors[i], lengths[i] * sizeof(Pair), "MrgSort"));
    total += lengths[i];
    if (groups && lengths[i] != lengths[0])
      symm::kernel::fail("MrgSort: with repeatTimes above 1 all four lists have one length");
  }
  if (groups && info.validBit != 15)
    symm::kernel::fail("MrgSort: with repeatTimes above 1 validBit is 15, not %d", info.validBit);
  const uint64_t repeats = groups ? info.repeatTimes : 1;
  auto* to = reinterpret_cast<Pair*>(
      symm::kernel::local_data(dst, repeats * total * sizeof(Pair), "MrgSort"));
  auto& state = symm::kernel::language("MrgSort");
  for (uint64_t r = 0; r < repeats; ++r) {
    const Pair* here[4];
    for (int i = 0; i < 4; ++i) here[i] = lists[i] == nullptr ? nullptr : lists[i] + r * total;
    symm::kernel::merge_pairs(to + r * total, here, lengths, info.ifExhaustedSuspension && !groups,
                              state.merged);
  }
}

// How many pairs the last MrgSort of this core took from each list.
inline void GetMrgSortResult(uint16_t& first, uint16_t& second, uint16_t& third, uint16_t& fourth) {
  const auto& state = symm::kernel::language("GetMrgSortResult");
  first = static_cast<uint16_t>(state.merged[0]);
  second = static_cast<uint16_t>(state.merged[1]);
  third = static_cast<uint16_t>(state.merged[2]);
  fourth = static_cast<uint16_t>(state.merged[3]);
}

}  // namespace AscendC
