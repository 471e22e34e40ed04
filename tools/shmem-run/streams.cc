#include "shmem-run/streams.h"

#include <fcntl.h>
#include <poll.h>
#include <unistd.h>

#include <cerrno>

namespace symm::launcher {
namespace {

constexpr size_t kLongestLine = 64 * 1024;

void set_nonblocking(int fd) { ::fcntl(fd, F_SETFL, ::fcntl(fd, F_GETFL) | O_NONBLOCK); }

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

bool OutputCopy::take(std::string_view data) {
  if (prefix_.empty()) return write_all(target_, data);
  pending_.append(data);
  return copy_lines(false);
}

bool OutputCopy::copy_lines(bool last) {
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

OutputPipe::OutputPipe(UniqueFd source, Sink sink)
    : source_(std::move(source)), sink_(std::move(sink)) {
  set_nonblocking(source_.get());
}

void OutputPipe::pump() {
  char chunk[16 * 1024];
  ssize_t got = ::read(source_.get(), chunk, sizeof(chunk));
  if (got > 0) return sink_({chunk, static_cast<size_t>(got)});
  if (got < 0 && (errno == EAGAIN || errno == EINTR)) return;
  source_.reset();
  sink_({});
}

void OutputPipe::drain() {
  while (open()) {
    pollfd ready = {source_.get(), POLLIN, 0};
    // A process that left the group may still hold the other end: what is there now is enough.
    if (::poll(&ready, 1, 0) <= 0) break;
    pump();
  }
  if (!open()) return;
  source_.reset();
  sink_({});
}

void InputPipe::connect(UniqueFd pipe) {
  sink_ = std::move(pipe);
  set_nonblocking(sink_.get());
}

void InputPipe::offer(std::string_view data) {
  if (!sink_.valid()) {
    taken_ += data.size();
    return;
  }
  pending_.append(data);
  pump();
}

void InputPipe::end() {
  ending_ = true;
  if (pending_.empty()) sink_.reset();
}

void InputPipe::pump() {
  ssize_t written = ::write(sink_.get(), pending_.data(), pending_.size());
  if (written > 0) {
    pending_.erase(0, static_cast<size_t>(written));
    taken_ += static_cast<size_t>(written);
  } else if (errno != EAGAIN && errno != EINTR) {
    // PE 0 closed its input or ended.
    taken_ += pending_.size();
    pending_.clear();
    sink_.reset();
  }
  if (ending_ && pending_.empty()) sink_.reset();
}

size_t InputPipe::take_count() {
  const size_t count = taken_;
  taken_ = 0;
  return count;
}

int StandardInput::fd() const {
  if (ended_) return -1;
  if (::isatty(STDIN_FILENO) != 0 && ::tcgetpgrp(STDIN_FILENO) != ::getpgrp()) return -1;
  return STDIN_FILENO;
}

void StandardInput::pump(InputSink& sink) {
  char chunk[16 * 1024];
  ssize_t got = ::read(STDIN_FILENO, chunk, sizeof(chunk));
  if (got > 0) return sink.offer({chunk, static_cast<size_t>(got)});
  if (got < 0 && (errno == EINTR || errno == EAGAIN)) return;
  ended_ = true;
  sink.end();
}

}  // namespace symm::launcher
