#include "shmem-run/child.h"

#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

extern char** environ;

namespace symm::launcher {
namespace {

bool replaced(std::string_view entry, const std::vector<std::string>& by) {
  const std::string_view name = entry.substr(0, entry.find('=') + 1);
  return std::any_of(by.begin(), by.end(),
                     [&](const std::string& one) { return one.starts_with(name); });
}

// The environment of the child: ours, with some entries replaced. Built before fork, since only
// async-signal-safe calls are allowed between fork and exec.
std::vector<std::string> merge_environment(const std::vector<std::string>& extra) {
  std::vector<std::string> merged;
  for (char** entry = environ; entry != nullptr && *entry != nullptr; ++entry) {
    std::string_view have(*entry);
    if (!replaced(have, extra)) merged.emplace_back(have);
  }
  // Of entries that occur twice the last one counts.
  for (size_t i = 0; i < extra.size(); ++i) {
    const std::vector<std::string> later(extra.begin() + static_cast<ptrdiff_t>(i) + 1,
                                         extra.end());
    if (!replaced(extra[i], later)) merged.push_back(extra[i]);
  }
  return merged;
}

std::vector<char*> pointers(std::vector<std::string>& strings) {
  std::vector<char*> list;
  for (std::string& one : strings) list.push_back(one.data());
  list.push_back(nullptr);
  return list;
}

void move_fd(int from, int to) {
  if (from >= 0) ::dup2(from, to);
}

void bind_to(int processor) {
  cpu_set_t set;
  CPU_ZERO(&set);
  CPU_SET(static_cast<size_t>(processor), &set);
  ::sched_setaffinity(0, sizeof(set), &set);
}

// Runs in the child between fork and exec; reports errno through `report` when exec fails.
[[noreturn]] void become(const ChildSetup& setup, char** argv, char** envp, int null_fd, int report,
                         pid_t launcher) {
  ::setpgid(0, 0);
  // The launcher may have died before prctl took effect: then nobody would signal us.
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (::getppid() != launcher) ::_exit(127);
  sigset_t none;
  ::sigemptyset(&none);
  ::sigprocmask(SIG_SETMASK, &none, nullptr);
  ::signal(SIGPIPE, SIG_DFL);
  move_fd(setup.stdin_fd >= 0 ? setup.stdin_fd : null_fd, STDIN_FILENO);
  move_fd(setup.stdout_fd, STDOUT_FILENO);
  move_fd(setup.stderr_fd, STDERR_FILENO);
  if (setup.keep_fd >= 0) ::fcntl(setup.keep_fd, F_SETFD, 0);
  if (setup.processor >= 0) bind_to(setup.processor);
  ::execvpe(argv[0], argv, envp);
  int error = errno;
  ssize_t written = ::write(report, &error, sizeof(error));
  ::_exit(written == sizeof(error) ? 127 : 126);
}

}  // namespace

Result<Child> Child::start(const ChildSetup& setup) {
  std::vector<std::string> command = setup.command;
  std::vector<std::string> environment = merge_environment(setup.environment);
  std::vector<char*> argv = pointers(command);
  std::vector<char*> envp = pointers(environment);
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) {
    return SYMM_ERROR(kInternal, "no pipe for a new process: {}", ::strerror(errno));
  }
  UniqueFd read_end(ends[0]);
  UniqueFd write_end(ends[1]);
  UniqueFd null_fd(::open("/dev/null", O_RDONLY | O_CLOEXEC));
  pid_t launcher = ::getpid();
  pid_t pid = ::fork();
  if (pid < 0) return SYMM_ERROR(kInternal, "no new process: {}", ::strerror(errno));
  if (pid == 0) {
    become(setup, argv.data(), envp.data(), null_fd.get(), write_end.get(), launcher);
  }
  // Also here, so that a signal to the group never misses a child that has not run yet.
  ::setpgid(pid, pid);
  write_end.reset();
  int error = 0;
  ssize_t got;
  do {
    got = ::read(read_end.get(), &error, sizeof(error));
  } while (got < 0 && errno == EINTR);
  Child child;
  child.pid_ = pid;
  child.running_ = true;
  if (got == sizeof(error)) {
    ::waitpid(pid, nullptr, 0);
    return SYMM_ERROR(kLoad, "cannot run '{}': {}", setup.command.front(), ::strerror(error));
  }
  return child;
}

void Child::signal(int number) const {
  if (running_) ::kill(-pid_, number);
}

std::optional<int> Child::try_reap() {
  if (!running_) return std::nullopt;
  siginfo_t info = {};
  // Looks without reaping: as long as the zombie holds the number, the group cannot be somebody
  // else's.
  if (::waitid(P_PID, static_cast<id_t>(pid_), &info, WEXITED | WNOHANG | WNOWAIT) != 0 ||
      info.si_pid != pid_) {
    return std::nullopt;
  }
  ::kill(-pid_, SIGKILL);
  int status = 0;
  ::waitpid(pid_, &status, 0);
  running_ = false;
  return status;
}

void Child::reap_killed() {
  if (!running_) return;
  int status = 0;
  while (::waitpid(pid_, &status, 0) < 0 && errno == EINTR) {
  }
  running_ = false;
}

int exit_code_of(int wait_status) {
  if (WIFSIGNALED(wait_status)) return 128 + WTERMSIG(wait_status);
  return WEXITSTATUS(wait_status);
}

std::string describe_exit(int wait_status) {
  if (WIFSIGNALED(wait_status)) {
    int number = WTERMSIG(wait_status);
    return fmt::format("was ended by signal {} ({})", number, ::strsignal(number));
  }
  return fmt::format("exited with code {}", WEXITSTATUS(wait_status));
}

}  // namespace symm::launcher
