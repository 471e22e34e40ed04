// Puts, gets and barriers beside their limits, measured in the same run: a raw store or load
// through aclshmem_ptr behind one function call, and memcpy into the same mapping. PEs are
// processes forked here.
//   bench_put                  all tables
//   bench_put --quick          few repetitions, for use as a test
//   bench_put --puts N         one PE that makes N puts of 8 bytes to itself and nothing else
//   around them, for callgrind:
//                              valgrind --tool=callgrind --toggle-collect=aclshmem_putmem bench_put
//                              --puts 1000
#include <arpa/inet.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

#include "shmem.h"

namespace {

using Clock = std::chrono::steady_clock;

bool g_quick = false;

double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

double median(std::vector<double> values) {
  std::nth_element(values.begin(), values.begin() + static_cast<ptrdiff_t>(values.size() / 2),
                   values.end());
  return values[values.size() / 2];
}

struct Port {
  int fd;
  int number;
};

Port bind_port() {
  Port port{::socket(AF_INET, SOCK_STREAM, 0), 0};
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof(address);
  if (::bind(port.fd, reinterpret_cast<sockaddr*>(&address), size) != 0 ||
      ::listen(port.fd, 64) != 0 ||
      ::getsockname(port.fd, reinterpret_cast<sockaddr*>(&address), &size) != 0) {
    std::perror("bind");
    std::exit(1);
  }
  port.number = ntohs(address.sin_port);
  return port;
}

void init(int pe, int n_pes, const Port& port, uint64_t heap) {
  aclshmemx_init_attr_t attributes{pe, n_pes, {}, heap};
  std::snprintf(attributes.ip_port, sizeof(attributes.ip_port), "tcp://127.0.0.1:%d", port.number);
  if (pe == 0) attributes.option_attr.sockFd = port.fd;
  if (aclshmemx_init_attr(ACLSHMEMX_INIT_WITH_DEFAULT, &attributes) != 0) std::exit(1);
}

// Runs body(pe) in n_pes processes; true when all ended well.
template <typename Body>
bool run_job(int n_pes, uint64_t heap, Body body) {
  Port port = bind_port();
  std::vector<pid_t> children;
  for (int pe = 0; pe < n_pes; ++pe) {
    std::fflush(nullptr);
    pid_t child = ::fork();
    if (child == 0) {
      init(pe, n_pes, port, heap);
      body(pe);
      std::exit(aclshmem_finalize() == 0 ? 0 : 1);
    }
    children.push_back(child);
  }
  ::close(port.fd);
  bool ok = true;
  for (pid_t child : children) {
    int status = -1;
    ::waitpid(child, &status, 0);
    ok = ok && WIFEXITED(status) && WEXITSTATUS(status) == 0;
  }
  return ok;
}

__attribute__((noinline)) void raw_store(int64_t* to, int64_t value) {
  __atomic_store_n(to, value, __ATOMIC_RELAXED);
  asm volatile("" ::: "memory");
}

__attribute__((noinline)) int64_t raw_load(const int64_t* from) {
  asm volatile("" ::: "memory");
  return __atomic_load_n(from, __ATOMIC_RELAXED);
}

// Nanoseconds per call, median of repetitions.
template <typename Body>
double time_calls(Body body) {
  const int calls = g_quick ? 20000 : 1000000;
  std::vector<double> times;
  for (int repetition = 0; repetition < (g_quick ? 5 : 11); ++repetition) {
    auto start = Clock::now();
    for (int i = 0; i < calls; ++i) body(i);
    times.push_back(seconds_since(start) * 1e9 / calls);
  }
  return median(times);
}

void small_operations() {
  auto* words = static_cast<int64_t*>(aclshmem_malloc(4096));
  auto* remote = static_cast<int64_t*>(aclshmem_ptr(words, 1));
  int64_t value = 0;
  volatile int64_t sink = 0;
  double store = time_calls([&](int i) { raw_store(remote + (i & 63), i); });
  double load = time_calls([&](int i) { sink = raw_load(remote + (i & 63)); });
  auto row = [](const char* name, double time, double limit) {
    std::printf("  %-24s %7.2f ns   %5.2f x the raw access\n", name, time, time / limit);
  };
  std::printf("8 bytes to or from a peer on this host\n");
  row("raw store", store, store);
  row("aclshmem_putmem", time_calls([&](int i) {
        value = i;
        aclshmem_putmem(words + (i & 63), &value, 8, 1);
      }),
      store);
  row("aclshmem_int64_p", time_calls([&](int i) { aclshmem_int64_p(words + (i & 63), i, 1); }),
      store);
  row("raw load", load, load);
  row("aclshmem_getmem",
      time_calls([&](int i) { aclshmem_getmem(&value, words + (i & 63), 8, 1); }), load);
  row("aclshmem_int64_g", time_calls([&](int i) { sink = aclshmem_int64_g(words + (i & 63), 1); }),
      load);
  (void)sink;
}

void bandwidth() {
  const size_t largest = g_quick ? 1 << 20 : 64 << 20;
  auto* block = static_cast<char*>(aclshmem_malloc(largest));
  auto* remote = static_cast<char*>(aclshmem_ptr(block, 1));
  std::vector<char> local(largest, 1);
  std::memset(remote, 0, largest);
  std::printf("bandwidth in GB/s; put and get beside memcpy into and out of the same mapping\n");
  std::printf("  %10s %9s %9s %6s %9s %9s %6s\n", "bytes", "memcpy", "put", "ratio", "memcpy",
              "get", "ratio");
  for (size_t size = 64 << 10; size <= largest; size *= 4) {
    const int calls = static_cast<int>(std::max<size_t>(1, (g_quick ? 4 : 256) * (1 << 20) / size));
    std::vector<double> times[4];
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
      run(times[1], [&] { aclshmem_putmem(block, local.data(), size, 1); });
      run(times[2], [&] {
        std::memcpy(local.data(), remote, size);
        asm volatile("" ::: "memory");
      });
      run(times[3], [&] { aclshmem_getmem(local.data(), block, size, 1); });
    }
    double rates[4];
    for (int i = 0; i < 4; ++i) rates[i] = median(times[i]);
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
      small_operations();
      bandwidth();
    } else {
      // The same allocations as PE 0.
      aclshmem_malloc(4096);
      aclshmem_malloc(g_quick ? 1 << 20 : 64 << 20);
    }
  });
  std::printf("barrier of all PEs\n");
  for (int n_pes : {2, 4, 8}) ok = run_job(n_pes, 2 << 20, barriers) && ok;
  return ok ? 0 : 1;
}
