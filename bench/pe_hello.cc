/* The least that a SHMEM program does, for bench/pe_cost.py: the same source for ours, and as C for
   OpenSHMEM of others (PE_HELLO_OSHMEM) and MPI (PE_HELLO_MPI). With the argument "cost" every
   process prints what it costs, while all of them live. */
#include <string.h>

#include "pe_self.h"

#if defined(PE_HELLO_MPI)
#include <mpi.h>
static int start(int* argc, char*** argv) { return MPI_Init(argc, argv); }
static void meet(void) { MPI_Barrier(MPI_COMM_WORLD); }
static void stop(void) { MPI_Finalize(); }
#elif defined(PE_HELLO_OSHMEM)
#include <shmem.h>
static int start(int* argc, char*** argv) {
  (void)argc;
  (void)argv;
  shmem_init();
  return 0;
}
static void meet(void) { shmem_barrier_all(); }
static void stop(void) { shmem_finalize(); }
#else
#include "shmem.h"
static int start(int* argc, char*** argv) {
  (void)argc;
  (void)argv;
  return aclshmemx_init_attr(nullptr, 0, nullptr);
}
static void meet(void) { aclshmem_barrier_all(); }
static void stop(void) { aclshmem_finalize(); }
#endif

int main(int argc, char** argv) {
  const int cost = argc > 1 && strcmp(argv[1], "cost") == 0;
  if (start(&argc, &argv) != 0) return 1;
  meet();
  if (cost) {
    print_cost_of_this_process();
    meet();
  }
  stop();
  return 0;
}
