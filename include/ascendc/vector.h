// Element-wise vector operations on the unified buffer. Destinations may be exactly a source;
// partly overlapping ranges are undefined, as on hardware. The loops are plain, for the compiler to
// vectorise; half and bfloat16 go through float.
#pragma once

#include "ascendc/tensor.h"

// The iterations are independent: sources and destination are equal or apart.
#if defined(__clang__)
#define SYMM_INDEPENDENT_LOOP _Pragma("clang loop vectorize(assume_safety)")
#else
#define SYMM_INDEPENDENT_LOOP _Pragma("GCC ivdep")
#endif

namespace symm::kernel {

template <typename T, typename Operation>
void binary(const AscendC::LocalTensor<T>& dst, const AscendC::LocalTensor<T>& src0,
            const AscendC::LocalTensor<T>& src1, int64_t count, const char* call,
            Operation operation) {
  if (count < 0) fail("%s: count is %lld", call, static_cast<long long>(count));
  const uint64_t bytes = static_cast<uint64_t>(count) * sizeof(T);
  T* to = local_data(dst, bytes, call);
  const T* a = local_data(src0, bytes, call);
  const T* b = local_data(src1, bytes, call);
  SYMM_INDEPENDENT_LOOP
  for (int64_t i = 0; i < count; ++i) to[i] = operation(a[i], b[i]);
}

}  // namespace symm::kernel

namespace AscendC {

// dst[i] = src0[i] + src1[i] for `count` elements; integers wrap.
template <typename T>
inline void Add(const LocalTensor<T>& dst, const LocalTensor<T>& src0, const LocalTensor<T>& src1,
                int32_t count) {
  symm::kernel::binary(dst, src0, src1, count, "Add", [](T a, T b) {
    if constexpr (std::is_integral_v<T>) {
      using U = std::make_unsigned_t<T>;
      return static_cast<T>(static_cast<U>(static_cast<U>(a) + static_cast<U>(b)));
    } else {
      return a + b;
    }
  });
}

}  // namespace AscendC
