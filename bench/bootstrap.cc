// How the store carries many PEs: time to connect all, one barrier, one allgather, and what the
// server needs for it. One process is the server, another one is all the PEs, in a few threads.
//   bench_bootstrap                              64, 512 and 4096 PEs, plain and TLS-PSK
//   bench_bootstrap --pes 16384 --tls            other numbers; --plain or --tls for one of the two
//   bench_bootstrap --quick                      64 and 512 PEs once, for use as a test
//   bench_bootstrap --bytes 64 --repeat 5        size of a record, best of 5 runs
//   bench_bootstrap --threads 1                  threads that play the PEs
// Columns: "agree" is an allgather in which all bring the same, as most steps of init do.
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "base/deadline.h"
#include "net/listen.h"
#include "net/secret.h"
#include "simulated_pes.h"
#include "store/server.h"

namespace {

using Clock = std::chrono::steady_clock;
using symm::Deadline;
using symm::Result;
using symm::Status;
using symm::UniqueFd;

constexpr double kLimitSeconds = 120;
constexpr rlim_t kSpareDescriptors = 64;

struct Options {
  std::vector<int> pes = {64, 512, 4096};
  bool plain = true;
  bool tls = true;
  size_t bytes = 256;
  int repeat = 3;
  int threads = 2;
};

// What the server says about itself.
struct Usage {
  double cpu_s = 0;
  double resident_mib = 0;
};

struct Figures {
  double connect_s = 0;
  double barrier_s = 0;
  double allgather_s = 0;
  double agree_s = 0;
  Usage idle;
  Usage connected;
  Usage end;
  double pes_cpu_s = 0;
  double together() const { return connect_s + allgather_s; }
};

[[noreturn]] void fail(const std::string& why) {
  std::fprintf(stderr, "bench_bootstrap: %s\n", why.c_str());
  std::exit(1);
}

double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

void raise_descriptor_limit(int n_pes) {
  rlimit limit{};
  ::getrlimit(RLIMIT_NOFILE, &limit);
  const rlim_t wanted = static_cast<rlim_t>(n_pes) + kSpareDescriptors;
  if (limit.rlim_cur >= wanted) return;
  if (limit.rlim_max < wanted) {
    fail("a store of " + std::to_string(n_pes) + " PEs needs " + std::to_string(wanted) +
         " descriptors, the hard limit is " + std::to_string(limit.rlim_max) +
         "; raise it (ulimit -Hn)");
  }
  limit.rlim_cur = wanted;
  if (::setrlimit(RLIMIT_NOFILE, &limit) != 0) fail("setrlimit failed");
}

Usage own_usage() {
  rusage used{};
  ::getrusage(RUSAGE_SELF, &used);
  auto seconds = [](const timeval& t) {
    return static_cast<double>(t.tv_sec) + static_cast<double>(t.tv_usec) / 1e6;
  };
  Usage out;
  out.cpu_s = seconds(used.ru_utime) + seconds(used.ru_stime);
  std::ifstream statm("/proc/self/statm");
  double total = 0;
  double resident = 0;
  statm >> total >> resident;
  out.resident_mib = resident * static_cast<double>(::sysconf(_SC_PAGESIZE)) / (1024 * 1024);
  return out;
}

std::shared_ptr<symm::net::TlsContext> make_tls(symm::net::Side side, bool wanted) {
  if (!wanted) return nullptr;
  symm::net::Secret secret{symm::net::KeyKind::kJobSecret, std::string(32, 's'), "bench"};
  auto context = symm::net::TlsContext::from_secret(side, secret);
  if (!context.ok()) fail(std::string(context.status().text()));
  return context.value();
}

// Serves until the other side closes the control socket; each byte asks for the usage.
[[noreturn]] void serve(UniqueFd control, symm::net::Listeners listeners, int n_pes, bool tls) {
  symm::store::Server::Options options;
  options.session.n_pes = n_pes;
  options.listeners = std::move(listeners);
  options.tls = make_tls(symm::net::Side::kServer, tls);
  options.handshake_limit = std::chrono::seconds(static_cast<int>(kLimitSeconds));
  auto server = symm::store::Server::start(std::move(options));
  if (!server.ok()) fail(std::string(server.status().text()));
  char question;
  while (::read(control.get(), &question, 1) == 1) {
    Usage usage = own_usage();
    if (::write(control.get(), &usage, sizeof(usage)) != sizeof(usage)) break;
  }
  server.value()->stop(std::chrono::seconds(10));
  std::exit(0);
}

class ServerProcess {
 public:
  ServerProcess(int n_pes, bool tls) {
    auto listeners =
        symm::net::listen_on({"127.0.0.1", "", 0, symm::net::Family::kV4, true}, Deadline::never());
    if (!listeners.ok()) fail(std::string(listeners.status().text()));
    auto bound = symm::net::local_address(listeners.value().fds.front().get());
    if (!bound.ok()) fail(std::string(bound.status().text()));
    address_ = bound.value();
    int ends[2];
    if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0) fail("socketpair failed");
    control_.reset(ends[0]);
    UniqueFd other(ends[1]);
    std::fflush(stdout);
    pid_ = ::fork();
    if (pid_ < 0) fail("fork failed");
    if (pid_ == 0) {
      control_.reset();
      serve(std::move(other), std::move(listeners.value()), n_pes, tls);
    }
  }

  ~ServerProcess() {
    control_.reset();
    int status = 0;
    ::waitpid(pid_, &status, 0);
    if (status != 0) fail("the server failed");
  }

  const symm::net::SocketAddress& address() const { return address_; }

  Usage usage() const {
    Usage out;
    if (::write(control_.get(), "?", 1) != 1 ||
        ::recv(control_.get(), &out, sizeof(out), MSG_WAITALL) != sizeof(out)) {
      fail("the server does not answer");
    }
    return out;
  }

 private:
  UniqueFd control_;
  pid_t pid_ = -1;
  symm::net::SocketAddress address_;
};

// All PEs, shared out over threads that do each step together.
class Crowd {
 public:
  Crowd(const Options& options, int n_pes, const symm::net::SocketAddress& server, bool tls) {
    const int threads = std::min(options.threads, n_pes);
    for (int i = 0; i < threads; ++i) {
      const int first = n_pes * i / threads;
      const int count = n_pes * (i + 1) / threads - first;
      parts_.push_back(std::make_unique<symm::bench::SimulatedPes>(
          n_pes, first, count, server, make_tls(symm::net::Side::kClient, tls)));
    }
  }

  // Seconds until all are through.
  template <typename Do>
  double timed(Do step) {
    const auto begin = Clock::now();
    const Deadline limit = Deadline::after_seconds(kLimitSeconds);
    std::vector<std::thread> threads;
    for (auto& part : parts_) threads.emplace_back([&] { step(*part, limit); });
    for (std::thread& thread : threads) thread.join();
    return seconds_since(begin);
  }

 private:
  std::vector<std::unique_ptr<symm::bench::SimulatedPes>> parts_;
};

Figures measure(const Options& options, int n_pes, bool tls) {
  Figures out;
  ServerProcess server(n_pes, tls);
  const double cpu_before = own_usage().cpu_s;
  out.idle = server.usage();
  Crowd pes(options, n_pes, server.address(), tls);
  using symm::bench::SimulatedPes;
  out.connect_s = pes.timed([](SimulatedPes& part, Deadline limit) { part.connect_all(limit); });
  out.connected = server.usage();
  out.barrier_s = pes.timed([](SimulatedPes& part, Deadline limit) { part.barrier(limit); });
  out.allgather_s = pes.timed(
      [&](SimulatedPes& part, Deadline limit) { part.allgather(options.bytes, false, limit); });
  out.end = server.usage();
  out.pes_cpu_s = own_usage().cpu_s - cpu_before;
  out.agree_s = pes.timed(
      [&](SimulatedPes& part, Deadline limit) { part.allgather(options.bytes, true, limit); });
  pes.timed([](SimulatedPes& part, Deadline limit) { part.goodbye(limit); });
  return out;
}

void print(const Options& options, int n_pes, bool tls, const Figures& best) {
  const double count = n_pes;
  std::printf("%6d %-7s %8.3f %8.4f %9.3f %9.3f %8.4f %7.3f %7.3f %10.1f %8.1f %8.1f\n", n_pes,
              tls ? "TLS-PSK" : "plain", best.connect_s, best.barrier_s, best.allgather_s,
              best.together(), best.agree_s, best.end.cpu_s - best.idle.cpu_s, best.pes_cpu_s,
              (best.connected.cpu_s - best.idle.cpu_s) * 1e6 / count,
              (best.connected.resident_mib - best.idle.resident_mib) * 1024 / count,
              best.end.resident_mib);
  const double table_mib = static_cast<double>(options.bytes) * count * count / (1024 * 1024);
  std::printf("        the allgather moved %.0f MiB, %.2f GiB/s\n", table_mib,
              table_mib / 1024 / best.allgather_s);
  std::fflush(stdout);
}

Options parse(int argc, char** argv) {
  Options options;
  bool quick = false;
  bool only_plain = false;
  bool only_tls = false;
  CLI::App app("Connect, barrier and allgather of many PEs against one store.", "bench_bootstrap");
  app.add_option("--pes", options.pes, "numbers of PEs")->delimiter(',');
  app.add_flag("--plain", only_plain, "without TLS only");
  app.add_flag("--tls", only_tls, "with TLS only");
  app.add_option("--bytes", options.bytes, "bytes that each PE brings")
      ->check(CLI::Range(8, 1 << 20));
  app.add_option("--repeat", options.repeat, "the best of so many runs")->check(CLI::Range(1, 100));
  app.add_option("--threads", options.threads, "threads that play the PEs")
      ->check(CLI::Range(1, 64));
  app.add_flag("--quick", quick, "64 and 512 PEs, once");
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    std::exit(app.exit(error));
  }
  if (quick) {
    options.pes = {64, 512};
    options.repeat = 1;
  }
  options.plain = !only_tls;
  options.tls = !only_plain;
  return options;
}

}  // namespace

int main(int argc, char** argv) {
  const Options options = parse(argc, argv);
  std::printf("records of %zu bytes, best of %d; seconds; us and KiB per PE in the server\n",
              options.bytes, options.repeat);
  std::printf("%6s %-7s %8s %8s %9s %9s %8s %7s %7s %10s %8s %8s\n", "PEs", "mode", "connect",
              "barrier", "allgather", "con.+all.", "agree", "CPU", "PEs CPU", "us/connect",
              "KiB/PE", "MiB end");
  for (bool tls : {false, true}) {
    if (tls ? !options.tls : !options.plain) continue;
    for (int n_pes : options.pes) {
      if (n_pes < 1 || n_pes > 16384) fail("--pes: between 1 and 16384");
      raise_descriptor_limit(n_pes);
      Figures best = measure(options, n_pes, tls);
      for (int i = 1; i < options.repeat; ++i) {
        Figures next = measure(options, n_pes, tls);
        if (next.together() < best.together()) best = next;
      }
      print(options, n_pes, tls, best);
    }
  }
  return 0;
}
