// C = sum over the PEs of A_p * B_p, on every PE, in two ways: multiply everything and then reduce
// it (serial), or reduce the finished tiles while later ones are multiplied (overlapped). Prints
// the times and how much of the total each PE spent multiplying.
#include <vector>

#include "../utils/demo.h"
#include "multiply.h"

namespace {

constexpr int32_t kTileRows = 20;
constexpr int32_t kTiles = 48;
constexpr int32_t kRows = kTiles * kTileRows;
constexpr int32_t kColumns = 512;
constexpr int32_t kDepth = 2048;  // of this PE's part of A and B
constexpr int32_t kTile = kTileRows * kColumns;
constexpr double kWantedShare = 0.3;

// All pointers are symmetric. The owner of tile t is PE t % n_pes.
struct Job {
  float* a;           // kRows x kDepth
  float* b;           // kDepth x kColumns
  float* partial;     // kRows x kColumns: A * B of this PE
  float* inbox;       // per PE, per own tile: its partial sums
  float* c;           // kRows x kColumns: the result
  uint64_t* arrived;  // per PE and tile: run whose partial sums are in the inbox
  uint64_t* done;     // per tile: run whose result is in c
  double* times_us;   // multiplying, in all
};

}  // namespace

__aicore__ inline float* inbox_of(const Job& job, int pe, int32_t tile, int32_t n) {
  return job.inbox + (pe * ((kTiles + n - 1) / n) + tile / n) * kTile;
}

// Timed by the clock: GetSystemCycle gives way to other cores now and then, which is no work.
__aicore__ inline void multiply_tile(const Job& job, int32_t tile, double* time_us) {
  const double start = demo::now_us();
  multiply(job.partial + tile * kTile, job.a + tile * kTileRows * kDepth, job.b, kTileRows,
           kColumns, kDepth);
  *time_us += demo::now_us() - start;
}

// Queues the partial sums for the owner of the tile, and behind them the signal.
__aicore__ inline void send_partial(const Job& job, int32_t tile, uint64_t run) {
  const int me = aclshmem_my_pe();
  const int n = aclshmem_n_pes();
  if (tile % n == me) return;
  aclshmemx_udma_put_signal_nbi<float>(inbox_of(job, me, tile, n), job.partial + tile * kTile,
                                       kTile, job.arrived + me * kTiles + tile, run, tile % n);
}

// Have the partial sums of all PEs for this own tile arrived?
__aicore__ inline bool is_complete(const Job& job, int32_t tile, uint64_t run) {
  const int me = aclshmem_my_pe();
  for (int pe = 0; pe < aclshmem_n_pes(); ++pe) {
    if (pe == me) continue;
    if (aclshmem_uint64_test(job.arrived + pe * kTiles + tile, ACLSHMEM_CMP_EQ, run) == 0) {
      return false;
    }
  }
  return true;
}

// Sums an own tile in the order of the PEs and queues the result for the others.
__aicore__ inline void reduce_tile(const Job& job, int32_t tile, uint64_t run) {
  const int me = aclshmem_my_pe();
  const int n = aclshmem_n_pes();
  float* sum = job.c + tile * kTile;
  for (int pe = 0; pe < n; ++pe) {
    const float* part = pe == me ? job.partial + tile * kTile : inbox_of(job, pe, tile, n);
    for (int32_t i = 0; i < kTile; ++i) sum[i] = pe == 0 ? part[i] : sum[i] + part[i];
  }
  for (int pe = 0; pe < n; ++pe) {
    if (pe == me) continue;
    aclshmemx_udma_put_signal_nbi<float>(sum, sum, kTile, job.done + tile, run, pe);
  }
}

// Waits for the partial sums of the own tiles from `tile` on, and for the results of the others.
__aicore__ inline void finish(const Job& job, int32_t tile, uint64_t run) {
  const int me = aclshmem_my_pe();
  const int n = aclshmem_n_pes();
  for (; tile < kTiles; tile += n) {
    for (int pe = 0; pe < n; ++pe) {
      if (pe == me) continue;
      aclshmem_uint64_wait_until(job.arrived + pe * kTiles + tile, ACLSHMEM_CMP_EQ, run);
    }
    reduce_tile(job, tile, run);
  }
  for (int32_t t = 0; t < kTiles; ++t) {
    if (t % n != me) aclshmem_uint64_wait_until(job.done + t, ACLSHMEM_CMP_EQ, run);
  }
}

ACLSHMEM_GLOBAL_VECTOR void serial(Job job, uint64_t run) {
  aclshmem_barrier_all();
  const double start = demo::now_us();
  job.times_us[0] = 0;
  for (int32_t tile = 0; tile < kTiles; ++tile) multiply_tile(job, tile, job.times_us);
  for (int32_t tile = 0; tile < kTiles; ++tile) send_partial(job, tile, run);
  finish(job, aclshmem_my_pe(), run);
  job.times_us[1] = demo::now_us() - start;
  aclshmem_barrier_all();  // completes the own puts, and nobody starts the next run earlier
}

ACLSHMEM_GLOBAL_VECTOR void overlapped(Job job, uint64_t run) {
  aclshmem_barrier_all();
  const double start = demo::now_us();
  job.times_us[0] = 0;
  const int me = aclshmem_my_pe();
  const int n = aclshmem_n_pes();
  int32_t next = me;        // own tile that is reduced next
  int32_t multiplied = me;  // own tiles before this one are multiplied
  for (int32_t group = 0; group < kTiles; group += n) {
    for (int step = 1; step <= n; ++step) {  // own tile last: those of others have a way to go
      const int32_t tile = group + (me + step) % n;
      if (tile >= kTiles) continue;
      multiply_tile(job, tile, job.times_us);
      send_partial(job, tile, run);
      if (step == n) multiplied = tile + n;
      while (next < multiplied && is_complete(job, next, run)) {
        reduce_tile(job, next, run);
        next += n;
      }
    }
  }
  finish(job, next, run);
  job.times_us[1] = demo::now_us() - start;
  aclshmem_barrier_all();
}

namespace {

float a_of(int pe, int32_t row, int32_t k) {
  return static_cast<float>((row + 3 * k + pe) % 5 - 2);
}
float b_of(int pe, int32_t k, int32_t column) {
  return static_cast<float>((2 * k + column + pe) % 7 - 3);
}

struct Times {
  double multiply_us;
  double total_us;
  double utilisation() const { return 100 * multiply_us / total_us; }
};

bool allocate(int n_pes, Job* job) {
  const auto n = static_cast<uint64_t>(n_pes);
  constexpr uint64_t kElements = uint64_t{kRows} * kColumns;
  job->a = demo::symmetric_of<float>(uint64_t{kRows} * kDepth);
  job->b = demo::symmetric_of<float>(uint64_t{kDepth} * kColumns);
  job->partial = demo::symmetric_of<float>(kElements);
  job->inbox = demo::symmetric_of<float>(n * ((kTiles + n - 1) / n) * kTile);
  job->c = demo::symmetric_of<float>(kElements);
  job->arrived = demo::symmetric_of<uint64_t>(n * kTiles);
  job->done = demo::symmetric_of<uint64_t>(kTiles);
  job->times_us = demo::symmetric_of<double>(2);
  return job->a != nullptr && job->b != nullptr && job->partial != nullptr &&
         job->inbox != nullptr && job->c != nullptr && job->arrived != nullptr &&
         job->done != nullptr && job->times_us != nullptr;
}

bool fill(int pe, const Job& job) {
  std::vector<float> a(size_t{kRows} * kDepth);
  std::vector<float> b(size_t{kDepth} * kColumns);
  for (int32_t row = 0; row < kRows; ++row) {
    for (int32_t k = 0; k < kDepth; ++k)
      a[static_cast<size_t>(row * kDepth + k)] = a_of(pe, row, k);
  }
  for (int32_t k = 0; k < kDepth; ++k) {
    for (int32_t column = 0; column < kColumns; ++column) {
      b[static_cast<size_t>(k * kColumns + column)] = b_of(pe, k, column);
    }
  }
  const size_t a_bytes = a.size() * sizeof(float);
  const size_t b_bytes = b.size() * sizeof(float);
  DEMO_CHECK(aclrtMemcpy(job.a, a_bytes, a.data(), a_bytes, ACL_MEMCPY_HOST_TO_DEVICE));
  DEMO_CHECK(aclrtMemcpy(job.b, b_bytes, b.data(), b_bytes, ACL_MEMCPY_HOST_TO_DEVICE));
  return true;
}

// Every 61st element against a sum of integers: float is exact here. c is then cleared, so that the
// next run cannot live on the result of this one.
bool check(const demo::Arguments& arguments, const Job& job, const char* how) {
  std::vector<float> c(size_t{kRows} * kColumns);
  const size_t bytes = c.size() * sizeof(float);
  DEMO_CHECK(aclrtMemcpy(c.data(), bytes, job.c, bytes, ACL_MEMCPY_DEVICE_TO_HOST));
  DEMO_CHECK(aclrtMemset(job.c, bytes, 0, bytes));
  for (int32_t i = 0; i < kRows * kColumns; i += 61) {
    float wanted = 0;
    for (int pe = 0; pe < arguments.n_pes; ++pe) {
      for (int32_t k = 0; k < kDepth; ++k) {
        wanted += a_of(pe, i / kColumns, k) * b_of(pe, k, i % kColumns);
      }
    }
    const float got = c[static_cast<size_t>(i)];
    if (got == wanted) continue;
    std::fprintf(stderr, "%s: row %d, column %d: got %g, wanted %g\n", how, i / kColumns,
                 i % kColumns, static_cast<double>(got), static_cast<double>(wanted));
    return false;
  }
  return true;
}

using Launch = void (*)(aclrtStream stream, const Job& job, uint64_t run);

// Runs one way several times; the times are those of the fastest run.
bool measure(const demo::Arguments& arguments, const Job& job, const char* how, Launch launch,
             uint64_t first_run, int runs, aclrtStream stream, Times* times, bool* correct) {
  std::vector<Times> all;
  for (int run = 0; run < runs; ++run) {
    launch(stream, job, first_run + static_cast<uint64_t>(run));
    DEMO_CHECK(aclrtSynchronizeStream(stream));
    double us[2];
    DEMO_CHECK(aclrtMemcpy(us, sizeof us, job.times_us, sizeof us, ACL_MEMCPY_DEVICE_TO_HOST));
    all.push_back({us[0], us[1]});
    *correct = check(arguments, job, how) && *correct;
    aclshmem_barrier_all();  // nobody writes into a c that is being checked
  }
  *times = *std::min_element(all.begin(), all.end(), [](const Times& a, const Times& b) {
    return a.total_us < b.total_us;
  });
  return true;
}

void print(const demo::Arguments& arguments, const Times& one, const Times& two) {
  std::printf(
      "PE %d: serial %.2f ms, utilisation %.1f %%; overlapped %.2f ms, utilisation %.1f %%\n",
      arguments.pe_id, one.total_us / 1000, one.utilisation(), two.total_us / 1000,
      two.utilisation());
  if (arguments.pe_id != 0 || arguments.n_pes == 1) return;
  // What leaves a PE: partial sums of the tiles of others, results of the own ones.
  const double bytes = 2.0 * (arguments.n_pes - 1) / arguments.n_pes * kRows * kColumns * 4;
  const double communication_us = one.multiply_us * kWantedShare / (1 - kWantedShare);
  std::printf("communication takes 30 %% of the serial time with SHMEM_ENGINE_BANDWIDTH=%.0f\n",
              bytes / communication_us * 1e6);
}

bool run(const demo::Arguments& arguments, int runs) {
  aclrtStream stream = nullptr;
  Job job{};
  if (!demo::start(arguments, &stream, ACLSHMEM_DATA_OP_MTE | ACLSHMEM_DATA_OP_UDMA) ||
      !allocate(arguments.n_pes, &job) || !fill(arguments.pe_id, job)) {
    return false;
  }
  Times one{};
  Times two{};
  bool correct = true;
  const Launch launch_serial = [](aclrtStream s, const Job& j, uint64_t r) {
    serial<<<1, nullptr, s>>>(j, r);
  };
  const Launch launch_overlapped = [](aclrtStream s, const Job& j, uint64_t r) {
    overlapped<<<1, nullptr, s>>>(j, r);
  };
  const auto next = static_cast<uint64_t>(runs) + 1;
  if (!measure(arguments, job, "serial", launch_serial, 1, runs, stream, &one, &correct) ||
      !measure(arguments, job, "overlapped", launch_overlapped, next, runs, stream, &two,
               &correct)) {
    return false;
  }
  print(arguments, one, two);
  for (void* memory :
       {static_cast<void*>(job.times_us), static_cast<void*>(job.done),
        static_cast<void*>(job.arrived), static_cast<void*>(job.c), static_cast<void*>(job.inbox),
        static_cast<void*>(job.partial), static_cast<void*>(job.b), static_cast<void*>(job.a)}) {
    aclshmem_free(memory);
  }
  return demo::finish(arguments, stream) && correct;
}

}  // namespace

int main(int argc, char** argv) {
  return demo::main_of(argc, argv, "FUSED_MATMUL_ALLREDUCE_RUNS", run);
}
