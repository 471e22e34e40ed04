// What a kernel that traps leaves behind over a real instance: the error that the stream returns,
// and the sticky error of the instance. usage: kernel_traps n_pes pe ip_port
#include <acl/acl.h>
#include <shmem.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "program.h"

extern "C" __global__ __aicore__ void put_nothing(GM_ADDR target, int pe) {
  if ASCEND_IS_AIV {
    aclshmem_putmem(target, nullptr, 64, pe);
  }
}

ACLSHMEM_GLOBAL_VECTOR void put_nowhere(GM_ADDR target, int pe) {
  aclshmem_putmem(target, target, 64, pe);
}

namespace {

bool contains(const char* text, const char* part) {
  return text != nullptr && std::strstr(text, part) != nullptr;
}

void expect_error(aclrtStream stream, const char* kernel, const char* fault) {
  CHECK(aclrtSynchronizeStream(stream) == ACL_ERROR_INTERNAL_ERROR);
  CHECK(contains(aclGetRecentErrMsg(), kernel));
  CHECK(contains(aclGetRecentErrMsg(), fault));
  char text[512] = {};
  CHECK(aclshmemx_last_error(text, sizeof text, true) != 0);
  CHECK(contains(text, kernel));
  CHECK(contains(text, "block"));
  CHECK(contains(text, fault));
  CHECK(aclshmemx_last_error(text, sizeof text, false) == 0);
  CHECK(aclrtSynchronizeStream(stream) == ACL_SUCCESS);
}

int run(int n_pes, int pe, const char* address) {
  aclrtStream stream = nullptr;
  CHECK(aclInit(nullptr) == 0);
  CHECK(aclrtSetDevice(pe) == 0);
  CHECK(aclrtCreateStream(&stream) == 0);
  aclshmemx_init_attr_t attributes;
  attributes.my_pe = pe;
  attributes.n_pes = n_pes;
  attributes.local_mem_size = 16UL << 20;
  std::strncpy(attributes.ip_port, address, sizeof attributes.ip_port - 1);
  if (aclshmemx_init_attr(ACLSHMEMX_INIT_WITH_DEFAULT, &attributes) != 0) return 1;

  auto* target = static_cast<uint8_t*>(aclshmem_malloc(64));
  put_nothing<<<2, nullptr, stream>>>(target, (pe + 1) % n_pes);
  expect_error(stream, "kernel put_nothing", "the source is");
  put_nowhere<<<3, nullptr, stream>>>(target, n_pes);
  expect_error(stream, "kernel put_nowhere", "there is no PE");
  // The device goes on working.
  put_nowhere<<<3, nullptr, stream>>>(target, (pe + 1) % n_pes);
  CHECK(aclrtSynchronizeStream(stream) == ACL_SUCCESS);

  aclshmem_free(target);
  CHECK(aclshmem_finalize() == 0);
  CHECK(aclrtDestroyStream(stream) == 0);
  CHECK(aclrtResetDevice(pe) == 0);
  CHECK(aclFinalize() == 0);
  return 0;
}

}  // namespace

int main(int argc, char** argv) { return run_pe(argc, argv, run); }
