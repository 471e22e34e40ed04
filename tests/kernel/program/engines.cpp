// Engines that init was not asked for, with one process per PE: kernel calls that need one end with
// its name, those of the others work. usage: kernel_engines n_pes pe ip_port
#include <acl/acl.h>
#include <kernel_operator.h>
#include <shmem.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "program.h"

#define PUT_KERNEL(NAME, CALL)                                                                    \
  ACLSHMEM_GLOBAL_VECTOR void NAME([[maybe_unused]] __gm__ int32_t* target,                       \
                                   [[maybe_unused]] __gm__ int32_t* source) {                     \
    [[maybe_unused]] __ubuf__ int32_t* buf = reinterpret_cast<__ubuf__ int32_t*>(uint64_t(1024)); \
    const int pe = (aclshmem_my_pe() + 1) % aclshmem_n_pes();                                     \
    CALL;                                                                                         \
  }
PUT_KERNEL(put_roce, aclshmemx_roce_put_nbi(target, source, buf, 1, pe))
PUT_KERNEL(put_udma, aclshmemx_udma_put_nbi<int32_t>(target, source, buf, 1, pe))
PUT_KERNEL(add_udma, aclshmemx_udma_atomic_add(target, 1, pe))
PUT_KERNEL(put_sdma, aclshmemx_sdma_put_nbi(target, source, buf, 64, 1, pe, EVENT_ID0);
           aclshmemx_sdma_quiet(buf, 64, EVENT_ID0))
PUT_KERNEL(put_any, aclshmem_int32_put(target, source, 1, pe))

namespace {

using Launch = void (*)(aclrtStream stream, int32_t* target, int32_t* source);

// The kernel ends with an error that names the call, the engine and the cure.
void check_refused(aclrtStream stream, int32_t* words, const char* call, const char* engine,
                   Launch launch) {
  launch(stream, words, words + 8);
  CHECK(aclrtSynchronizeStream(stream) != 0);
  const char* text = aclGetRecentErrMsg();
  CHECK(text != nullptr);
  if (text == nullptr) return;
  const bool named = std::strstr(text, call) != nullptr && std::strstr(text, engine) != nullptr &&
                     std::strstr(text, "data_op_engine_type") != nullptr;
  if (!named) std::fprintf(stderr, "the message is: %s\n", text);
  CHECK(named);
}

int run(int n_pes, int pe, const char* address) {
  aclrtStream stream = nullptr;
  CHECK(aclInit(nullptr) == 0);
  CHECK(aclrtSetDevice(pe) == 0);
  CHECK(aclrtCreateStream(&stream) == 0);
  aclshmemx_init_attr_t attributes;
  attributes.my_pe = pe;
  attributes.n_pes = n_pes;
  attributes.local_mem_size = 4UL << 20;
  std::strncpy(attributes.ip_port, address, sizeof attributes.ip_port - 1);
  attributes.option_attr.data_op_engine_type = ACLSHMEM_DATA_OP_MTE;
  if (aclshmemx_init_attr(ACLSHMEMX_INIT_WITH_DEFAULT, &attributes) != 0) return 1;
  auto* words = static_cast<int32_t*>(aclshmem_calloc(16, sizeof(int32_t)));
  CHECK(words != nullptr);
  words[8] = 100 + pe;
  aclshmem_barrier_all();

  check_refused(stream, words, "aclshmemx_roce_put_nbi", "no RDMA engine",
                [](aclrtStream s, int32_t* t, int32_t* f) { put_roce<<<1, nullptr, s>>>(t, f); });
  check_refused(stream, words, "aclshmemx_udma_put_nbi", "no UDMA engine",
                [](aclrtStream s, int32_t* t, int32_t* f) { put_udma<<<1, nullptr, s>>>(t, f); });
  check_refused(stream, words, "aclshmemx_udma_atomic_add", "no UDMA engine",
                [](aclrtStream s, int32_t* t, int32_t* f) { add_udma<<<1, nullptr, s>>>(t, f); });
  aclshmem_barrier_all();
  CHECK(words[0] == 0);

  const int left = (pe + n_pes - 1) % n_pes;
  put_sdma<<<1, nullptr, stream>>>(words + 1, words + 8);
  put_any<<<1, nullptr, stream>>>(words + 2, words + 8);
  CHECK(aclrtSynchronizeStream(stream) == 0);
  aclshmem_barrier_all();
  CHECK(words[1] == 100 + left);
  CHECK(words[2] == 100 + left);

  aclshmem_free(words);
  CHECK(aclshmem_finalize() == 0);
  CHECK(aclrtDestroyStream(stream) == 0);
  CHECK(aclrtResetDevice(pe) == 0);
  CHECK(aclFinalize() == 0);
  return 0;
}

}  // namespace

int main(int argc, char** argv) { return run_pe(argc, argv, run); }
