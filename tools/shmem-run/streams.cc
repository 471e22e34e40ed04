#include "shmem-run/streams.h"

#include <fcntl.h>
#include <poll.h>
#include <unistd.h>

#include <cerrno>

namespace symm::launcher {
namespace {

constexpr size_t kLongestLine = 64 * 1024;

}  // namespace

bool write_all(int fd, std::string_view text) {
  while (!text.empty()) {
    ssize_t written = ::write(fd, text.data(), text.size());
    if (written > 0) {
      text.remove_prefix(static_cast<size_t>(written));
    } else if (errno == EAGAIN) {
      // Someone made the shared terminal or pipe non-blocking.
      pollfd ready = {fd, POLLOUT, 0};
      ::poll(&ready, 1, -1);
    } else if (errno != EINTR) {
      return false;
    }
  }
  return true;
}

PrefixedStream::PrefixedStream(UniqueFd source, int target, std::string prefix)
    : source_(std::move(source)), target_(target), prefix_(std::move(prefix)) {
  ::fcntl(source_.get(), F_SETFL, O_NONBLOCK);
}

bool PrefixedStream::pump() {
  char chunk[16 * 1024];
  ssize_t got = ::read(source_.get(), chunk, sizeof(chunk));
  if (got > 0) {
    pending_.append(chunk, static_cast<size_t>(got));
    return copy_lines(false);
  }
  if (got < 0 && (errno == EAGAIN || errno == EINTR)) return true;
  source_.reset();
  return copy_lines(true);
}

bool PrefixedStream::drain() {
  while (open()) {
    pollfd ready = {source_.get(), POLLIN, 0};
    // A process that left the group may still hold the other end: what is there now is enough.
    if (::poll(&ready, 1, 0) <= 0) break;
    if (!pump()) return false;
  }
  source_.reset();
  return copy_lines(true);
}

bool PrefixedStream::copy_lines(bool last) {
  size_t from = 0;
  std::string out;
  for (;;) {
    size_t end = pending_.find('\n', from);
    size_t length = end == std::string::npos ? pending_.size() - from : end - from;
    bool cut = end == std::string::npos && (last || length >= kLongestLine);
    if (length == 0 && end == std::string::npos) break;
    if (end == std::string::npos && !cut) break;
    out += prefix_;
    out.append(pending_, from, length);
    out += '\n';
    from += length + (end == std::string::npos ? 0 : 1);
  }
  pending_.erase(0, from);
  return out.empty() || write_all(target_, out);
}

void TerminalInput::connect(UniqueFd pipe_to_pe0) {
  sink_ = std::move(pipe_to_pe0);
  ::fcntl(sink_.get(), F_SETFL, O_NONBLOCK);
}

int TerminalInput::read_fd() const {
  if (!sink_.valid() || ended_ || !pending_.empty()) return -1;
  // In the background a read would stop the launcher.
  if (::tcgetpgrp(STDIN_FILENO) != ::getpgrp()) return -1;
  return STDIN_FILENO;
}

int TerminalInput::write_fd() const {
  return sink_.valid() && !pending_.empty() ? sink_.get() : -1;
}

void TerminalInput::pump_read() {
  char chunk[4096];
  ssize_t got = ::read(STDIN_FILENO, chunk, sizeof(chunk));
  if (got > 0) {
    pending_.assign(chunk, static_cast<size_t>(got));
    pump_write();
  } else if (got == 0 || errno != EINTR) {
    ended_ = true;
    sink_.reset();
  }
}

void TerminalInput::pump_write() {
  ssize_t written = ::write(sink_.get(), pending_.data(), pending_.size());
  if (written > 0) {
    pending_.erase(0, static_cast<size_t>(written));
  } else if (errno != EAGAIN && errno != EINTR) {
    // PE 0 closed its input or ended.
    sink_.reset();
    pending_.clear();
  }
}

}  // namespace symm::launcher
