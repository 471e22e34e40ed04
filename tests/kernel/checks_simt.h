// Checks of the SIMT transfers; part of checks.h. The functions run on lanes of the core: one lane
// for the thread scope, several shapes for the collective scopes.
#pragma once

#include <span>

#include "tests/kernel/checks.h"

namespace symm::test {

// What a lane does: the transfer under test.
template <typename D, typename S>
void lane_transfer(void (*call)(D*, S*, size_t, int), D* target, S* source, size_t n, int pe) {
  call(target, source, n, pe);
}
template <typename T>
void lane_p(void (*call)(T*, T, int), T* target, int me, int pe) {
  call(target, sample<T>(me, 1), pe);
}
template <typename T>
void lane_g(T (*call)(T*, int), T* source, T* target, int pe) {
  *target = call(source, pe);
}

inline const dim3 kOneLane[] = {dim3(1)};
inline const dim3 kFewLanes[] = {dim3(3, 2)};
inline const dim3 kMoreLanes[] = {dim3(1), dim3(7), dim3(32, 2, 4)};
// Every lane is a fiber: many cores with many lanes each take long, and ThreadSanitizer needs a
// millisecond for one.
inline std::span<const dim3> many_lanes() {
#if defined(__SANITIZE_THREAD__)
  return kFewLanes;
#else
  if (AscendC::GetBlockNum() * aclshmem_n_pes() > 3) return kFewLanes;
  return kMoreLanes;
#endif
}

// The transfer as an ordinary check of put or get, run on lanes of one shape.
inline dim3 lanes_now;

template <typename D, typename S>
struct OnLanes {
  static inline void (*call)(D*, S*, size_t, int) = nullptr;
  static void run(D* target, S* source, size_t n, int pe) {
    asc_vf_call<lane_transfer<D, S>>(lanes_now, call, target, source, n, pe);
  }
};

inline void nothing(int) {}

// One core sets the statics between two meetings, so they are equal for all.
#define SYMM_CHECK_SIMT(SCOPE, VERB, KIND, D, S, SHAPES)                     \
  template <typename T>                                                      \
  void check_simt##SCOPE##_##VERB(void (*call)(D*, S*, size_t, int), Done) { \
    for (const dim3& shape : SHAPES) {                                       \
      meet();                                                                \
      if (aclshmem_my_pe() == 0 && AscendC::GetBlockIdx() == 0) {            \
        lanes_now = shape;                                                   \
        OnLanes<D, S>::call = call;                                          \
      }                                                                      \
      meet();                                                                \
      check_##KIND<T>(OnLanes<D, S>::run, nothing);                          \
    }                                                                        \
  }
#define SYMM_CHECK_SCOPES(SCOPE, SHAPES)                        \
  SYMM_CHECK_SIMT(SCOPE, put, put, T, T, SHAPES)                \
  SYMM_CHECK_SIMT(SCOPE, get, get, T, T, SHAPES)                \
  SYMM_CHECK_SIMT(SCOPE, ub_put, ub_put, T, volatile T, SHAPES) \
  SYMM_CHECK_SIMT(SCOPE, ub_get, ub_get, volatile T, T, SHAPES)
SYMM_CHECK_SCOPES(, kOneLane)
SYMM_CHECK_SCOPES(_block, many_lanes())
SYMM_CHECK_SCOPES(_warp, many_lanes())
#undef SYMM_CHECK_SCOPES
#undef SYMM_CHECK_SIMT

template <typename T>
void check_simt_p(void (*call)(T*, T, int), Done) {
  const Ring ring;
  T* target = heap<T>(kTargetAt) + 1;
  prepare(heap<T>(kSourceAt), target, 3, ring.me);
  asc_vf_call<lane_p<T>>(dim3(1), call, target + 1, ring.me, ring.right);
  meet();
  require(same(target[1], sample<T>(ring.left, 1)), "wrong value");
  require(same(target[0], value_of<T>(0)) && same(target[2], value_of<T>(0)), "wrote outside");
  meet();
}

template <typename T>
void check_simt_g(T (*call)(T*, int), Done) {
  const Ring ring;
  T* source = heap<T>(kSourceAt);
  T* target = heap<T>(kTargetAt) + 1;
  prepare(source, target, 2, ring.me);
  asc_vf_call<lane_g<T>>(dim3(1), call, source + 1, target, ring.right);
  require(same(*target, sample<T>(ring.right, 1)), "wrong value");
  meet();
}

}  // namespace symm::test
