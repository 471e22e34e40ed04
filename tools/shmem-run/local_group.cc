#include "shmem-run/local_group.h"

#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

#include <cerrno>

#include "shmem-run/listener.h"
#include "shmem-run/options.h"

namespace symm::launcher {
namespace {

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

}  // namespace

Status make_pipe(UniqueFd* read_end, UniqueFd* write_end) {
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) return SYMM_ERROR(kInternal, "no pipe: {}", ::strerror(errno));
  read_end->reset(ends[0]);
  write_end->reset(ends[1]);
  return {};
}

LocalGroup::~LocalGroup() {
  signal(SIGKILL);
  for (Pe& one : members_) one.child.reap_killed();
}

Status LocalGroup::open() {
  if (setup_.bind_to_core) processors_ = usable_processors();
  if (pes().front() != 0) return {};
  SYMM_ASSIGN(Listener listener, listen_for(setup_.others, setup_.address));
  listener_ = std::move(listener.fd);
  owner_->on_address(listener.address);
  return {};
}

Status LocalGroup::begin(const std::string& address) {
  members_.reserve(pes().size());
  for (size_t i = 0; i < pes().size(); ++i) SYMM_TRY(start_pe(i, address));
  // From now on only PE 0 holds the socket, so that the port is free when PE 0 ends.
  listener_.reset();
  return {};
}

Status LocalGroup::capture(int pe, int stream, UniqueFd* write_end,
                           std::unique_ptr<OutputPipe>* pipe) {
  UniqueFd read_end;
  SYMM_TRY(make_pipe(&read_end, write_end));
  *pipe = std::make_unique<OutputPipe>(
      std::move(read_end),
      [this, pe, stream](std::string_view data) { owner_->on_output(pe, stream, data); });
  return {};
}

Status LocalGroup::start_pe(size_t index, const std::string& address) {
  const int pe = pes()[index];
  ChildSetup child;
  for (const std::string& argument : setup_.command) {
    child.command.push_back(substitute(argument, pe, setup_.n_pes, address));
  }
  child.environment = setup_.environment;
  child.environment.push_back(fmt::format("SHMEM_PE={}", pe));
  child.environment.push_back(fmt::format("SHMEM_NPES={}", setup_.n_pes));
  child.environment.push_back(fmt::format("SHMEM_LOCAL_PES={}", pes().size()));
  child.environment.push_back(fmt::format("SHMEM_BOOTSTRAP={}", address));
  child.environment.push_back(fmt::format("SHMEM_JOB_SECRET={}", setup_.secret));
  child.environment.push_back(fmt::format("SHMEM_LISTEN_FD={}", pe == 0 ? listener_.get() : -1));
  if (pe == 0) {
    child.keep_fd = listener_.get();
    child.stdin_fd = setup_.stdin_fd;
  }
  if (!processors_.empty()) child.processor = processors_[index % processors_.size()];
  Pe member{pe, {}, nullptr, nullptr};
  UniqueFd out;
  UniqueFd error;
  if (setup_.capture_output) {
    SYMM_TRY(capture(pe, STDOUT_FILENO, &out, &member.out));
    SYMM_TRY(capture(pe, STDERR_FILENO, &error, &member.error));
    child.stdout_fd = out.get();
    child.stderr_fd = error.get();
  }
  SYMM_ASSIGN(member.child, Child::start(child));
  members_.push_back(std::move(member));
  ++live_;
  return {};
}

void LocalGroup::add_polls(std::vector<pollfd>& entries) {
  polled_.clear();
  for (Pe& one : members_) {
    for (OutputPipe* pipe : {one.out.get(), one.error.get()}) {
      if (pipe == nullptr || !pipe->open()) continue;
      entries.push_back({pipe->fd(), POLLIN, 0});
      polled_.push_back(pipe);
    }
  }
}

void LocalGroup::handle(const pollfd* entries, size_t count) {
  for (size_t i = 0; i < count; ++i) {
    if (entries[i].revents != 0) polled_[i]->pump();
  }
}

void LocalGroup::check() {
  for (Pe& one : members_) {
    auto status = one.child.try_reap();
    if (!status) continue;
    --live_;
    if (one.out != nullptr) one.out->drain();
    if (one.error != nullptr) one.error->drain();
    owner_->on_exit(one.number, *status);
  }
}

void LocalGroup::signal(int number) {
  for (const Pe& one : members_) one.child.signal(number);
}

}  // namespace symm::launcher
