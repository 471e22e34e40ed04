// A program as users write it: kernels and host code in one file, one process per PE. Checks the
// engines, signals, atomics, notifies and profiles of the kernel side over a real instance. usage:
// kernel_program n_pes pe ip_port
#include <acl/acl.h>
#include <kernel_operator.h>
#include <shmem.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

#include "utils/prof/shmemi_prof.h"

#include "program.h"

namespace {

constexpr int kElements = 1000;
constexpr int kBlocks = 3;

// What the kernels of one PE work on; offsets in elements of the symmetric buffer.
struct Layout {
  int32_t* source;
  int32_t* roce;
  int32_t* sdma;
  int32_t* udma;
  int32_t* mte;
  int32_t* sum;
  int32_t* signal;
};

}  // namespace

#define TRANSFER_KERNEL(NAME, PUT, QUIET)                                                          \
  extern "C" ACLSHMEM_GLOBAL_VECTOR void transfer_##NAME(__gm__ int32_t* target,                   \
                                                         __gm__ int32_t* source, int n) {          \
    util_set_ffts_config(util_get_ffts_config());                                                  \
    __ubuf__ int32_t* buf = reinterpret_cast<__ubuf__ int32_t*>(uint64_t(1024));                   \
    const int64_t share = n / AscendC::GetBlockNum();                                              \
    const int64_t from = share * AscendC::GetBlockIdx();                                           \
    const int64_t count = AscendC::GetBlockIdx() + 1 == AscendC::GetBlockNum() ? n - from : share; \
    const int pe = (aclshmem_my_pe() + 1) % aclshmem_n_pes();                                      \
    SHMEMI_PROF_START(3);                                                                          \
    PUT;                                                                                           \
    QUIET;                                                                                         \
    SHMEMI_PROF_END(3);                                                                            \
    aclshmemx_barrier_all_vec();                                                                   \
  }
TRANSFER_KERNEL(roce, aclshmemx_roce_put_nbi(target + from, source + from, buf, count, pe),
                aclshmemx_roce_quiet(pe, buf, 0))
TRANSFER_KERNEL(sdma,
                aclshmemx_sdma_put_nbi(target + from, source + from, buf, 64, count, pe, EVENT_ID0),
                aclshmemx_sdma_quiet(buf, 64, EVENT_ID0))
TRANSFER_KERNEL(udma, aclshmemx_udma_put_nbi<int32_t>(target + from, source + from, buf, count, pe),
                aclshmemx_udma_quiet(pe))
TRANSFER_KERNEL(mte,
                aclshmemx_mte_put_nbi(target + from, source + from, buf, 1024, count, pe,
                                      EVENT_ID0),
                aclshmemx_mte_quiet())

// A mix kernel: two vector cores per block, each adds 1 to every PE and records its notify.
extern "C" __global__ __aicore__ void add_and_notify(GM_ADDR sum) {
  if ASCEND_IS_AIV {
    for (int pe = 0; pe < aclshmem_n_pes(); ++pe) {
      aclshmemx_roce_atomic_add(reinterpret_cast<__gm__ int32_t*>(sum), 1, pe);
      aclshmem_int32_atomic_add(reinterpret_cast<__gm__ int32_t*>(sum), 10, pe);
    }
    aclshmem_barrier_all();
    __ubuf__ uint8_t* buf = reinterpret_cast<__ubuf__ uint8_t*>(uint64_t(0));
    aclshmemx_sdma_notify_record(buf, 64, EVENT_ID0);
  }
}

// A ring of signals, each step behind a put.
ACLSHMEM_GLOBAL_VECTOR void ring(__gm__ int32_t* data, __gm__ int32_t* signal, int rounds) {
  const int me = aclshmem_my_pe();
  const int next = (me + 1) % aclshmem_n_pes();
  for (int round = 1; round <= rounds; ++round) {
    aclshmem_int32_p(data + round % 2, round * 100 + me, next);
    aclshmemx_signal_op(signal, round, ACLSHMEM_SIGNAL_SET, next);
    aclshmem_signal_wait_until(signal, ACLSHMEM_CMP_GE, round);
    aclshmem_barrier_all();
  }
}

namespace {

int run(int n_pes, int pe, const char* address) {
  aclrtStream stream = nullptr;
  aclrtStream other = nullptr;
  CHECK(aclInit(nullptr) == 0);
  CHECK(aclrtSetDevice(pe) == 0);
  CHECK(aclrtCreateStream(&stream) == 0);
  CHECK(aclrtCreateStream(&other) == 0);
  aclshmemx_init_attr_t attributes;
  attributes.my_pe = pe;
  attributes.n_pes = n_pes;
  attributes.local_mem_size = 16UL << 20;
  std::strncpy(attributes.ip_port, address, sizeof attributes.ip_port - 1);
  attributes.option_attr.data_op_engine_type = static_cast<data_op_engine_type_t>(0x0F);
  if (aclshmemx_init_attr(ACLSHMEMX_INIT_WITH_DEFAULT, &attributes) != 0) return 1;
  CHECK(aclshmem_my_pe() == pe);  // the host function, in a file with kernels
  CHECK(aclshmem_n_pes() == n_pes);

  auto* buffer = static_cast<int32_t*>(aclshmem_calloc(8 * kElements, sizeof(int32_t)));
  CHECK(buffer != nullptr);
  const Layout at{buffer,
                  buffer + kElements,
                  buffer + 2 * kElements,
                  buffer + 3 * kElements,
                  buffer + 4 * kElements,
                  buffer + 5 * kElements,
                  buffer + 6 * kElements};
  for (int i = 0; i < kElements; ++i) at.source[i] = pe * 10000 + i;
  aclshmem_barrier_all();
  transfer_roce<<<kBlocks, nullptr, stream>>>(at.roce, at.source, kElements);
  transfer_sdma<<<kBlocks, nullptr, stream>>>(at.sdma, at.source, kElements);
  transfer_udma<<<kBlocks, nullptr, stream>>>(at.udma, at.source, kElements);
  transfer_mte<<<kBlocks, nullptr, stream>>>(at.mte, at.source, kElements);
  CHECK(aclrtSynchronizeStream(stream) == 0);
  const int left = (pe + n_pes - 1) % n_pes;
  for (int i = 0; i < kElements; ++i) {
    const int32_t wanted = left * 10000 + i;
    CHECK(at.roce[i] == wanted && at.sdma[i] == wanted && at.udma[i] == wanted &&
          at.mte[i] == wanted);
    if (failures != 0) break;
  }

  add_and_notify<<<kBlocks, nullptr, stream>>>(reinterpret_cast<GM_ADDR>(at.sum));
  for (int core = 0; core < 2 * kBlocks; ++core) {
    CHECK(aclrtWaitAndResetNotify(g_state_host.notify_arr[core], other, 30) == 0);
  }
  CHECK(aclrtSynchronizeStream(other) == 0);
  CHECK(aclrtSynchronizeStream(stream) == 0);
  CHECK(*at.sum == 2 * kBlocks * n_pes * 11);

  ring<<<1, nullptr, stream>>>(at.signal + 64, at.signal, 100);
  CHECK(aclrtSynchronizeStream(stream) == 0);
  CHECK(*at.signal == 100 && at.signal[64] == 100 * 100 + left);

  aclshmem_prof_pe_t* profile = nullptr;
  aclshmemx_get_prof(&profile, pe == 1);
  CHECK((profile != nullptr) == (pe == 1));
  if (profile != nullptr) {
    CHECK(profile->pe_id == 1);
    for (int block = 0; block < kBlocks; ++block) CHECK(profile->block_prof[block].ccount[3] == 4);
    CHECK(profile->block_prof[kBlocks].ccount[3] == 0);
  }
  aclshmem_free(buffer);
  CHECK(aclshmem_finalize() == 0);
  CHECK(aclrtDestroyStream(other) == 0);
  CHECK(aclrtDestroyStream(stream) == 0);
  CHECK(aclrtResetDevice(pe) == 0);
  CHECK(aclFinalize() == 0);
  return 0;
}

}  // namespace

int main(int argc, char** argv) { return run_pe(argc, argv, run); }
