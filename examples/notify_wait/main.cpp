// A kernel on one stream sends data by the copy engine and lets the engine record a notify when it
// has landed; a second stream waits for the notify before it uses the data. The cores of the kernel
// never wait for their copies.
#include "../utils/demo.h"

namespace {

constexpr uint32_t kBlocks = 2;
constexpr uint32_t kCores = 2 * kBlocks;  // a mix kernel has two vector cores per block
constexpr uint32_t kPart = 16 * 1024;     // int32 per core
constexpr uint32_t kElements = kCores * kPart;
constexpr int kRounds = 5;
constexpr uint32_t kWaitMs = 30'000;

int32_t value_of(int pe, int round, uint32_t i) {
  return pe * 1000003 + round * 10007 + static_cast<int32_t>(i);
}

}  // namespace

// Each vector core fetches its part of the next PE's source, and behind it its notify.
ACLSHMEM_GLOBAL void fetch(__gm__ int32_t* target, __gm__ int32_t* source) {
  if ASCEND_IS_AIV {
    __ubuf__ int32_t* scratch = reinterpret_cast<__ubuf__ int32_t*>(uint64_t(0));
    const int64_t core =
        AscendC::GetBlockIdx();  // counts vector cores: 0 .. 2 * blocks - 1 in a mix kernel
    const int next = (aclshmem_my_pe() + 1) % aclshmem_n_pes();
    aclshmemx_sdma_get_nbi(target + core * kPart, source + core * kPart, scratch, 64, kPart, next,
                           EVENT_ID0);
    aclshmemx_sdma_notify_record(scratch, 64, EVENT_ID0);
  }
}

// Runs on the second stream, behind the waits.
ACLSHMEM_GLOBAL_VECTOR void double_all(__gm__ int32_t* out, __gm__ int32_t* in) {
  const int64_t share = kElements / AscendC::GetBlockNum();
  const int64_t from = AscendC::GetBlockIdx() * share;
  for (int64_t i = from; i < from + share; ++i) out[i] = 2 * in[i];
}

namespace {

bool run_round(const demo::Arguments& arguments, int round, int32_t* memory, aclrtStream copies,
               aclrtStream work, bool* correct) {
  int32_t* source = memory;
  int32_t* fetched = memory + kElements;
  int32_t* doubled = memory + 2 * kElements;
  std::vector<int32_t> host(kElements);
  constexpr size_t kBytes = kElements * sizeof(int32_t);
  for (uint32_t i = 0; i < kElements; ++i) host[i] = value_of(arguments.pe_id, round, i);
  DEMO_CHECK(aclrtMemcpy(source, kBytes, host.data(), kBytes, ACL_MEMCPY_HOST_TO_DEVICE));
  aclshmem_barrier_all();  // every source is filled

  fetch<<<kBlocks, nullptr, copies>>>(fetched, source);
  for (uint32_t core = 0; core < kCores; ++core) {
    DEMO_CHECK(aclrtWaitAndResetNotify(g_state_host.notify_arr[core], work, kWaitMs));
  }
  double_all<<<kBlocks, nullptr, work>>>(doubled, fetched);
  DEMO_CHECK(aclrtSynchronizeStream(work));
  DEMO_CHECK(aclrtSynchronizeStream(copies));
  aclshmem_barrier_all();  // every source may be filled again

  DEMO_CHECK(aclrtMemcpy(host.data(), kBytes, doubled, kBytes, ACL_MEMCPY_DEVICE_TO_HOST));
  const int next = (arguments.pe_id + 1) % arguments.n_pes;
  for (uint32_t i = 0; i < kElements && *correct; ++i) {
    if (host[i] == 2 * value_of(next, round, i)) continue;
    std::fprintf(stderr, "round %d, element %u: got %d, wanted %d\n", round, i, host[i],
                 2 * value_of(next, round, i));
    *correct = false;
  }
  return true;
}

bool run(const demo::Arguments& arguments) {
  aclrtStream copies = nullptr;
  aclrtStream work = nullptr;
  if (!demo::start(arguments, &copies, ACLSHMEM_DATA_OP_MTE | ACLSHMEM_DATA_OP_SDMA)) return false;
  DEMO_CHECK(aclrtCreateStream(&work));
  auto* memory = demo::symmetric_of<int32_t>(3 * kElements);
  if (memory == nullptr) return false;
  bool correct = true;
  for (int round = 0; round < kRounds; ++round) {
    if (!run_round(arguments, round, memory, copies, work, &correct)) return false;
  }
  aclshmem_free(memory);
  DEMO_CHECK(aclrtDestroyStream(work));
  return demo::finish(arguments, copies) && correct;
}

}  // namespace

int main(int argc, char** argv) { return demo::main_of(argc, argv, run); }
