#include "shmem-run/part.h"

#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include <cerrno>

namespace symm::launcher {
namespace {

constexpr double kBeatSeconds = 4;
constexpr int kSignals[] = {SIGCHLD, SIGINT, SIGTERM, SIGHUP};
constexpr int kCannotRun = 127;

}  // namespace

Status Part::prepare() {
  sigset_t set;
  ::sigemptyset(&set);
  for (int number : kSignals) ::sigaddset(&set, number);
  ::sigprocmask(SIG_BLOCK, &set, nullptr);
  ::signal(SIGPIPE, SIG_IGN);
  signals_.reset(::signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK));
  if (!signals_.valid()) return SYMM_ERROR(kInternal, "no signalfd: {}", ::strerror(errno));
  return {};
}

int Part::run() {
  if (!write_all(STDOUT_FILENO, kGreeting)) return kCannotRun;
  beat_at_ = Deadline::after_seconds(kBeatSeconds);
  if (Status status = prepare(); !status.ok()) fail(status);
  while (!exit_code_) {
    wait_for_events();
    handle_signals();
    if (group_ != nullptr) group_->check();
    if (beat_at_.expired()) send(MessageKind::kBeat, 0, {});
    if (const size_t taken = input_.take_count(); taken > 0) {
      send(MessageKind::kTaken, static_cast<int>(taken), {});
    }
    if (!exit_code_ && begun_ && group_->finished()) exit_code_ = 0;
  }
  return *exit_code_;
}

void Part::wait_for_events() {
  std::vector<pollfd> entries = {
      {signals_.get(), POLLIN, 0}, {STDIN_FILENO, POLLIN, 0}, {input_.write_fd(), POLLOUT, 0}};
  const size_t fixed = entries.size();
  if (group_ != nullptr) group_->add_polls(entries);
  if (::poll(entries.data(), entries.size(), static_cast<int>(beat_at_.left().count())) <= 0) {
    return;
  }
  if (entries[2].revents != 0) input_.pump();
  if (group_ != nullptr) group_->handle(entries.data() + fixed, entries.size() - fixed);
  if (entries[1].revents != 0) receive();
}

void Part::receive() {
  char chunk[64 * 1024];
  const ssize_t got = ::read(STDIN_FILENO, chunk, sizeof(chunk));
  if (got < 0 && (errno == EINTR || errno == EAGAIN)) return;
  // The launcher or the way to it is gone.
  if (got <= 0) return end(kCannotRun);
  incoming_.append({chunk, static_cast<size_t>(got)});
  while (!exit_code_) {
    auto message = incoming_.next();
    if (!message.ok()) return fail(message.status());
    if (!message.value()) return;
    take(*message.value());
  }
}

void Part::take(const Message& message) {
  if (message.kind == MessageKind::kSetup && group_ == nullptr) {
    auto setup = decode_setup(message.text);
    Status status = setup.ok() ? set_up(setup.value()) : std::move(setup.status());
    if (!status.ok()) fail(status);
    return;
  }
  if (group_ == nullptr) return fail(SYMM_ERROR(kInvalidValue, "a message before the setup"));
  switch (message.kind) {
    case MessageKind::kBegin: {
      begun_ = true;
      Status status = group_->begin(message.text);
      input_end_.reset();
      if (!status.ok()) fail(status);
      return;
    }
    case MessageKind::kInput:
      if (message.text.empty()) {
        input_.end();
      } else {
        input_.offer(message.text);
      }
      return;
    case MessageKind::kSignal:
      return group_->signal(message.number);
    default:
      return fail(SYMM_ERROR(kInvalidValue, "a message that only parts send"));
  }
}

Status Part::set_up(const Setup& setup) {
  if (::chdir(setup.folder.c_str()) != 0) {
    return SYMM_ERROR(kLoad, "cannot enter the working folder {}: {}", setup.folder,
                      ::strerror(errno));
  }
  LocalSetup local;
  local.n_pes = setup.n_pes;
  local.pes.assign(setup.pes.begin(), setup.pes.end());
  local.command = setup.command;
  local.environment = setup.environment;
  local.secret = setup.secret;
  local.others = setup.others;
  local.address = setup.address;
  local.bind_to_core = setup.bind_to_core;
  local.capture_output = true;
  if (setup.pes.front() == 0) {
    UniqueFd writer;
    SYMM_TRY(make_pipe(&input_end_, &writer));
    input_.connect(std::move(writer));
    local.stdin_fd = input_end_.get();
  }
  group_ = std::make_unique<LocalGroup>(std::move(local), this);
  return group_->open();
}

void Part::handle_signals() {
  signalfd_siginfo info;
  while (::read(signals_.get(), &info, sizeof(info)) == sizeof(info)) {
    if (info.ssi_signo != SIGCHLD) end(128 + static_cast<int>(info.ssi_signo));
  }
}

void Part::send(MessageKind kind, int number, std::string_view text) {
  beat_at_ = Deadline::after_seconds(kBeatSeconds);
  if (!write_all(STDOUT_FILENO, encode(kind, number, text))) end(kCannotRun);
}

void Part::on_address(const std::string& address) { send(MessageKind::kAddress, 0, address); }

void Part::on_output(int pe, int stream, std::string_view data) {
  send(stream == STDOUT_FILENO ? MessageKind::kOutput : MessageKind::kErrorOutput, pe, data);
}

void Part::on_exit(int pe, int wait_status) {
  send(MessageKind::kExit, pe, std::to_string(wait_status));
}

void Part::on_failed(PeGroup&, const std::string& why) { fail(SYMM_ERROR(kInternal, "{}", why)); }

void Part::on_lost(PeGroup& group, const std::string& why) { on_failed(group, why); }

void Part::fail(const Status& status) {
  if (exit_code_) return;
  send(MessageKind::kFailed, 0, status.text());
  end(kCannotRun);
}

// The destructor of the group ends what runs.
void Part::end(int code) {
  if (!exit_code_) exit_code_ = code;
}

}  // namespace symm::launcher
