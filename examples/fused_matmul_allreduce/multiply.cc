#include "fused_matmul_allreduce/multiply.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "fused_matmul_allreduce/multiply.cc"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace matmul {
namespace HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

// Four rows by two vectors stay in registers over the whole of k.
void multiply_tile(float* out, const float* a, const float* b, int32_t rows, int32_t n, int32_t k) {
  const hn::CappedTag<float, 32> d;
  const auto lanes = static_cast<int32_t>(hn::Lanes(d));
  for (int32_t j = 0; j < n; j += 2 * lanes) {
    for (int32_t i = 0; i < rows; i += 4) {
      auto c00 = hn::Zero(d), c01 = hn::Zero(d), c10 = hn::Zero(d), c11 = hn::Zero(d);
      auto c20 = hn::Zero(d), c21 = hn::Zero(d), c30 = hn::Zero(d), c31 = hn::Zero(d);
      const float* row = a + i * k;
      for (int32_t p = 0; p < k; ++p) {
        const auto b0 = hn::LoadU(d, b + p * n + j);
        const auto b1 = hn::LoadU(d, b + p * n + j + lanes);
        const auto a0 = hn::Set(d, row[p]);
        const auto a1 = hn::Set(d, row[k + p]);
        const auto a2 = hn::Set(d, row[2 * k + p]);
        const auto a3 = hn::Set(d, row[3 * k + p]);
        c00 = hn::MulAdd(a0, b0, c00), c01 = hn::MulAdd(a0, b1, c01);
        c10 = hn::MulAdd(a1, b0, c10), c11 = hn::MulAdd(a1, b1, c11);
        c20 = hn::MulAdd(a2, b0, c20), c21 = hn::MulAdd(a2, b1, c21);
        c30 = hn::MulAdd(a3, b0, c30), c31 = hn::MulAdd(a3, b1, c31);
      }
      float* to = out + i * n + j;
      hn::StoreU(c00, d, to), hn::StoreU(c01, d, to + lanes);
      hn::StoreU(c10, d, to + n), hn::StoreU(c11, d, to + n + lanes);
      hn::StoreU(c20, d, to + 2 * n), hn::StoreU(c21, d, to + 2 * n + lanes);
      hn::StoreU(c30, d, to + 3 * n), hn::StoreU(c31, d, to + 3 * n + lanes);
    }
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace matmul
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace matmul {
HWY_EXPORT(multiply_tile);
}
void multiply(float* out, const float* a, const float* b, int32_t rows, int32_t n, int32_t k) {
  using namespace matmul;
  HWY_DYNAMIC_DISPATCH(multiply_tile)(out, a, b, rows, n, k);
}
#endif
