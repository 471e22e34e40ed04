#include "shmem-run/job.h"

#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/random.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <set>

#include "shmem-run/child.h"
#include "shmem-run/local_group.h"
#include "shmem-run/remote_group.h"

extern char** environ;

namespace symm::launcher {
namespace {

// How long PEs may take to end after SIGTERM before they are killed.
constexpr std::chrono::milliseconds kGrace(2000);
// How long a failure waits for the failure that caused it.
constexpr std::chrono::milliseconds kSettle(100);
constexpr int kTimeoutCode = 124;
constexpr int kCannotRun = 127;
constexpr int kLostCode = 255;
constexpr int kSignals[] = {SIGCHLD, SIGINT,  SIGTERM, SIGHUP, SIGQUIT,
                            SIGUSR1, SIGUSR2, SIGTSTP, SIGCONT};

void say(const std::string& text) { write_all(STDERR_FILENO, "shmem-run: " + text + "\n"); }

Result<std::string> make_secret() {
  unsigned char bytes[32];
  if (::getrandom(bytes, sizeof(bytes), 0) != static_cast<ssize_t>(sizeof(bytes))) {
    return SYMM_ERROR(kInternal, "no random bytes for the job's secret: {}", ::strerror(errno));
  }
  std::string text;
  for (unsigned char byte : bytes) text += fmt::format("{:02x}", byte);
  return text;
}

// Our own settings, for PEs whose environment does not come from here.
std::vector<std::string> shmem_variables() {
  std::vector<std::string> list;
  for (char** entry = environ; entry != nullptr && *entry != nullptr; ++entry) {
    std::string_view have(*entry);
    if (have.starts_with("SHMEM_") && !have.starts_with("SHMEM_RUN_")) list.emplace_back(have);
  }
  return list;
}

std::string current_folder() {
  char path[4096];
  return ::getcwd(path, sizeof(path)) != nullptr ? path : "/";
}

std::string own_name() {
  char name[256] = {};
  return ::gethostname(name, sizeof(name) - 1) == 0 ? name : "localhost";
}

}  // namespace

Status Job::start() {
  SYMM_TRY(block_signals());
  if (!options_.note.empty()) say(options_.note);
  if (!options_.folder.empty() && ::chdir(options_.folder.c_str()) != 0) {
    return SYMM_ERROR(kLoad, "--wdir: cannot enter {}: {}", options_.folder, ::strerror(errno));
  }
  if (options_.timeout_s > 0) limit_ = Deadline::after_seconds(options_.timeout_s);
  running_.assign(static_cast<size_t>(options_.n_pes), false);
  SYMM_TRY(make_groups());
  for (auto& group : groups_) SYMM_TRY(group->open());
  return address_.empty() ? Status() : begin();
}

Status Job::block_signals() {
  sigset_t set;
  ::sigemptyset(&set);
  for (int number : kSignals) ::sigaddset(&set, number);
  ::sigprocmask(SIG_BLOCK, &set, nullptr);
  ::signal(SIGPIPE, SIG_IGN);
  signals_.reset(::signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK));
  if (!signals_.valid()) return SYMM_ERROR(kInternal, "no signalfd: {}", ::strerror(errno));
  return {};
}

Status Job::make_groups() {
  SYMM_ASSIGN(const std::string secret, make_secret());
  std::vector<Host> hosts = options_.hosts;
  if (hosts.empty()) hosts = {{"localhost", options_.n_pes}};
  SYMM_ASSIGN(const auto placed, place_pes(hosts, options_.n_pes, options_.oversubscribe));
  std::vector<int> here;
  std::vector<std::string> remote_names;
  for (size_t i = 0; i < hosts.size(); ++i) {
    if (placed[i].empty()) continue;
    if (is_this_host(hosts[i].name)) {
      here.insert(here.end(), placed[i].begin(), placed[i].end());
    } else {
      remote_names.push_back(hosts[i].name);
    }
  }
  for (size_t i = 0; i < hosts.size(); ++i) {
    if (placed[i].empty() || is_this_host(hosts[i].name)) continue;
    std::vector<std::string> others;
    for (const std::string& name : remote_names) {
      if (name != hosts[i].name) others.push_back(name);
    }
    if (!here.empty()) others.push_back(own_name());
    make_remote(hosts[i].name, placed[i], others, secret);
  }
  std::sort(here.begin(), here.end());
  if (!here.empty()) SYMM_TRY(make_local(std::move(here), remote_names, secret));
  return {};
}

Status Job::make_local(std::vector<int> pes, const std::vector<std::string>& others,
                       const std::string& secret) {
  LocalSetup setup;
  setup.n_pes = options_.n_pes;
  setup.command = options_.command;
  setup.environment = options_.environment;
  setup.secret = secret;
  setup.others = others;
  setup.address = options_.address;
  setup.bind_to_core = options_.bind_to_core;
  setup.capture_output = options_.prefix_output;
  setup.stdin_fd = STDIN_FILENO;
  // PE 0 runs in a process group of its own, so a terminal would stop it if it read for itself;
  // files and pipes are handed to it as they are.
  if (pes.front() == 0 && ::isatty(STDIN_FILENO) != 0) {
    UniqueFd writer;
    SYMM_TRY(make_pipe(&terminal_end_, &writer));
    terminal_.connect(std::move(writer));
    setup.stdin_fd = terminal_end_.get();
    input_ = &terminal_;
  }
  setup.pes = std::move(pes);
  groups_.push_back(std::make_unique<LocalGroup>(std::move(setup), this));
  return {};
}

void Job::make_remote(const std::string& host, const std::vector<int>& pes,
                      const std::vector<std::string>& others, const std::string& secret) {
  Setup setup;
  setup.n_pes = options_.n_pes;
  setup.pes.assign(pes.begin(), pes.end());
  setup.command = options_.command;
  setup.environment = shmem_variables();
  setup.environment.insert(setup.environment.end(), options_.environment.begin(),
                           options_.environment.end());
  setup.folder = current_folder();
  setup.secret = secret;
  setup.others = others;
  setup.address = options_.address;
  setup.bind_to_core = options_.bind_to_core;
  auto group = std::make_unique<RemoteGroup>(host, options_.agent, std::move(setup), this);
  if (pes.front() == 0) input_ = group.get();
  groups_.push_back(std::move(group));
}

Status Job::begin() {
  begun_ = true;
  for (auto& group : groups_) {
    SYMM_TRY(group->begin(address_));
    for (int pe : group->pes()) running_[static_cast<size_t>(pe)] = true;
  }
  terminal_end_.reset();
  return {};
}

bool Job::finished() const {
  return std::all_of(groups_.begin(), groups_.end(),
                     [](const auto& group) { return group->finished(); });
}

int Job::run() {
  while (!finished()) {
    wait_for_events();
    handle_signals();
    for (auto& group : groups_) group->check();
    if (!begun_ && !stopping_ && !address_.empty()) {
      if (Status status = begin(); !status.ok()) end_job(kCannotRun, std::string(status.text()));
    }
    if (culprit_ >= 0 && live() == 0) blame();
    check_limits();
  }
  for (auto& [key, copy] : copies_) copy.finish();
  return exit_code_;
}

int Job::poll_timeout_ms() const {
  auto left = std::min({limit_.left(), kill_at_.left(), settled_at_.left()});
  constexpr std::chrono::milliseconds kLongest(3600 * 1000);
  int timeout = static_cast<int>(std::min(left, kLongest).count());
  for (const auto& group : groups_) {
    if (int patience = group->patience_ms(); patience >= 0) timeout = std::min(timeout, patience);
  }
  return timeout;
}

void Job::wait_for_events() {
  std::vector<pollfd> entries = {
      {signals_.get(), POLLIN, 0}, {terminal_.write_fd(), POLLOUT, 0}, {-1, POLLIN, 0}};
  if (input_ != nullptr && input_->ready()) entries[2].fd = standard_input_.fd();
  std::vector<size_t> first;
  for (auto& group : groups_) {
    first.push_back(entries.size());
    group->add_polls(entries);
  }
  first.push_back(entries.size());
  if (::poll(entries.data(), entries.size(), poll_timeout_ms()) <= 0) return;
  if (entries[1].revents != 0) terminal_.pump();
  if (entries[2].revents != 0) standard_input_.pump(*input_);
  for (size_t i = 0; i < groups_.size(); ++i) {
    groups_[i]->handle(entries.data() + first[i], first[i + 1] - first[i]);
  }
}

void Job::on_output(int pe, int stream, std::string_view data) {
  auto [found, made] = copies_.try_emplace({pe, stream}, stream,
                                           options_.prefix_output ? fmt::format("[{}] ", pe) : "");
  const bool ok = data.empty() ? found->second.finish() : found->second.take(data);
  if (!ok) end_job(128 + SIGPIPE, "nobody reads the output any more");
}

void Job::handle_signals() {
  signalfd_siginfo info;
  while (::read(signals_.get(), &info, sizeof(info)) == sizeof(info)) {
    handle_signal(static_cast<int>(info.ssi_signo));
  }
}

void Job::handle_signal(int number) {
  switch (number) {
    case SIGCHLD:
      return;
    case SIGTSTP:
      return suspend();
    case SIGUSR1:
    case SIGUSR2:
    case SIGCONT:
      return signal_all(number);
    default:
      // Before the PEs run there is nobody whose end would give the code.
      if (!begun_ && exit_code_ == 0) exit_code_ = 128 + number;
      signal_all(number);
      begin_stop();
  }
}

// Stops the PEs and then this process, as the terminal's stop key means; SIGCONT wakes both.
void Job::suspend() {
  signal_all(SIGTSTP);
  ::raise(SIGSTOP);
  signal_all(SIGCONT);
}

void Job::on_exit(int pe, int wait_status) {
  running_[static_cast<size_t>(pe)] = false;
  if (wait_status != 0) note_failure(pe, wait_status);
}

void Job::on_failed(PeGroup& group, const std::string& why) {
  for (int pe : group.pes()) running_[static_cast<size_t>(pe)] = false;
  end_job(kCannotRun, why);
}

void Job::on_lost(PeGroup& group, const std::string& why) {
  for (int pe : group.pes()) running_[static_cast<size_t>(pe)] = false;
  end_job(kLostCode, why);
}

// A PE that a signal ends takes a moment to be gone, and its peers may learn of it and give up
// before. So the first failure waits a little for a cause: a signal among the next failures.
void Job::note_failure(int pe, int status) {
  if (exit_code_ != 0) return;
  if (culprit_ < 0 || (WIFSIGNALED(status) && !WIFSIGNALED(culprit_status_))) {
    culprit_ = pe;
    culprit_status_ = status;
  }
  if (settled_at_.is_never()) settled_at_ = Deadline::after(kSettle);
  if (WIFSIGNALED(status)) blame();
}

void Job::blame() {
  settled_at_ = Deadline::never();
  end_job(exit_code_of(culprit_status_),
          fmt::format("PE {} {}", culprit_, describe_exit(culprit_status_)));
}

void Job::check_limits() {
  if (settled_at_.expired()) blame();
  if (finished()) return;
  if (!stopping_ && limit_.expired()) {
    end_job(kTimeoutCode, fmt::format("the time limit of {} s is over; {}", options_.timeout_s,
                                      begun_ ? "still running: PE " + running_pes()
                                             : std::string("the hosts have not answered yet")));
  }
  if (stopping_ && kill_at_.expired()) kill_the_rest();
}

// First what does not end, then what cannot even be reached.
void Job::kill_the_rest() {
  if (kills_++ == 0) {
    if (live() > 0) {
      say(fmt::format("killing what did not end in {} s: PE {}", kGrace.count() / 1000,
                      running_pes()));
    }
    signal_all(SIGKILL);
    kill_at_ = Deadline::after(kGrace);
    return;
  }
  kill_at_ = Deadline::never();
  for (auto& group : groups_) {
    if (!group->finished()) group->abandon();
  }
}

void Job::end_job(int code, const std::string& reason) {
  if (exit_code_ != 0) return;
  exit_code_ = code;
  if (stopping_) return;
  say(live() > 0 ? reason + "; ending the other PEs" : reason);
  signal_all(SIGTERM);
  begin_stop();
}

void Job::begin_stop() {
  if (stopping_) return;
  stopping_ = true;
  limit_ = Deadline::never();
  kill_at_ = Deadline::after(kGrace);
  // A stopped process would not see SIGTERM.
  signal_all(SIGCONT);
}

void Job::signal_all(int number) {
  for (auto& group : groups_) group->signal(number);
}

int Job::live() const {
  return static_cast<int>(std::count(running_.begin(), running_.end(), true));
}

std::string Job::running_pes() const {
  std::string text;
  for (size_t pe = 0; pe < running_.size(); ++pe) {
    if (running_[pe]) text += fmt::format("{}{}", text.empty() ? "" : ", ", pe);
  }
  return text;
}

}  // namespace symm::launcher
