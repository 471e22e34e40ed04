#include "shmem-run/remote_group.h"

#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>

#include "shmem-run/local_group.h"

namespace symm::launcher {
namespace {

constexpr double kGreetingSeconds = 60;  // to log in and start the part
constexpr double kSilenceSeconds = 20;   // a part says something every 4 seconds
constexpr double kFarewellSeconds = 2;
constexpr size_t kMaxUnreadInput = size_t{64} << 10;

std::string own_path() {
  char path[4096];
  const ssize_t size = ::readlink("/proc/self/exe", path, sizeof(path));
  return size > 0 ? std::string(path, static_cast<size_t>(size)) : "shmem-run";
}

std::string quoted(const std::string& word) {
  const bool plain = !word.empty() && std::all_of(word.begin(), word.end(), [](unsigned char c) {
    return std::isalnum(c) != 0 ||
           std::string_view("_-./+:=@%").find(static_cast<char>(c)) != std::string_view::npos;
  });
  if (plain) return word;
  std::string out = "'";
  for (char c : word) out += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return out + "'";
}

}  // namespace

std::vector<std::string> agent_command(const std::vector<std::string>& agent,
                                       const std::string& host,
                                       const std::vector<std::string>& remote) {
  std::vector<std::string> out = agent;
  out.push_back(host);
  for (const std::string& word : remote) out.push_back(quoted(word));
  return out;
}

RemoteGroup::RemoteGroup(std::string host, std::vector<std::string> agent, Setup setup,
                         GroupOwner* owner)
    : PeGroup({setup.pes.begin(), setup.pes.end()}),
      host_(std::move(host)),
      agent_(std::move(agent)),
      setup_(std::move(setup)),
      owner_(owner) {}

RemoteGroup::~RemoteGroup() {
  agent_process_.signal(SIGKILL);
  agent_process_.reap_killed();
}

Status RemoteGroup::open() {
  UniqueFd agent_in;
  UniqueFd agent_out;
  SYMM_TRY(make_pipe(&agent_in, &to_part_));
  SYMM_TRY(make_pipe(&from_part_, &agent_out));
  ::fcntl(to_part_.get(), F_SETFL, O_NONBLOCK);
  ::fcntl(from_part_.get(), F_SETFL, O_NONBLOCK);
  ChildSetup child;
  child.command = agent_command(agent_, host_, {own_path(), "--part"});
  child.stdin_fd = agent_in.get();
  child.stdout_fd = agent_out.get();
  auto started = Child::start(child);
  if (!started.ok()) {
    from_part_.reset();
    return std::move(started.status())
        .with_context(fmt::format("host {}: the agent, see --agent", host_));
  }
  agent_process_ = std::move(started.value());
  silent_at_ = Deadline::after_seconds(kGreetingSeconds);
  send(MessageKind::kSetup, 0, encode(setup_));
  return {};
}

Status RemoteGroup::begin(const std::string& address) {
  begun_ = true;
  send(MessageKind::kBegin, 0, address);
  return {};
}

void RemoteGroup::send(MessageKind kind, int32_t number, std::string_view text) {
  if (!to_part_.valid()) return;
  outgoing_ += encode(kind, number, text);
  flush();
}

void RemoteGroup::flush() {
  while (!outgoing_.empty()) {
    const ssize_t sent = ::write(to_part_.get(), outgoing_.data(), outgoing_.size());
    if (sent > 0) {
      outgoing_.erase(0, static_cast<size_t>(sent));
    } else if (errno == EAGAIN) {
      return;
    } else if (errno != EINTR) {
      // The agent has closed its end: that shows on the other pipe, with what it still said.
      outgoing_.clear();
      to_part_.reset();
      return;
    }
  }
}

void RemoteGroup::add_polls(std::vector<pollfd>& entries) {
  entries.push_back({from_part_.get(), POLLIN, 0});
  entries.push_back({outgoing_.empty() ? -1 : to_part_.get(), POLLOUT, 0});
}

void RemoteGroup::handle(const pollfd* entries, size_t) {
  if (entries[1].revents != 0) flush();
  if (entries[0].revents != 0) receive();
}

void RemoteGroup::receive() {
  char chunk[64 * 1024];
  const ssize_t got = ::read(from_part_.get(), chunk, sizeof(chunk));
  if (got < 0 && (errno == EAGAIN || errno == EINTR)) return;
  if (got <= 0) return on_end_of_stream();
  if (through_) return;
  incoming_.append({chunk, static_cast<size_t>(got)});
  silent_at_ = Deadline::after_seconds(greeted_ ? kSilenceSeconds : kGreetingSeconds);
  take_messages();
}

void RemoteGroup::take_messages() {
  if (!greeted_) {
    auto passed = incoming_.pass_greeting();
    if (!passed.ok()) return lose(std::string(passed.status().text()));
    greeted_ = passed.value();
  }
  while (greeted_ && !through_) {
    auto message = incoming_.next();
    if (!message.ok())
      return lose("it sent a bad message: " + std::string(message.status().text()));
    if (!message.value()) return;
    take(*message.value());
  }
}

void RemoteGroup::take(const Message& message) {
  const bool mine = std::find(pes().begin(), pes().end(), message.number) != pes().end();
  switch (message.kind) {
    case MessageKind::kAddress:
      return owner_->on_address(message.text);
    case MessageKind::kOutput:
      if (mine) owner_->on_output(message.number, STDOUT_FILENO, message.text);
      return;
    case MessageKind::kErrorOutput:
      if (mine) owner_->on_output(message.number, STDERR_FILENO, message.text);
      return;
    case MessageKind::kExit:
      if (!mine) return;
      owner_->on_exit(message.number, std::atoi(message.text.c_str()));
      if (++exits_ == pes().size()) part_is_through();
      return;
    case MessageKind::kFailed:
      part_is_through();
      return owner_->on_failed(*this, fmt::format("host {}: {}", host_, message.text));
    case MessageKind::kTaken:
      unread_input_ -= std::min(unread_input_, static_cast<size_t>(std::max(message.number, 0)));
      return;
    default:
      return;
  }
}

// The end of its input tells the part that it may go.
void RemoteGroup::part_is_through() {
  through_ = true;
  to_part_.reset();
  outgoing_.clear();
  silent_at_ = Deadline::never();
  ended_by_ = Deadline::after_seconds(kFarewellSeconds);
}

void RemoteGroup::on_end_of_stream() {
  from_part_.reset();
  silent_at_ = Deadline::never();
  if (ended_by_.is_never()) ended_by_ = Deadline::after_seconds(kFarewellSeconds);
}

void RemoteGroup::check() {
  if (agent_process_.running()) {
    if (auto status = agent_process_.try_reap()) agent_status_ = *status;
  }
  // The pipe of a dead agent holds its last words, but nobody writes there any more.
  if (agent_status_ && from_part_.valid()) {
    pollfd ready = {from_part_.get(), POLLIN, 0};
    while (from_part_.valid() && ::poll(&ready, 1, 0) > 0) receive();
    if (from_part_.valid()) on_end_of_stream();
  }
  if (!through_ && !from_part_.valid() && (agent_status_ || ended_by_.expired())) {
    lose(agent_fate());
  }
  if (silent_at_.expired()) {
    lose(greeted_ ? fmt::format("nothing was heard of it for {:.0f} s", kSilenceSeconds)
                  : fmt::format("the agent ({}) did not start shmem-run there within {:.0f} s",
                                agent_.front(), kGreetingSeconds));
  }
  if (ended_by_.expired() && agent_process_.running()) agent_process_.signal(SIGKILL);
}

std::string RemoteGroup::agent_fate() const {
  const std::string agent = fmt::format("the agent ({})", agent_.front());
  const std::string what = agent_status_
                               ? fmt::format("{} {}", agent, describe_exit(*agent_status_))
                               : fmt::format("{} closed its connection", agent);
  if (greeted_) return what;
  return fmt::format(
      "{} before shmem-run ran there; is {} there too, and does \"{} {} true\" work?", what,
      own_path(), agent_.front(), host_);
}

int RemoteGroup::patience_ms() const {
  const auto left = std::min(silent_at_.left(), ended_by_.left());
  return static_cast<int>(std::min<int64_t>(left.count(), 3600 * 1000));
}

void RemoteGroup::lose(const std::string& why) {
  if (through_) return;
  abandon();
  owner_->on_lost(*this, fmt::format("host {} is lost: {}", host_, why));
}

void RemoteGroup::abandon() {
  through_ = true;
  silent_at_ = Deadline::never();
  to_part_.reset();
  outgoing_.clear();
  from_part_.reset();
  agent_process_.signal(SIGKILL);
}

void RemoteGroup::signal(int number) {
  const bool ends = number == SIGTERM || number == SIGINT || number == SIGHUP ||
                    number == SIGQUIT || number == SIGKILL;
  if (!begun_ && ends) return abandon();
  if (begun_ && !through_) send(MessageKind::kSignal, number, {});
}

bool RemoteGroup::ready() const {
  return begun_ && !through_ && unread_input_ < kMaxUnreadInput && outgoing_.empty();
}

void RemoteGroup::offer(std::string_view data) {
  unread_input_ += data.size();
  send(MessageKind::kInput, 0, data);
}

}  // namespace symm::launcher
