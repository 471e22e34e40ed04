// Cache operations: while a core works on one part of a large buffer, the copy engine brings the
// next part into the cache. A hint changes times, never values: both ways must give the same sum.
#include "../utils/demo.h"

namespace {

constexpr uint64_t kWords = 4 * 1024 * 1024;  // int32: more than the caches near a core hold
constexpr uint64_t kPart = 32 * 1024;
constexpr int kRounds = 5;
constexpr double kCyclesPerUs = 50;  // of GetSystemCycle

}  // namespace

// result: sum, cycles.
ACLSHMEM_GLOBAL_VECTOR void add_up(__gm__ int32_t* data, __gm__ int64_t* result, int32_t prefetch) {
  __ubuf__ int32_t* scratch = reinterpret_cast<__ubuf__ int32_t*>(uint64_t(0));
  const int64_t start = AscendC::GetSystemCycle();
  int64_t sum = 0;
  for (uint64_t from = 0; from < kWords; from += kPart) {
    if (prefetch != 0 && from + kPart < kWords) {
      aclshmemx_cmo_nbi(data + from + kPart, kPart, ACLSHMEMCMOTYPE::CMO_TYPE_PREFETCH, scratch, 64,
                        EVENT_ID0);
    }
    for (uint64_t i = from; i < from + kPart; ++i) sum += data[i];
  }
  aclshmemx_sdma_quiet(scratch, 64, EVENT_ID0);
  result[0] = sum;
  result[1] = AscendC::GetSystemCycle() - start;
}

namespace {

bool measure(const demo::Arguments& arguments, int32_t* data, int64_t* result, int64_t wanted,
             int32_t prefetch, aclrtStream stream) {
  std::vector<double> times;
  for (int round = 0; round < kRounds; ++round) {
    add_up<<<1, nullptr, stream>>>(data, result, prefetch);
    DEMO_CHECK(aclrtSynchronizeStream(stream));
    int64_t host[2];
    DEMO_CHECK(aclrtMemcpy(host, sizeof host, result, sizeof host, ACL_MEMCPY_DEVICE_TO_HOST));
    times.push_back(static_cast<double>(host[1]) / kCyclesPerUs);
    if (host[0] == wanted) continue;
    std::fprintf(stderr, "sum %s prefetch: got %lld, wanted %lld\n", prefetch ? "with" : "without",
                 static_cast<long long>(host[0]), static_cast<long long>(wanted));
    return false;
  }
  std::printf("relative pe %d: %s prefetch: median %.1f us\n", arguments.relative_pe(),
              prefetch != 0 ? "with" : "without", demo::median(times));
  return true;
}

bool run(const demo::Arguments& arguments) {
  aclrtStream stream = nullptr;
  if (!demo::start(arguments, &stream, ACLSHMEM_DATA_OP_MTE | ACLSHMEM_DATA_OP_SDMA)) return false;
  auto* data = demo::symmetric_of<int32_t>(kWords);
  auto* result = demo::symmetric_of<int64_t>(2);
  if (data == nullptr || result == nullptr) return false;
  std::vector<int32_t> host(kWords);
  int64_t sum = 0;
  for (uint64_t i = 0; i < kWords; ++i) {
    sum += host[i] = arguments.pe_id + static_cast<int32_t>(i % 1000);
  }
  const size_t bytes = kWords * sizeof(int32_t);
  DEMO_CHECK(aclrtMemcpy(data, bytes, host.data(), bytes, ACL_MEMCPY_HOST_TO_DEVICE));
  const bool good = measure(arguments, data, result, sum, 0, stream) &&
                    measure(arguments, data, result, sum, 1, stream);
  aclshmem_free(result);
  aclshmem_free(data);
  return demo::finish(arguments, stream) && good;
}

}  // namespace

int main(int argc, char** argv) { return demo::main_of(argc, argv, run); }
