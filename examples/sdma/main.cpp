// An allgather by the asynchronous copy engine: every core pushes its part of the own slice to all
// PEs, then pulls it back from them, while it computes. Pointer and tensor forms.
#include "../utils/demo.h"

namespace {

constexpr uint32_t kElements = 48 * 1024;  // int32 per PE
constexpr uint32_t kBlocks = 4;
constexpr uint32_t kPart = kElements / kBlocks;

int32_t value_of(int pe, uint32_t i) { return pe * 1000003 + static_cast<int32_t>(i); }

}  // namespace

// gathered[p] = own of PE p, on all PEs. work[block] counts what the core did meanwhile.
ACLSHMEM_GLOBAL_VECTOR void gather_by_puts(__gm__ int32_t* gathered, __gm__ int32_t* own,
                                           __gm__ int64_t* work) {
  __ubuf__ int32_t* scratch = reinterpret_cast<__ubuf__ int32_t*>(uint64_t(1024));
  const int64_t block = AscendC::GetBlockIdx();
  const int me = aclshmem_my_pe();
  __gm__ int32_t* source = own + block * kPart;
  __gm__ int32_t* target = gathered + me * kElements + block * kPart;
  for (int pe = 0; pe < aclshmem_n_pes(); ++pe) {
    aclshmemx_sdma_put_nbi(target, source, scratch, 64, kPart, pe, EVENT_ID0);
  }
  // The copies run beside this loop; own may be read but not written before the quiet.
  int64_t sum = 0;
  for (uint32_t i = 0; i < kPart; ++i) sum += source[i];
  work[block] = sum;
  aclshmemx_sdma_quiet(scratch, 64, EVENT_ID0);  // every core waits for its own requests
  aclshmem_barrier_all();
}

// The same by reading, with tensors.
ACLSHMEM_GLOBAL_VECTOR void gather_by_gets(GM_ADDR gathered, GM_ADDR own) {
  AscendC::TPipe pipe;
  AscendC::TBuf<AscendC::TPosition::VECCALC> buffer;
  pipe.InitBuffer(buffer, 64);
  AscendC::LocalTensor<int32_t> scratch = buffer.Get<int32_t>();
  const int64_t block = AscendC::GetBlockIdx();
  AscendC::GlobalTensor<int32_t> source;
  AscendC::GlobalTensor<int32_t> target;
  source.SetGlobalBuffer(reinterpret_cast<__gm__ int32_t*>(own) + block * kPart, kPart);
  for (int pe = 0; pe < aclshmem_n_pes(); ++pe) {
    target.SetGlobalBuffer(
        reinterpret_cast<__gm__ int32_t*>(gathered) + pe * kElements + block * kPart, kPart);
    aclshmemx_sdma_get_nbi(target, source, scratch, kPart, pe, EVENT_ID0);
  }
  aclshmemx_sdma_quiet(scratch, EVENT_ID0);
  aclshmem_barrier_all();  // nobody frees what others still read
}

namespace {

bool check(const demo::Arguments& arguments, const char* how, int32_t* gathered) {
  std::vector<int32_t> host(static_cast<size_t>(arguments.n_pes) * kElements);
  const size_t bytes = host.size() * sizeof(int32_t);
  DEMO_CHECK(aclrtMemcpy(host.data(), bytes, gathered, bytes, ACL_MEMCPY_DEVICE_TO_HOST));
  for (size_t i = 0; i < host.size(); ++i) {
    const int pe = static_cast<int>(i / kElements);
    const int32_t wanted = value_of(pe, static_cast<uint32_t>(i % kElements));
    if (host[i] == wanted) continue;
    std::fprintf(stderr, "%s: element %zu of PE %d: got %d, wanted %d\n", how, i % kElements, pe,
                 host[i], wanted);
    return false;
  }
  return true;
}

bool run(const demo::Arguments& arguments) {
  aclrtStream stream = nullptr;
  if (!demo::start(arguments, &stream, ACLSHMEM_DATA_OP_MTE | ACLSHMEM_DATA_OP_SDMA)) return false;
  const auto all = static_cast<uint64_t>(arguments.n_pes) * kElements;
  auto* own = demo::symmetric_of<int32_t>(kElements);
  auto* put = demo::symmetric_of<int32_t>(all);
  auto* got = demo::symmetric_of<int32_t>(all);
  auto* work = demo::symmetric_of<int64_t>(kBlocks);
  if (own == nullptr || put == nullptr || got == nullptr || work == nullptr) return false;
  std::vector<int32_t> values(kElements);
  int64_t sum = 0;
  for (uint32_t i = 0; i < kElements; ++i) sum += values[i] = value_of(arguments.pe_id, i);
  constexpr size_t kBytes = kElements * sizeof(int32_t);
  DEMO_CHECK(aclrtMemcpy(own, kBytes, values.data(), kBytes, ACL_MEMCPY_HOST_TO_DEVICE));
  aclshmem_barrier_all();

  gather_by_puts<<<kBlocks, nullptr, stream>>>(put, own, work);
  gather_by_gets<<<kBlocks, nullptr, stream>>>(reinterpret_cast<uint8_t*>(got),
                                               reinterpret_cast<uint8_t*>(own));
  DEMO_CHECK(aclrtSynchronizeStream(stream));
  int64_t parts[kBlocks];
  DEMO_CHECK(aclrtMemcpy(parts, sizeof parts, work, sizeof parts, ACL_MEMCPY_DEVICE_TO_HOST));
  for (int64_t part : parts) sum -= part;
  if (sum != 0) std::fprintf(stderr, "the sum of the own slice is wrong\n");
  const bool good = check(arguments, "puts", put) && check(arguments, "gets", got) && sum == 0;
  for (void* memory : {static_cast<void*>(work), static_cast<void*>(got), static_cast<void*>(put),
                       static_cast<void*>(own)}) {
    aclshmem_free(memory);
  }
  return demo::finish(arguments, stream) && good;
}

}  // namespace

int main(int argc, char** argv) { return demo::main_of(argc, argv, run); }
