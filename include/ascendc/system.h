// Clock, printf and assertions of kernels.
#pragma once

#include <time.h>

#include "ascendc/core.h"

namespace AscendC {

// Monotonic ticks: 50 per microsecond (1000 on arch 3510). Kernels also poll with it, so every 16th
// call lets the other cores run; a pair of calls around a measured stretch does not.
inline int64_t GetSystemCycle() {
  symm_core* core = symm_rt_core();
  if (core != nullptr) {
    auto& language = *reinterpret_cast<symm::kernel::CoreLanguage*>(core->language);
    if (++language.cycle_calls % 16 == 0) symm_rt_yield();
  }
  timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  const int64_t nanoseconds = now.tv_sec * 1000000000ll + now.tv_nsec;
#if __NPU_ARCH__ == 3510
  return nanoseconds;
#else
  return nanoseconds / 20;
#endif
}

}  // namespace AscendC

namespace symm::kernel {

template <typename T>
auto printf_argument(T value) {
  if constexpr (is_small_float_v<T>) {
    return static_cast<double>(static_cast<float>(value));
  } else {
    return value;
  }
}

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-security"
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
// One write per call, so that lines of many cores and PEs stay whole.
template <typename... A>
void print(const char* format, A... arguments) {
  char text[1024];
  const int length = std::snprintf(text, sizeof text, format, printf_argument(arguments)...);
  if (length < 0) return;
  const size_t bytes =
      static_cast<size_t>(length) < sizeof text ? static_cast<size_t>(length) : sizeof text - 1;
  std::fwrite(text, 1, bytes, stdout);
  std::fflush(stdout);
}
#pragma GCC diagnostic pop

}  // namespace symm::kernel

namespace AscendC {

template <typename... A>
inline void printf(const char* format, A... arguments) {
  symm::kernel::print(format, arguments...);
}
template <typename... A>
inline void PRINTF(const char* format, A... arguments) {
  symm::kernel::print(format, arguments...);
}
template <typename P, typename S>
inline void InitDump(bool, P, S) {}

}  // namespace AscendC

namespace Adx {

// Kernels print when they call printf, so nothing is left in a work space to show.
template <typename... A>
inline void AdumpPrintWorkSpace(const void*, size_t, A&&...) {}

}  // namespace Adx

// Checked when the kernel is compiled with SYMM_CHECKED or ASCENDC_DEBUG.
#if defined(SYMM_CHECKED) || defined(ASCENDC_DEBUG)
#define ASCENDC_ASSERT(condition, ...)                                                     \
  do {                                                                                     \
    if (!(condition))                                                                      \
      ::symm::kernel::fail("%s:%d: assertion failed: %s", __FILE__, __LINE__, #condition); \
  } while (0)
#else
#define ASCENDC_ASSERT(condition, ...) ((void)0)
#endif
