// start_plain WAY: a SHMEM program that is linked to no MPI. Ways: article (no attributes at all),
// null (not even the struct), twice (two jobs one after the other), mpi (ACLSHMEMX_INIT_WITH_MPI),
// exit (PE 1 ends the job with code 9).
#include <unistd.h>

#include <cstring>

#include "start_program.h"

using start_program::expect;

namespace {

int start(const char* way) {
  aclshmemx_init_attr_t attributes;
  if (std::strcmp(way, "null") == 0) return aclshmemx_init_attr(nullptr, 0, nullptr);
  attributes.local_mem_size = 2UL << 20;
  if (std::strcmp(way, "mpi") == 0) {
    return aclshmemx_init_attr(ACLSHMEMX_INIT_WITH_MPI, &attributes);
  }
  return aclshmemx_init_attr(&attributes, 0, nullptr);
}

int run(const char* way) {
  const int code = start(way);
  if (code != 0) {
    std::printf("init: %d\n", code);
    return 10;
  }
  start_program::work();
  start_program::info();
  if (std::strcmp(way, "exit") == 0) {
    if (aclshmem_my_pe() == 1) aclshmem_global_exit(9);
    for (;;) ::pause();  // until PE 1 ends the job
  }
  expect(aclshmem_finalize() == 0, "finalize");
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) return 2;
  int code = run(argv[1]);
  if (code == 0 && std::strcmp(argv[1], "twice") == 0) code = run(argv[1]);
  return code != 0 ? code : start_program::finish();
}
