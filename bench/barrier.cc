// Barriers beside the raw exchange of a cache line between processes, in the same run: medians and
// 99th percentiles for several numbers of PEs, the same with a foreign process that computes, and
// the processor time of PEs that wait. PEs are processes forked here.
//   bench_barrier           all tables
//   bench_barrier --quick   few repetitions, for use as a test
#include <arpa/inet.h>
#include <sched.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

#include "shmem.h"

namespace {

using Clock = std::chrono::steady_clock;

bool g_quick = false;

double microseconds_since(Clock::time_point start) {
  return std::chrono::duration<double, std::micro>(Clock::now() - start).count();
}

struct Spread {
  double median = 0;
  double p99 = 0;
};

Spread spread_of(std::vector<double> times) {
  std::sort(times.begin(), times.end());
  return {times[times.size() / 2], times[times.size() * 99 / 100]};
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

// Runs body(i) in n processes; true when all ended with 0.
template <typename Body>
bool run_processes(int n, Body body) {
  std::vector<pid_t> children;
  for (int i = 0; i < n; ++i) {
    std::fflush(nullptr);
    pid_t child = ::fork();
    if (child == 0) std::exit(body(i));
    children.push_back(child);
  }
  bool ok = true;
  for (pid_t child : children) {
    int status = -1;
    ::waitpid(child, &status, 0);
    ok = ok && WIFEXITED(status) && WEXITSTATUS(status) == 0;
  }
  return ok;
}

template <typename Body>
bool run_job(int n_pes, Body body) {
  Port port = bind_port();
  const bool ok = run_processes(n_pes, [&](int pe) {
    aclshmemx_init_attr_t attributes{pe, n_pes, {}, 2 << 20};
    std::snprintf(attributes.ip_port, sizeof(attributes.ip_port), "tcp://127.0.0.1:%d",
                  port.number);
    if (pe == 0) attributes.option_attr.sockFd = port.fd;
    if (aclshmemx_init_attr(ACLSHMEMX_INIT_WITH_DEFAULT, &attributes) != 0) return 1;
    body(pe);
    return aclshmem_finalize();
  });
  ::close(port.fd);
  return ok;
}

void pin(int processor) {
  cpu_set_t allowed;
  if (::sched_getaffinity(0, sizeof allowed, &allowed) != 0) return;
  int seen = 0;
  for (int i = 0; i < CPU_SETSIZE; ++i) {
    if (!CPU_ISSET(i, &allowed) || seen++ != processor) continue;
    cpu_set_t one;
    CPU_ZERO(&one);
    CPU_SET(i, &one);
    ::sched_setaffinity(0, sizeof one, &one);
    return;
  }
}

void relax() {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("isb" ::: "memory");
#endif
}

struct alignas(64) Line {
  std::atomic<uint64_t> value;
};

// One way between two processes, each on a processor of its own: half of there and back.
double raw_exchange() {
  constexpr int kTurns = 64;
  auto* lines = static_cast<Line*>(
      ::mmap(nullptr, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0));
  auto* result = reinterpret_cast<double*>(lines + 4);
  const int rounds = g_quick ? 200 : 20000;
  run_processes(2, [&](int side) {
    pin(side);
    std::vector<double> times;
    uint64_t turn = 0;
    for (int i = 0; i < rounds; ++i) {
      const auto start = Clock::now();
      for (int k = 0; k < kTurns; ++k) {
        ++turn;
        // release and acquire: what a flag needs
        if (side == 0) lines[0].value.store(turn, std::memory_order_release);
        while (lines[1 - side].value.load(std::memory_order_acquire) < turn) {
          relax();
        }
        if (side == 1) lines[1].value.store(turn, std::memory_order_release);
      }
      times.push_back(microseconds_since(start) / kTurns / 2);
    }
    if (side == 0) *result = spread_of(times).median;
    return 0;
  });
  const double median = *result;
  ::munmap(lines, 4096);
  return median;
}

// Times single barriers.
void barriers(int pe, double raw, bool pinned) {
  if (pinned) pin(pe);
  const int rounds = g_quick ? 100 : 10000;
  for (int i = 0; i < rounds / 10; ++i) aclshmem_sync_all();
  std::vector<double> single;
  for (int i = 0; i < rounds; ++i) {
    const auto start = Clock::now();
    aclshmem_barrier_all();
    single.push_back(microseconds_since(start));
  }
  const Spread spread = spread_of(single);
  if (pe != 0) return;
  std::printf("  %3d PEs%s: median %8.2f us = %6.1f x the exchange, 99th percentile %9.2f us\n",
              aclshmem_n_pes(), pinned ? ", pinned" : "        ", spread.median,
              spread.median / raw, spread.p99);
}

// PE 0 comes late by a given time, which is what is measured: what the waiting costs the others.
// Prints the processor time of PE 1.
void waiting(int pe) {
  const double seconds = g_quick ? 0.1 : 1.0;
  aclshmem_barrier_all();
  rusage before;
  ::getrusage(RUSAGE_SELF, &before);
  const auto start = Clock::now();
  if (pe == 0) ::usleep(static_cast<useconds_t>(seconds * 1e6));
  aclshmem_barrier_all();
  const double elapsed = microseconds_since(start);
  rusage after;
  ::getrusage(RUSAGE_SELF, &after);
  if (pe != 1) return;
  auto cpu = [](const rusage& use) {
    return static_cast<double>(use.ru_utime.tv_sec + use.ru_stime.tv_sec) * 1e6 +
           static_cast<double>(use.ru_utime.tv_usec + use.ru_stime.tv_usec);
  };
  std::printf("  a PE that waits %.1f s uses %.2f %% of a processor\n", elapsed / 1e6,
              100 * (cpu(after) - cpu(before)) / elapsed);
}

// A process that only computes, ended with the object and with this process.
class Hog {
 public:
  Hog() : child_(::fork()) {
    if (child_ != 0) return;
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    while (true) asm volatile("");
  }
  ~Hog() {
    ::kill(child_, SIGKILL);
    ::waitpid(child_, nullptr, 0);
  }

 private:
  pid_t child_;
};

}  // namespace

int main(int argc, char** argv) {
  g_quick = argc == 2 && std::strcmp(argv[1], "--quick") == 0;
  if (argc > 1 && !g_quick) {
    std::fprintf(stderr, "usage: %s [--quick]\n", argv[0]);
    return 2;
  }
  const double raw = raw_exchange();
  std::printf("raw exchange of a cache line, one way: %.3f us\n", raw);
  std::printf("barrier of all PEs on %ld processors\n", ::sysconf(_SC_NPROCESSORS_ONLN));
  bool ok = run_job(2, [&](int pe) { barriers(pe, raw, true); });
  for (int n_pes : {2, 4, 8, 16}) {
    ok = run_job(n_pes, [&](int pe) { barriers(pe, raw, false); }) && ok;
  }
  std::printf("with a foreign process that computes\n");
  {
    Hog hog;
    for (int n_pes : {2, 8}) {
      ok = run_job(n_pes, [&](int pe) { barriers(pe, raw, false); }) && ok;
    }
  }
  std::printf("waiting\n");
  ok = run_job(2, waiting) && ok;
  return ok ? 0 : 1;
}
