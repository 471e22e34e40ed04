#include "shmem-run/job.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <string.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>

namespace symm::launcher {
namespace {

// How long PEs may take to end after SIGTERM before they are killed.
constexpr std::chrono::milliseconds kGrace(2000);
// How long a failure waits for the failure that caused it.
constexpr std::chrono::milliseconds kSettle(100);
constexpr int kTimeoutCode = 124;
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

std::vector<int> usable_processors() {
  std::vector<int> list;
  cpu_set_t set;
  CPU_ZERO(&set);
  if (::sched_getaffinity(0, sizeof(set), &set) != 0) return list;
  for (int i = 0; i < CPU_SETSIZE; ++i) {
    if (CPU_ISSET(static_cast<size_t>(i), &set)) list.push_back(i);
  }
  return list;
}

Status make_pipe(UniqueFd* read_end, UniqueFd* write_end) {
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) return SYMM_ERROR(kInternal, "no pipe: {}", ::strerror(errno));
  read_end->reset(ends[0]);
  write_end->reset(ends[1]);
  return {};
}

}  // namespace

Job::~Job() {
  signal_all(SIGKILL);
  // SIGKILL cannot be refused, so this ends.
  while (live_ > 0) {
    wait_for_events();
    reap();
  }
}

Status Job::start() {
  SYMM_TRY(block_signals());
  SYMM_TRY(listen());
  SYMM_ASSIGN(std::string secret, make_secret());
  if (options_.bind_to_core) processors_ = usable_processors();
  if (options_.timeout_s > 0) limit_ = Deadline::after_seconds(options_.timeout_s);
  for (int pe = 0; pe < options_.n_pes; ++pe) SYMM_TRY(start_pe(pe, secret));
  // From now on only PE 0 holds the socket, so that the port is free when PE 0 ends.
  listener_.reset();
  return {};
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

// PE 0 inherits a socket that already listens: no other process can take the port between our
// choice and its start.
Status Job::listen() {
  listener_.reset(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_in local = {};
  local.sin_family = AF_INET;
  local.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof(local);
  auto* generic = reinterpret_cast<sockaddr*>(&local);
  const int on = 1;
  // Reuse is set after bind: the port shall be nobody else's now, but PE 0 may bind it again later,
  // when connections of this socket still linger.
  if (!listener_.valid() || ::bind(listener_.get(), generic, size) != 0 ||
      ::setsockopt(listener_.get(), SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on)) != 0 ||
      ::listen(listener_.get(), SOMAXCONN) != 0 ||
      ::getsockname(listener_.get(), generic, &size) != 0) {
    return SYMM_ERROR(kBootstrap, "no free port on 127.0.0.1: {}", ::strerror(errno));
  }
  address_ = fmt::format("tcp://127.0.0.1:{}", ntohs(local.sin_port));
  return {};
}

Status Job::redirect_output(int pe, ChildSetup* setup, UniqueFd* out, UniqueFd* error) {
  UniqueFd read_end;
  SYMM_TRY(make_pipe(&read_end, out));
  setup->stdout_fd = out->get();
  std::string prefix = fmt::format("[{}] ", pe);
  streams_.push_back(std::make_unique<PrefixedStream>(std::move(read_end), STDOUT_FILENO, prefix));
  SYMM_TRY(make_pipe(&read_end, error));
  setup->stderr_fd = error->get();
  streams_.push_back(std::make_unique<PrefixedStream>(std::move(read_end), STDERR_FILENO, prefix));
  return {};
}

Status Job::start_pe(int pe, const std::string& secret) {
  ChildSetup setup;
  for (const std::string& argument : options_.command) {
    setup.command.push_back(substitute(argument, pe, options_.n_pes, address_));
  }
  setup.environment = {fmt::format("SHMEM_PE={}", pe),
                       fmt::format("SHMEM_NPES={}", options_.n_pes),
                       fmt::format("SHMEM_LOCAL_PES={}", options_.n_pes),
                       fmt::format("SHMEM_BOOTSTRAP={}", address_),
                       fmt::format("SHMEM_JOB_SECRET={}", secret),
                       fmt::format("SHMEM_LISTEN_FD={}", pe == 0 ? listener_.get() : -1)};
  UniqueFd input;
  UniqueFd input_writer;
  if (pe == 0) {
    setup.keep_fd = listener_.get();
    setup.stdin_fd = STDIN_FILENO;
    if (::isatty(STDIN_FILENO) != 0) {
      SYMM_TRY(make_pipe(&input, &input_writer));
      setup.stdin_fd = input.get();
    }
  }
  if (!processors_.empty()) {
    setup.processor = processors_[static_cast<size_t>(pe) % processors_.size()];
  }
  UniqueFd out;
  UniqueFd error;
  if (options_.prefix_output) SYMM_TRY(redirect_output(pe, &setup, &out, &error));
  SYMM_ASSIGN(Child child, Child::start(setup));
  children_.push_back(std::move(child));
  ++live_;
  if (input_writer.valid()) terminal_.connect(std::move(input_writer));
  return {};
}

int Job::run() {
  while (live_ > 0) {
    wait_for_events();
    handle_signals();
    reap();
    check_limits();
  }
  for (auto& stream : streams_) {
    if (stream->open()) stream->drain();
  }
  return exit_code_;
}

int Job::poll_timeout_ms() const {
  auto left = std::min({limit_.left(), kill_at_.left(), settled_at_.left()});
  constexpr std::chrono::milliseconds kLongest(3600 * 1000);
  return static_cast<int>(std::min(left, kLongest).count());
}

void Job::wait_for_events() {
  std::vector<pollfd> wanted = {{signals_.get(), POLLIN, 0}};
  // At most one of the two is a descriptor: pending input is passed on before more is read.
  const int read_fd = terminal_.read_fd();
  const int write_fd = terminal_.write_fd();
  if (read_fd >= 0) wanted.push_back({read_fd, POLLIN, 0});
  if (write_fd >= 0) wanted.push_back({write_fd, POLLOUT, 0});
  const size_t first_stream = wanted.size();
  std::vector<PrefixedStream*> polled;
  for (auto& stream : streams_) {
    if (!stream->open()) continue;
    wanted.push_back({stream->fd(), POLLIN, 0});
    polled.push_back(stream.get());
  }
  if (::poll(wanted.data(), wanted.size(), poll_timeout_ms()) <= 0) return;
  if (read_fd >= 0 && wanted[1].revents != 0) terminal_.pump_read();
  if (write_fd >= 0 && wanted[1].revents != 0) terminal_.pump_write();
  for (size_t i = 0; i < polled.size(); ++i) {
    if (wanted[first_stream + i].revents != 0) pump(*polled[i]);
  }
}

void Job::pump(PrefixedStream& stream) {
  if (!stream.pump()) end_job(128 + SIGPIPE, "nobody reads the output any more");
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

void Job::reap() {
  for (size_t pe = 0; pe < children_.size(); ++pe) {
    auto status = children_[pe].try_reap();
    if (!status) continue;
    --live_;
    if (*status != 0) note_failure(static_cast<int>(pe), *status);
  }
  if (culprit_ >= 0 && live_ == 0) blame();
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
  if (live_ == 0) return;
  if (!stopping_ && limit_.expired()) {
    end_job(kTimeoutCode, fmt::format("the time limit of {} s is over; still running: PE {}",
                                      options_.timeout_s, running_pes()));
  }
  if (stopping_ && !killed_ && kill_at_.expired()) {
    say(fmt::format("killing what did not end in {} s: PE {}", kGrace.count() / 1000,
                    running_pes()));
    signal_all(SIGKILL);
    killed_ = true;
    kill_at_ = Deadline::never();
  }
}

void Job::end_job(int code, const std::string& reason) {
  if (exit_code_ != 0) return;
  exit_code_ = code;
  if (stopping_) return;
  say(live_ > 0 ? reason + "; ending the other PEs" : reason);
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
  for (const Child& child : children_) child.signal(number);
}

std::string Job::running_pes() const {
  std::string text;
  for (size_t pe = 0; pe < children_.size(); ++pe) {
    if (children_[pe].running()) text += fmt::format("{}{}", text.empty() ? "" : ", ", pe);
  }
  return text;
}

}  // namespace symm::launcher
