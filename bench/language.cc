// DataCopy and Add of the kernel language against plain loops over the same data on one core.
// Compiled by shmem-cc. usage: bench_language [--quick]
#include <acl/acl.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <vector>

#include "kernel_operator.h"

namespace {

constexpr uint32_t kTile = 8192;  // floats: 32 KiB in UB per operand
constexpr uint32_t kTiles = 64;

double now() {
  using Clock = std::chrono::steady_clock;
  return std::chrono::duration<double>(Clock::now().time_since_epoch()).count();
}

}  // namespace

[[bisheng::core_ratio(0, 1)]] __global__ __aicore__ void add_tiles(__gm__ float* a, __gm__ float* b,
                                                                   __gm__ float* c, int rounds,
                                                                   __gm__ double* seconds) {
  AscendC::GlobalTensor<float> x, y, z;
  x.SetGlobalBuffer(a);
  y.SetGlobalBuffer(b);
  z.SetGlobalBuffer(c);
  AscendC::LocalTensor<float> u(AscendC::TPosition::VECIN, 0, kTile);
  AscendC::LocalTensor<float> v(AscendC::TPosition::VECIN, kTile * 4, kTile);
  AscendC::LocalTensor<float> w(AscendC::TPosition::VECOUT, kTile * 8, kTile);
  auto* ub = reinterpret_cast<float*>(symm_rt_core()->ub);
  for (int round = 0; round < rounds; ++round) {
    const double start = now();
    for (uint32_t t = 0; t < kTiles; ++t) {
      AscendC::DataCopy(u, x[t * kTile], kTile);
      AscendC::DataCopy(v, y[t * kTile], kTile);
      AscendC::Add(w, u, v, kTile);
      AscendC::DataCopy(z[t * kTile], w, kTile);
    }
    const double middle = now();
    // The same traffic by hand, through the same buffers.
    for (uint32_t t = 0; t < kTiles; ++t) {
      std::memcpy(ub, a + t * kTile, kTile * 4);
      std::memcpy(ub + kTile, b + t * kTile, kTile * 4);
      float* out = ub + 2 * kTile;
      for (uint32_t i = 0; i < kTile; ++i) out[i] = ub[i] + ub[kTile + i];
      std::memcpy(c + t * kTile, out, kTile * 4);
    }
    const double end = now();
    seconds[2 * round] = middle - start;
    seconds[2 * round + 1] = end - middle;
  }
}

int main(int argc, char** argv) {
  const int rounds = argc > 1 && std::strcmp(argv[1], "--quick") == 0 ? 5 : 200;
  const size_t count = size_t{kTile} * kTiles;
  std::vector<float> a(count, 1.5f), b(count, 2.25f), c(count, 0.0f);
  std::vector<double> seconds(2 * static_cast<size_t>(rounds));
  aclrtStream stream = nullptr;
  if (aclInit(nullptr) != 0 || aclrtSetDevice(0) != 0 || aclrtCreateStream(&stream) != 0) return 2;
  add_tiles<<<1, nullptr, stream>>>(a.data(), b.data(), c.data(), rounds, seconds.data());
  if (aclrtSynchronizeStream(stream) != 0) return 3;
  if (std::any_of(c.begin(), c.end(), [](float value) { return value != 3.75f; })) return 4;
  std::vector<double> language, plain;
  for (size_t i = 0; i < seconds.size(); i += 2) {
    language.push_back(seconds[i]);
    plain.push_back(seconds[i + 1]);
  }
  // The fastest rounds: what the machine can do undisturbed.
  const double ours = *std::min_element(language.begin(), language.end());
  const double theirs = *std::min_element(plain.begin(), plain.end());
  std::printf(
      "DataCopy/Add of %zu floats: %.2f GB/s, plain loops %.2f GB/s, ratio %.2f (aim 0.9)\n", count,
      12e-9 * static_cast<double>(count) / ours, 12e-9 * static_cast<double>(count) / theirs,
      theirs / ours);
  return 0;
}
