// Small operations to a peer on this host beside their limits, measured in turns in the same run:
// the raw access through aclshmem_ptr behind one call into a shared library, and inline. Then Open
// MPI's OpenSHMEM on the same work, when it is installed.
//   bench_small [--quick]
#include <algorithm>
#include <array>
#include <cstdio>
#include <cstring>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "bench/job.h"
#include "bench/raw.h"

namespace {

using namespace bench;

bool g_quick = false;
int64_t value = 0;          // what is put and where gets go
volatile int64_t sink = 0;  // keeps results

struct Row {
  const char* name;   // as in openshmem.c
  const char* limit;  // name of the row that is its limit, or null
  double most;        // of the limit, as the aim says; 0: none
  std::function<void(int)> run;
  std::vector<double> times;
};

constexpr int kWords = 64;

template <typename Body>
std::function<void(int)> calls(Body body) {
  return [body](int count) {
    for (int i = 0; i < count; ++i) body(i & (kWords - 1));
  };
}

void pin(int pe) {
  cpu_set_t set;
  CPU_ZERO(&set);
  CPU_SET(static_cast<size_t>(pe), &set);
  // Fewer processors than PEs: then the scheduler decides.
  if (::sched_setaffinity(0, sizeof(set), &set) != 0) std::perror("sched_setaffinity");
}

std::vector<Row> rows(int64_t* words, int64_t* there) {
  return {
      {"raw store", nullptr, 0, calls([=](int i) { raw_store(there + i, i); }), {}},
      {"put",
       "raw store",
       1.5,
       calls([=](int i) {
         value = i;
         aclshmem_putmem(words + i, &value, 8, 1);
       }),
       {}},
      {"p", "raw store", 1.5, calls([=](int i) { aclshmem_int64_p(words + i, i, 1); }), {}},
      {"raw load", nullptr, 0, calls([=](int i) { sink = raw_load(there + i); }), {}},
      {"get", "raw load", 1.5, calls([=](int i) { aclshmem_getmem(&value, words + i, 8, 1); }), {}},
      {"g", "raw load", 1.5, calls([=](int i) { sink = aclshmem_int64_g(words + i, 1); }), {}},
      {"raw add inline",
       nullptr,
       0,
       calls([=](int i) { __atomic_fetch_add(there + i, 1, __ATOMIC_SEQ_CST); }),
       {}},
      {"raw add", nullptr, 0, calls([=](int i) { raw_add(there + i, i); }), {}},
      {"add",
       "raw add",
       1.2,
       calls([=](int i) { aclshmem_int64_atomic_add(words + i, i, 1); }),
       {}},
      {"inc", "raw add", 1.2, calls([=](int i) { aclshmem_int64_atomic_inc(words + i, 1); }), {}},
      {"raw fetch_add", nullptr, 0, calls([=](int i) { sink = raw_fetch_add(there + i, i); }), {}},
      {"fetch_add",
       "raw fetch_add",
       1.2,
       calls([=](int i) { sink = aclshmem_int64_atomic_fetch_add(words + i, i, 1); }),
       {}},
      {"raw swap", nullptr, 0, calls([=](int i) { sink = raw_swap(there + i, i); }), {}},
      {"swap",
       "raw swap",
       1.2,
       calls([=](int i) { sink = aclshmem_int64_atomic_swap(words + i, i, 1); }),
       {}},
      {"raw compare_swap",
       nullptr,
       0,
       calls([=](int i) { sink = raw_compare_swap(there + i, i, i); }),
       {}},
      {"compare_swap",
       "raw compare_swap",
       1.2,
       calls([=](int i) { sink = aclshmem_int64_atomic_compare_swap(words + i, i, i, 1); }),
       {}},
  };
}

// Rounds over all rows: what disturbs the machine disturbs all of them.
void measure(std::vector<Row>& all) {
  const int count = g_quick ? 10000 : 300000;
  for (int repetition = 0; repetition < (g_quick ? 5 : 21); ++repetition) {
    for (Row& row : all) {
      auto start = Clock::now();
      row.run(count);
      row.times.push_back(seconds_since(start) * 1e9 / count);
    }
  }
}

double time_of(const std::vector<Row>& all, const char* name) {
  for (const Row& row : all) {
    if (std::strcmp(row.name, name) == 0) return median(row.times);
  }
  std::fprintf(stderr, "there is no row %s\n", name);
  std::abort();
}

using Others = std::vector<std::pair<std::string, double>>;

// The table that openshmem.c prints; empty when Open MPI cannot run it.
Others run_openshmem() {
  Others found;
#ifdef BENCH_OPENSHMEM
  // Debian's build crashes in finalize without the exclusion, and refuses root and few processors.
  const std::string command =
      std::string("OMPI_MCA_osc=^rdma timeout 120 " BENCH_OSHRUN
                  " -n 2 --oversubscribe --allow-run-as-root " BENCH_OPENSHMEM) +
      (g_quick ? " 10000" : " 300000") + " 2>/dev/null";
  std::FILE* output = ::popen(command.c_str(), "r");
  if (output == nullptr) return found;
  char name[64];
  double time = 0;
  while (std::fscanf(output, "%63s %lf", name, &time) == 2) found.emplace_back(name, time);
  ::pclose(output);
#endif
  return found;
}

void print(const std::vector<Row>& all, const Others& others) {
  std::printf("8 bytes to a peer on this host   ns per call   x limit   aim   Open MPI   x ours\n");
  for (const Row& row : all) {
    const double time = median(row.times);
    std::printf("  %-28s %13.2f", row.name, time);
    if (row.limit != nullptr) {
      const double ratio = time / time_of(all, row.limit);
      std::printf(" %9.2f %5.1f", ratio, row.most);
      for (const auto& [name, other] : others) {
        if (name == row.name) std::printf(" %10.2f %8.2f", other, other / time);
      }
    }
    std::printf("\n");
  }
}

void message_rate(int64_t* words, int64_t* there, const Others& others) {
  const int count = g_quick ? 20000 : 1000000;
  std::vector<double> raw;
  std::vector<double> ours;
  for (int repetition = 0; repetition < (g_quick ? 5 : 21); ++repetition) {
    auto start = Clock::now();
    for (int i = 0; i < count; ++i) {
      __atomic_store_n(there + (i & (kWords - 1)), value, __ATOMIC_RELAXED);
    }
    __atomic_thread_fence(__ATOMIC_SEQ_CST);
    raw.push_back(count / seconds_since(start) / 1e6);
    start = Clock::now();
    for (int i = 0; i < count; ++i) {
      aclshmem_putmem_nbi(words + (i & (kWords - 1)), &value, sizeof(value), 1);
    }
    aclshmem_quiet();
    ours.push_back(count / seconds_since(start) / 1e6);
  }
  std::printf("puts of 8 bytes, million per second, one quiet at the end\n");
  std::printf("  raw inline loop %.0f, aclshmem_putmem_nbi %.0f (aim: 100, or raw / 1.3)",
              median(raw), median(ours));
  for (const auto& [name, other] : others) {
    if (name == "put_rate") std::printf(", Open MPI %.0f", other);
  }
  std::printf("\n");
}

void measure_on_pe_0(const Others& others) {
  auto* words = static_cast<int64_t*>(aclshmem_align(64, kWords * sizeof(int64_t)));
  if (aclshmem_my_pe() == 0) {
    auto* there = static_cast<int64_t*>(aclshmem_ptr(words, 1));
    std::vector<Row> all = rows(words, there);
    measure(all);
    print(all, others);
    message_rate(words, there, others);
  }
  aclshmem_barrier_all();
}

}  // namespace

int main(int argc, char** argv) {
  g_quick = argc == 2 && std::strcmp(argv[1], "--quick") == 0;
  if (argc > 1 && !g_quick) {
    std::fprintf(stderr, "usage: %s [--quick]\n", argv[0]);
    return 2;
  }
  const Others others = run_openshmem();
  if (others.empty()) {
    std::printf("Open MPI's OpenSHMEM: not here (oshcc at configure time, oshrun now)\n");
  }
  const bool ok = run_job(2, 2 << 20, [&](int pe) {
    pin(pe);
    measure_on_pe_0(others);
  });
  return ok ? 0 : 1;
}
