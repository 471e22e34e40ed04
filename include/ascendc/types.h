// Scalars, pointers and enumerations of the kernel language.
#pragma once

#include <cstddef>
#include <cstdint>

#include "ascendc/small_float.h"
#include "ascendc/words.h"

using half = symm::SmallFloat<symm::HalfFormat, symm::DeviceValue>;
using bfloat16_t = symm::SmallFloat<symm::BrainFormat, symm::DeviceValue>;
using float16_t = half;

#ifndef GM_ADDR
#define GM_ADDR __gm__ uint8_t*
#endif

enum pipe_t : uint8_t {
  PIPE_S,
  PIPE_V,
  PIPE_M,
  PIPE_MTE1,
  PIPE_MTE2,
  PIPE_MTE3,
  PIPE_ALL,
  PIPE_MTE4,
  PIPE_MTE5,
  PIPE_V2,
  PIPE_FIX,
};

enum event_t : uint8_t {
  EVENT_ID0,
  EVENT_ID1,
  EVENT_ID2,
  EVENT_ID3,
  EVENT_ID4,
  EVENT_ID5,
  EVENT_ID6,
  EVENT_ID7,
  EVENT_ID_MAX,
};

namespace AscendC {

using TEventID = int8_t;
using half = ::half;
using bfloat16_t = ::bfloat16_t;

// Kinds of core. MIX is what a launch of both is.
inline constexpr int32_t MIX = 0;
inline constexpr int32_t AIC = 1;
inline constexpr int32_t AIV = 2;

enum class TPosition : uint8_t {
  GM,
  A1,
  A2,
  B1,
  B2,
  C1,
  C2,
  CO1,
  CO2,
  VECIN,
  VECOUT,
  VECCALC,
  LCM = VECCALC,
  SPM,
  SHM = SPM,
  TSCM,
  C2PIPE2GM,
  C2PIPE2LOCAL,
  MAX,
};
using QuePosition = TPosition;

enum class HardEvent : uint8_t {
  MTE2_MTE1,
  MTE1_MTE2,
  MTE1_M,
  M_MTE1,
  MTE2_V,
  V_MTE2,
  MTE3_V,
  V_MTE3,
  M_V,
  V_M,
  V_V,
  MTE3_MTE1,
  MTE1_MTE3,
  MTE1_V,
  MTE2_M,
  M_MTE2,
  V_MTE1,
  M_FIX,
  FIX_M,
  MTE3_MTE2,
  MTE2_MTE3,
  S_V,
  V_S,
  S_MTE2,
  MTE2_S,
  S_MTE3,
  MTE3_S,
  MTE2_FIX,
  FIX_MTE2,
  FIX_S,
  M_S,
  S_M,
  FIX_MTE3,
  MTE3_FIX,
  MTE1_FIX,
  FIX_MTE1,
  FIX_FIX,
  FIX_V,
  V_FIX,
  S_FIX,
  MTE1_S,
  S_MTE1,
  MAX,
};

enum class RoundMode : uint8_t {
  CAST_NONE,  // exact, or as CAST_RINT when precision is lost
  CAST_RINT,  // nearest, ties to even
  CAST_FLOOR,
  CAST_CEIL,
  CAST_ROUND,  // nearest, ties away from zero
  CAST_TRUNC,
  CAST_ODD,  // inexact results get an odd last bit
  CAST_HYBRID,
};

enum class CacheMode : uint8_t {
  CACHE_MODE_DISABLE,
  CACHE_MODE_NORMAL,
  CACHE_MODE_LAST,
  CACHE_MODE_PERSISTENT,
};

enum class CacheLine : uint64_t { SINGLE_CACHE_LINE, ENTIRE_DATA_CACHE };
enum class DcciDst : uint64_t { CACHELINE_ALL, CACHELINE_UB, CACHELINE_OUT, CACHELINE_ATOMIC };
enum class MemDsbT : uint8_t { ALL, DDR, UB, SEQ };

}  // namespace AscendC

inline constexpr int32_t g_coreType = AscendC::AIV;
