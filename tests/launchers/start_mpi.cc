// start_mpi ORDER: a program that uses MPI and SHMEM, with init and finalize in every order.
#define OMPI_SKIP_MPICXX 1
#define MPICH_SKIP_MPICXX 1
#include <mpi.h>

#include <functional>
#include <map>
#include <string>

#include "start_program.h"

namespace {

using start_program::expect;

int world_rank() {
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  return rank;
}

int world_size() {
  int size = 0;
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  return size;
}

bool mpi_finalized() {
  int flag = 0;
  MPI_Finalized(&flag);
  return flag != 0;
}

void mpi_work() {
  int mine = world_rank();
  int sum = -1;
  MPI_Allreduce(&mine, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  expect(sum == world_size() * (world_size() - 1) / 2, "MPI still works");
}

int start(MPI_Comm* comm, int pe = -1, int n_pes = 0) {
  aclshmemx_init_attr_t attributes;
  attributes.local_mem_size = 2UL << 20;
  attributes.comm_args = comm;
  attributes.my_pe = pe;
  attributes.n_pes = n_pes;
  return aclshmemx_init_attr(ACLSHMEMX_INIT_WITH_MPI, &attributes);
}

void start_and_work() {
  expect(start(nullptr) == 0, "init");
  start_program::work();
}

void nested() {
  MPI_Init(nullptr, nullptr);
  start_and_work();
  start_program::info();
  mpi_work();
  expect(aclshmem_finalize() == 0, "finalize");
  mpi_work();
  MPI_Finalize();
}

void mpi_first_out() {
  MPI_Init(nullptr, nullptr);
  start_and_work();
  MPI_Finalize();
  start_program::work();
  expect(aclshmem_finalize() == 0, "finalize after MPI_Finalize");
}

// The SHMEM side starts MPI, and so ends it.
void only_shmem() {
  start_and_work();
  mpi_work();
  expect(aclshmem_finalize() == 0, "finalize");
  expect(mpi_finalized(), "MPI is finalized by the one that started it");
}

// Over the launcher's PMI or PMIx, without MPI mode.
void launcher_start() {
  aclshmemx_init_attr_t attributes;
  attributes.local_mem_size = 2UL << 20;
  expect(aclshmemx_init_attr(&attributes, 0, nullptr) == 0, "init");
  start_program::work();
}

void shmem_outside() {
  launcher_start();
  MPI_Init(nullptr, nullptr);
  mpi_work();
  start_program::work();
  MPI_Finalize();
  start_program::work();
  expect(aclshmem_finalize() == 0, "finalize");
}

void crossed() {
  launcher_start();
  MPI_Init(nullptr, nullptr);
  mpi_work();
  expect(aclshmem_finalize() == 0, "finalize");
  mpi_work();
  MPI_Finalize();
}

void shmem_inside() {
  MPI_Init(nullptr, nullptr);
  launcher_start();
  mpi_work();
  expect(aclshmem_finalize() == 0, "finalize");
  mpi_work();
  MPI_Finalize();
}

void communicators() {
  MPI_Init(nullptr, nullptr);
  MPI_Comm self = MPI_COMM_SELF;
  expect(start(&self) == 0, "init on self");
  expect(aclshmem_n_pes() == 1, "one PE on self");
  start_program::work();
  expect(aclshmem_finalize() == 0, "finalize");
  MPI_Comm reversed;
  MPI_Comm_split(MPI_COMM_WORLD, 0, -world_rank(), &reversed);
  const int wanted = world_size() - 1 - world_rank();
  expect(start(&reversed, wanted, world_size()) == 0, "init on the reversed world");
  expect(aclshmem_my_pe() == wanted, "the rank of the communicator is the PE");
  start_program::work();
  expect(aclshmem_finalize() == 0, "finalize");
  MPI_Finalize();
}

void wrong_attributes() {
  MPI_Init(nullptr, nullptr);
  const bool wrong = world_rank() == 1;
  const int code = start(nullptr, wrong ? 0 : world_rank(), world_size());
  expect(code == ACLSHMEM_INVALID_PARAM, "every PE gets the error");
  expect(aclshmemx_init_status() == 0, "nothing is initialised");
  start_and_work();
  expect(aclshmem_finalize() == 0, "finalize");
  MPI_Finalize();
}

// B6, third case: only this PE could see it, but all are told.
void pe_out_of_range() {
  MPI_Init(nullptr, nullptr);
  const int code = start(nullptr, world_rank() == 1 ? 7 : world_rank(), world_size());
  expect(code == ACLSHMEM_INVALID_PARAM, "every PE gets the error");
  MPI_Finalize();
}

void fifty() {
  MPI_Init(nullptr, nullptr);
  for (int round = 0; round < 50 && start_program::failures == 0; ++round) {
    expect(start(nullptr) == 0, "init");
    expect(aclshmem_finalize() == 0, "finalize");
  }
  MPI_Finalize();
}

}  // namespace

int main(int argc, char** argv) {
  const std::map<std::string, std::function<void()>> orders = {
      {"nested", nested},
      {"mpi-first-out", mpi_first_out},
      {"only-shmem", only_shmem},
      {"shmem-outside", shmem_outside},
      {"crossed", crossed},
      {"shmem-inside", shmem_inside},
      {"communicators", communicators},
      {"wrong-attributes", wrong_attributes},
      {"pe-out-of-range", pe_out_of_range},
      {"fifty", fifty},
  };
  if (argc != 2 || !orders.contains(argv[1])) return 2;
  orders.at(argv[1])();
  return start_program::finish();
}
