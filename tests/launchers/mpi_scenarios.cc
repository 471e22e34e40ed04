// mpi_scenarios PLUGIN SCENARIO: uses of the MPI plug-in in a program that uses MPI itself.
#define OMPI_SKIP_MPICXX 1
#define MPICH_SKIP_MPICXX 1
#include <mpi.h>
#include <unistd.h>

#include <functional>
#include <map>
#include <thread>

#include "plugin_harness.h"

namespace {

using harness::expect;
using harness::Handle;

constexpr int kDone = 5;

const symm_bootstrap_table* table;

int rank_of(MPI_Comm comm) {
  int rank = 0;
  MPI_Comm_rank(comm, &rank);
  return rank;
}

int size_of(MPI_Comm comm) {
  int size = 0;
  MPI_Comm_size(comm, &size);
  return size;
}

bool finalized() {
  int flag = 0;
  MPI_Finalized(&flag);
  return flag != 0;
}

Handle open_on(MPI_Comm* comm) {
  symm_bootstrap_config config = harness::unset_config();
  config.comm_args = comm;
  Handle one;
  one.open(table, config);
  expect(one.code == 0, one.error);
  return one;
}

void use(MPI_Comm* comm, int pe, int n_pes) {
  Handle one = open_on(comm);
  if (one.code != 0) return;
  expect(one.pe == pe && one.n_pes == n_pes, "rank and size of the communicator win");
  harness::exercise(one);
  table->close(one.handle);
}

// Any communicator, also one with its ranks in another order; MPI stays up since it is not ours.
int communicators() {
  MPI_Init(nullptr, nullptr);
  MPI_Comm world = MPI_COMM_WORLD;
  int rank = rank_of(world);
  int size = size_of(world);
  use(nullptr, rank, size);
  use(&world, rank, size);
  MPI_Comm self = MPI_COMM_SELF;
  use(&self, 0, 1);
  MPI_Comm reversed;
  MPI_Comm_split(world, 0, -rank, &reversed);
  use(&reversed, size - 1 - rank, size);
  MPI_Comm half;
  MPI_Comm_split(world, rank % 2, rank, &half);
  use(&half, rank_of(half), size_of(half));
  expect(!finalized(), "MPI is left up when the program started it");
  MPI_Finalize();
  return harness::finish();
}

// The plug-in starts MPI and ends it; after that it says why it cannot start again.
int started_by_us() {
  Handle one = open_on(nullptr);
  if (one.code != 0) return 1;
  harness::exercise(one);
  Handle two = open_on(nullptr);
  table->close(one.handle);
  expect(!finalized(), "MPI is up as long as one handle is open");
  harness::exercise(two);
  table->close(two.handle);
  expect(finalized(), "MPI is finalized with the last handle when we started it");
  Handle three;
  three.open(table, harness::unset_config());
  expect(three.code != 0, "MPI cannot start twice");
  expect(std::strstr(three.error, "already finalized") != nullptr, three.error);
  return harness::finish();
}

int attributes(bool equal) {
  MPI_Init(nullptr, nullptr);
  int rank = rank_of(MPI_COMM_WORLD);
  symm_bootstrap_config config = harness::unset_config();
  config.pe = !equal && rank == 1 ? 0 : rank;
  config.n_pes = size_of(MPI_COMM_WORLD);
  Handle one;
  one.open(table, config);
  if (!equal) {
    one.pe = rank;
    one.print_error("open");
    expect(one.code == -1, "B6: every PE gets the error");
  } else {
    expect(one.code == 0, one.error);
    if (one.code == 0) table->close(one.handle);
  }
  // The communicator is still good.
  use(nullptr, rank, size_of(MPI_COMM_WORLD));
  MPI_Finalize();
  return harness::finish();
}

void tell_last() {
  int size = size_of(MPI_COMM_WORLD);
  MPI_Send(nullptr, 0, MPI_BYTE, size - 1, kDone, MPI_COMM_WORLD);
}

void hear_all() {
  int size = size_of(MPI_COMM_WORLD);
  for (int peer = 0; peer < size - 1; ++peer) {
    MPI_Recv(nullptr, 0, MPI_BYTE, peer, kDone, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  }
}

// The last rank comes only when the time of the others is over.
int absent_at_open() {
  MPI_Init(nullptr, nullptr);
  int rank = rank_of(MPI_COMM_WORLD);
  bool late = rank == size_of(MPI_COMM_WORLD) - 1;
  if (late) hear_all();
  symm_bootstrap_config config = harness::unset_config();
  config.connect_timeout_s = late ? 60 : 1;
  Handle one;
  one.open(table, config);
  one.pe = rank;
  one.print_error("open");
  expect(one.code == -3, "the time is over on every PE");
  Handle again;
  again.open(table, harness::unset_config());
  expect(std::strstr(again.error, "start the job again") != nullptr, again.error);
  int code = harness::finish();
  if (!late) tell_last();
  if (late) MPI_Abort(MPI_COMM_WORLD, code == 0 ? 42 : 1);
  for (;;) ::pause();  // the late one ends the job
}

int absent_at_barrier() {
  MPI_Init(nullptr, nullptr);
  int rank = rank_of(MPI_COMM_WORLD);
  bool late = rank == size_of(MPI_COMM_WORLD) - 1;
  symm_bootstrap_config config = harness::unset_config();
  config.operation_timeout_s = late ? 60 : 1;
  Handle one;
  one.open(table, config);
  expect(one.code == 0, one.error);
  if (late) hear_all();
  expect(!one.barrier("map peers"), "the barrier fails on every PE");
  one.print_error("barrier");
  expect(!one.barrier("next"), "and so does the next");
  expect(std::strstr(one.error, "earlier step failed") != nullptr, one.error);
  table->close(one.handle);
  int code = harness::finish();
  if (!late) tell_last();
  if (late) MPI_Abort(MPI_COMM_WORLD, code == 0 ? 42 : 1);
  for (;;) ::pause();  // the late one ends the job
}

int mismatch() {
  MPI_Init(nullptr, nullptr);
  Handle one = open_on(nullptr);
  int mine = 0;
  int all[64];
  bool good = one.pe == 1 ? one.barrier("free") : one.allgather(&mine, 4, all, "malloc");
  expect(!good, "a mismatch fails");
  one.print_error("step");
  good = one.allgather(all, one.pe == 0 ? 4 : 8, all + 1, "sizes");
  expect(!good, "different sizes fail");
  one.print_error("sizes");
  harness::exercise(one);
  table->close(one.handle);
  MPI_Finalize();
  return harness::finish();
}

int exit_all() {
  Handle one = open_on(nullptr);
  if (one.pe == 1) table->global_exit(one.handle, 7, one.error, sizeof(one.error));
  one.barrier("never complete");
  for (;;) ::pause();
}

// One handle a thread, all at the same time.
int threads() {
  int level = 0;
  MPI_Init_thread(nullptr, nullptr, MPI_THREAD_MULTIPLE, &level);
  expect(level == MPI_THREAD_MULTIPLE, "this MPI offers MPI_THREAD_MULTIPLE");
  MPI_Comm comms[3];
  Handle handles[3];
  for (int i = 0; i < 3; ++i) {
    MPI_Comm_dup(MPI_COMM_WORLD, &comms[i]);
    handles[i] = open_on(&comms[i]);
  }
  std::vector<std::thread> workers;
  for (Handle& one : handles) {
    workers.emplace_back([&one] { harness::exercise(one); });
  }
  for (std::thread& worker : workers) worker.join();
  for (int i = 2; i >= 0; --i) table->close(handles[i].handle);
  MPI_Finalize();
  return harness::finish();
}

int single_thread() {
  int level = 0;
  MPI_Init_thread(nullptr, nullptr, MPI_THREAD_FUNNELED, &level);
  Handle one = open_on(nullptr);
  harness::exercise(one);
  std::thread([&one, level] {
    bool good = one.barrier("from a thread");
    expect(good == (level >= MPI_THREAD_SERIALIZED), "only the main thread may call");
    if (!good) one.print_error("thread");
  }).join();
  MPI_Barrier(MPI_COMM_WORLD);
  expect(one.barrier("main thread"), one.error);
  table->close(one.handle);
  MPI_Finalize();
  return harness::finish();
}

int many() {
  MPI_Init(nullptr, nullptr);
  for (int round = 0; round < 100; ++round) {
    Handle one = open_on(nullptr);
    if (one.code != 0) return 1;
    expect(one.barrier("one"), one.error);
    table->close(one.handle);
  }
  MPI_Finalize();
  return harness::finish();
}

// L8: MPI ends while we are open; we go on over the config store.
int mpi_ends_first() {
  MPI_Init(nullptr, nullptr);
  int rank = rank_of(MPI_COMM_WORLD);
  Handle one = open_on(nullptr);
  Handle two = open_on(nullptr);
  harness::exercise(one);
  MPI_Finalize();
  expect(one.pe == rank, "numbers stay");
  harness::exercise(one);
  harness::exercise(two);
  table->close(two.handle);
  table->close(one.handle);
  return harness::finish();
}

int null_communicator() {
  MPI_Init(nullptr, nullptr);
  MPI_Comm null = MPI_COMM_NULL;
  symm_bootstrap_config config = harness::unset_config();
  config.comm_args = &null;
  Handle one;
  one.open(table, config);
  expect(one.code == -1, "MPI_COMM_NULL is refused");
  expect(std::strstr(one.error, "MPI_COMM_NULL") != nullptr, one.error);
  MPI_Finalize();
  return harness::finish();
}

}  // namespace

int main(int argc, char** argv) {
  const std::map<std::string, std::function<int()>> scenarios = {
      {"communicators", communicators},
      {"started-by-us", started_by_us},
      {"equal-attributes", [] { return attributes(true); }},
      {"wrong-attributes", [] { return attributes(false); }},
      {"absent-at-open", absent_at_open},
      {"absent-at-barrier", absent_at_barrier},
      {"mismatch", mismatch},
      {"exit-all", exit_all},
      {"threads", threads},
      {"single-thread", single_thread},
      {"many", many},
      {"mpi-ends-first", mpi_ends_first},
      {"null-communicator", null_communicator},
  };
  if (argc != 3 || !scenarios.contains(argv[2])) return 2;
  table = harness::load(argv[1]);
  if (table == nullptr) return 1;
  return scenarios.at(argv[2])();
}
