// Every PE puts a greeting into the memory of the next one.
#include <acl/acl.h>
#include <shmem.h>

#include <cstdio>
#include <cstdlib>

int main(int argc, char** argv) {
  // run.sh adds the number of devices and the first PE and device; this program needs none of them.
  if (argc != 4 && argc != 7) return std::fprintf(stderr, "usage: hello n_pes pe address\n"), 1;
  aclshmemx_init_attr_t attributes;
  attributes.n_pes = std::atoi(argv[1]);
  attributes.my_pe = std::atoi(argv[2]);
  attributes.local_mem_size = 16 << 20;
  std::snprintf(attributes.ip_port, sizeof(attributes.ip_port), "%s", argv[3]);
  if (aclInit(nullptr) != 0 || aclrtSetDevice(0) != 0) return 1;
  if (aclshmemx_init_attr(ACLSHMEMX_INIT_WITH_DEFAULT, &attributes) != 0) return 1;

  const int me = aclshmem_my_pe();
  const int next = (me + 1) % aclshmem_n_pes();
  char* inbox = static_cast<char*>(aclshmem_calloc(64, 1));  // at the same place on every PE
  char text[64];
  std::snprintf(text, sizeof(text), "greetings from PE %d", me);
  aclshmem_putmem(inbox, text, sizeof(text), next);
  aclshmem_barrier_all();
  std::printf("PE %d got: %s\n", me, inbox);

  aclshmem_free(inbox);
  return aclshmem_finalize() == 0 && aclrtResetDevice(0) == 0 ? aclFinalize() : 1;
}
