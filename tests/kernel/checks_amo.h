// Checks of atomics; part of checks.h.
#pragma once

#include "tests/kernel/checks.h"

namespace symm::test {

template <typename T, typename R>
using Amo = R (*)(T* target, T value, T compare, int pe);

// One operation on the right neighbour's element: `before` becomes `after`, the result (if any) is
// `before`.
template <typename T, typename R>
void amo_once(Amo<T, R> call, Done done, T before, T value, T cond, T after) {
  const Ring ring;
  T* cells = heap<T>(kTargetAt);
  const T guard = value_of<T>(77);
  cells[0] = guard;
  cells[1] = before;
  cells[2] = guard;
  meet();
  if constexpr (std::is_void_v<R>) {
    call(cells + 1, value, cond, ring.right);
  } else {
    require(same(call(cells + 1, value, cond, ring.right), before), "result is not the old value");
  }
  done(ring.right);
  require(same(at_right(cells, ring)[1], after), "not complete after the quiet");
  meet();
  require(same(cells[1], after), "wrong value");
  require(same(cells[0], guard) && same(cells[2], guard), "wrote outside");
  meet();
}

// All PEs, and with four bytes and more all cores, add to one element of PE 0; nothing may be lost.
template <typename T, typename R>
void amo_contended(Amo<T, R> call, Done done, int step) {
  constexpr int kTimes = 10;
  constexpr bool kAllCores = sizeof(T) >= 4;  // smaller ones would not hold the sum
  const Ring ring;
  T* cell = kAllCores ? common<T>() : heap<T>(kTargetAt);
  const int adders = kAllCores ? ring.n * static_cast<int>(AscendC::GetBlockNum()) : ring.n;
  if (!kAllCores || AscendC::GetBlockIdx() == 0) *cell = value_of<T>(0);
  meet();
  for (int i = 0; i < kTimes; ++i) call(cell, value_of<T>(step), T(), 0);
  done(0);
  meet();
  if (ring.me == 0) require(same(*cell, value_of<T>(kTimes * step * adders)), "lost an addition");
  meet();
}

template <typename T, typename R>
void amo_adds(Amo<T, R> call, Done done, int step) {
  amo_once(call, done, value_of<T>(5), value_of<T>(step), T(), value_of<T>(5 + step));
  if constexpr (std::is_integral_v<T>) {
    // Wraps: the largest value plus one is the smallest.
    const T top = std::numeric_limits<T>::max();
    const T after = static_cast<T>(static_cast<std::make_unsigned_t<T>>(top) +
                                   static_cast<std::make_unsigned_t<T>>(step));
    amo_once(call, done, top, value_of<T>(step), T(), after);
  }
  amo_contended(call, done, step);
}

#define SYMM_CHECK_AMO(NAME, ...)                              \
  template <typename T, typename R>                            \
  void check_amo_##NAME(R (*call)(T*, T, T, int), Done done) { \
    __VA_ARGS__;                                               \
  }
SYMM_CHECK_AMO(add, (amo_adds<T, R>(call, done, 3)))
SYMM_CHECK_AMO(fetch_add, (amo_adds<T, R>(call, done, 3)))
SYMM_CHECK_AMO(inc, (amo_adds<T, R>(call, done, 1)))
SYMM_CHECK_AMO(fetch_inc, (amo_adds<T, R>(call, done, 1)))
SYMM_CHECK_AMO(and, (amo_once<T, R>(call, done, 13, 7, 0, 5)))
SYMM_CHECK_AMO(fetch_and, (amo_once<T, R>(call, done, 13, 7, 0, 5)))
SYMM_CHECK_AMO(or, (amo_once<T, R>(call, done, 12, 5, 0, 13)))
SYMM_CHECK_AMO(fetch_or, (amo_once<T, R>(call, done, 12, 5, 0, 13)))
SYMM_CHECK_AMO(xor, (amo_once<T, R>(call, done, 12, 5, 0, 9)))
SYMM_CHECK_AMO(fetch_xor, (amo_once<T, R>(call, done, 12, 5, 0, 9)))
SYMM_CHECK_AMO(fetch, (amo_once<T, R>(call, done, 12, 5, 0, 12)))
SYMM_CHECK_AMO(set, (amo_once<T, R>(call, done, 12, 5, 0, 5)))
SYMM_CHECK_AMO(swap, (amo_once<T, R>(call, done, 12, 5, 0, 5)))
SYMM_CHECK_AMO(cas, (amo_once<T, R>(call, done, 12, 5, 12, 5));
               (amo_once<T, R>(call, done, 12, 5, 11, 12)))
#undef SYMM_CHECK_AMO

}  // namespace symm::test
