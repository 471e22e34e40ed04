#include "core/report_signal.h"

#include <signal.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstring>

#include "base/log.h"
#include "os/thread.h"
#include "os/wait.h"

namespace symm {
namespace {

constexpr uint64_t kReport = 1;
constexpr uint64_t kStop = uint64_t{1} << 40;  // more signals than that cannot be pending

// Read by the handler. relaxed: a handler that sees the old value misses one report.
std::atomic<int> g_event{-1};
struct sigaction g_before;  // written before the handler is installed
bool g_installed = false;

void on_signal(int number, siginfo_t* info, void* context) {
  const int saved = errno;
  const int event = g_event.load(std::memory_order_relaxed);
  // A full counter means that a report is due anyway.
  if (event >= 0 && ::write(event, &kReport, sizeof(kReport)) < 0) errno = saved;
  if ((g_before.sa_flags & SA_SIGINFO) != 0) {
    g_before.sa_sigaction(number, info, context);
  } else if (g_before.sa_handler != SIG_DFL && g_before.sa_handler != SIG_IGN) {
    g_before.sa_handler(number);
  }
  errno = saved;
}

bool is_ours(const struct sigaction& action) {
  return (action.sa_flags & SA_SIGINFO) != 0 && action.sa_sigaction == on_signal;
}

void install() {
  struct sigaction now;
  if (::sigaction(SIGUSR1, nullptr, &now) != 0 || is_ours(now) || g_installed) return;
  if ((now.sa_flags & SA_SIGINFO) == 0 && now.sa_handler == SIG_IGN) return;
  g_before = now;
  struct sigaction ours = {};
  ours.sa_sigaction = on_signal;
  ours.sa_flags = SA_SIGINFO | SA_RESTART;
  ::sigemptyset(&ours.sa_mask);
  g_installed = ::sigaction(SIGUSR1, &ours, nullptr) == 0;
}

void uninstall() {
  struct sigaction now;
  if (!g_installed || ::sigaction(SIGUSR1, nullptr, &now) != 0 || !is_ours(now)) return;
  g_installed = ::sigaction(SIGUSR1, &g_before, nullptr) != 0;
}

void print_waits() {
  std::string waits = os::describe_waits();
  if (waits.empty()) waits = "no call waits\n";
  waits.pop_back();
  log::report(fmt::format("asked by SIGUSR1: {}", waits));
}

}  // namespace

Status ReportSignal::start() {
  if (thread_.joinable()) return {};
  event_.reset(::eventfd(0, EFD_CLOEXEC));
  if (!event_.valid()) {
    return SYMM_ERROR(kInternal, "no descriptor for reports on SIGUSR1: {}", std::strerror(errno));
  }
  SYMM_ASSIGN(thread_, os::start_thread("symm-report", [this] { run(); }));
  g_event.store(event_.get(), std::memory_order_relaxed);
  install();
  return {};
}

void ReportSignal::stop() {
  if (!thread_.joinable()) return;
  uninstall();
  g_event.store(-1, std::memory_order_relaxed);
  ssize_t written;
  do {
    written = ::write(event_.get(), &kStop, sizeof(kStop));
  } while (written < 0 && errno == EINTR);
  thread_.join();
  event_.reset();
}

void ReportSignal::in_forked_child() {
  g_event.store(-1, std::memory_order_relaxed);
  uninstall();
}

void ReportSignal::run() {
  while (true) {
    uint64_t count = 0;
    const ssize_t got = ::read(event_.get(), &count, sizeof(count));
    if (got < 0 && errno == EINTR) continue;
    if (got != sizeof(count) || count >= kStop) return;
    print_waits();
  }
}

}  // namespace symm
