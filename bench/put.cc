// Large puts and gets beside memcpy into the same mapping, measured in the same run, and barriers.
// PEs are processes forked here. Small ones: bench_small.
//   bench_put                  all tables
//   bench_put --quick          few repetitions, for use as a test
//   bench_put --puts N         one PE that makes N puts of 8 bytes to itself and nothing else
//   around them, for callgrind:
//                              valgrind --tool=callgrind --toggle-collect=aclshmem_putmem bench_put
//                              --puts 1000
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

#include "bench/job.h"
#include "bench/raw.h"

namespace {

using namespace bench;

bool g_quick = false;

void bandwidth() {
  const size_t largest = g_quick ? 1 << 20 : 64 << 20;
  auto* block = static_cast<char*>(aclshmem_malloc(largest));
  auto* remote = static_cast<char*>(aclshmem_ptr(block, 1));
  std::vector<char> local(largest, 1);
  std::memset(remote, 0, largest);
  std::printf(
      "bandwidth in GB/s; put and get beside the best copy into and out of the same mapping\n"
      "(memcpy or stores past the caches)\n");
  std::printf("  %10s %9s %9s %6s %9s %9s %6s\n", "bytes", "best", "put", "ratio", "best", "get",
              "ratio");
  for (size_t size = 64 << 10; size <= largest; size *= 4) {
    const int calls = static_cast<int>(std::max<size_t>(1, (g_quick ? 4 : 256) * (1 << 20) / size));
    std::vector<double> times[6];
    for (int repetition = 0; repetition < (g_quick ? 3 : 15); ++repetition) {
      auto run = [&](std::vector<double>& into, auto copy) {
        auto start = Clock::now();
        for (int i = 0; i < calls; ++i) copy();
        into.push_back(static_cast<double>(size) * calls / seconds_since(start) / 1e9);
      };
      run(times[0], [&] {
        std::memcpy(remote, local.data(), size);
        asm volatile("" ::: "memory");
      });
      run(times[4], [&] { raw_streamed_copy(remote, local.data(), size); });
      run(times[1], [&] { aclshmem_putmem(block, local.data(), size, 1); });
      run(times[2], [&] {
        std::memcpy(local.data(), remote, size);
        asm volatile("" ::: "memory");
      });
      run(times[5], [&] { raw_streamed_copy(local.data(), remote, size); });
      run(times[3], [&] { aclshmem_getmem(local.data(), block, size, 1); });
    }
    double rates[6];
    for (int i = 0; i < 6; ++i) rates[i] = median(times[i]);
    rates[0] = std::max(rates[0], rates[4]);
    rates[2] = std::max(rates[2], rates[5]);
    std::printf("  %10zu %9.2f %9.2f %6.2f %9.2f %9.2f %6.2f\n", size, rates[0], rates[1],
                rates[1] / rates[0], rates[2], rates[3], rates[3] / rates[2]);
  }
}

void barriers(int pe) {
  const int rounds = g_quick ? 200 : 5000;
  for (int i = 0; i < rounds / 10; ++i) aclshmem_barrier_all();
  std::vector<double> times;
  for (int i = 0; i < rounds; ++i) {
    auto start = Clock::now();
    aclshmem_barrier_all();
    times.push_back(seconds_since(start) * 1e6);
  }
  std::sort(times.begin(), times.end());
  if (pe != 0) return;
  std::printf("  %2d PEs: median %8.2f us, 99th percentile %9.2f us\n", aclshmem_n_pes(),
              times[times.size() / 2], times[times.size() * 99 / 100]);
}

int count_puts(int puts) {
  Port port = bind_port();
  init(0, 1, port, 2 << 20);
  auto* word = static_cast<int64_t*>(aclshmem_malloc(8));
  int64_t value = 7;
  for (int i = 0; i < puts; ++i) aclshmem_putmem(word, &value, 8, 0);
  std::printf("%d puts of 8 bytes\n", puts);
  return aclshmem_finalize();
}

}  // namespace

int main(int argc, char** argv) {
  if (argc == 3 && std::strcmp(argv[1], "--puts") == 0) return count_puts(std::atoi(argv[2]));
  g_quick = argc == 2 && std::strcmp(argv[1], "--quick") == 0;
  if (argc > 1 && !g_quick) {
    std::fprintf(stderr, "usage: %s [--quick | --puts N]\n", argv[0]);
    return 2;
  }
  bool ok = run_job(2, 128 << 20, [](int pe) {
    if (pe == 0) {
      bandwidth();
    } else {
      // The same allocations as PE 0.
      aclshmem_malloc(g_quick ? 1 << 20 : 64 << 20);
    }
  });
  std::printf("barrier of all PEs\n");
  for (int n_pes : {2, 4, 8}) ok = run_job(n_pes, 2 << 20, barriers) && ok;
  return ok ? 0 : 1;
}
