#include "bootstrap/pmix/pmi1_client.h"

#include <poll.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>

#include "base/config.h"

namespace symm::bootstrap {
namespace {

constexpr size_t kMaxLine = 64 << 10;
constexpr size_t kMinValue = 128;
constexpr const char* kDigits = "0123456789abcdef";

std::string to_hex(const std::string& bytes) {
  std::string text;
  text.reserve(bytes.size() * 2);
  for (char byte : bytes) {
    text += kDigits[static_cast<unsigned char>(byte) >> 4];
    text += kDigits[static_cast<unsigned char>(byte) & 15];
  }
  return text;
}

int digit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  return -1;
}

Result<std::string> from_hex(const std::string& text) {
  std::string bytes;
  for (size_t i = 0; i + 1 < text.size(); i += 2) {
    int high = digit(text[i]);
    int low = digit(text[i + 1]);
    if (high < 0 || low < 0) return SYMM_ERROR(kBootstrap, "PMI value '{}' is not ours", text);
    bytes += static_cast<char>(high << 4 | low);
  }
  if (text.size() % 2 != 0) return SYMM_ERROR(kBootstrap, "PMI value '{}' is cut", text);
  return bytes;
}

}  // namespace

std::map<std::string, std::string> parse_pmi1_line(const std::string& line) {
  std::map<std::string, std::string> words;
  std::string* last = nullptr;
  for (size_t at = 0; at < line.size();) {
    size_t end = std::min(line.find(' ', at), line.size());
    std::string word = line.substr(at, end - at);
    at = end + 1;
    if (word.empty()) continue;
    size_t equals = word.find('=');
    if (equals != std::string::npos) {
      last = &(words[word.substr(0, equals)] = word.substr(equals + 1));
    } else if (last != nullptr) {
      *last += " " + word;
    }
  }
  return words;
}

Result<std::shared_ptr<Pmi1Client>> Pmi1Client::open(int fd, int pe, int n_pes, Deadline deadline) {
  std::shared_ptr<Pmi1Client> client(new Pmi1Client(fd, pe, n_pes));
  struct stat info = {};
  if (::fstat(fd, &info) != 0 || !S_ISSOCK(info.st_mode)) {
    return SYMM_ERROR(kBootstrap,
                      "PMI_FD={} is not an open socket in this process; a program between the "
                      "launcher and this one has closed it: start with shmem-run, or set "
                      "SHMEM_BOOTSTRAP=tcp://host:port of PE 0",
                      fd);
  }
  client->device_ = info.st_dev;
  client->inode_ = info.st_ino;
  SYMM_TRY(client->hello(deadline));
  return client;
}

Status Pmi1Client::hello(Deadline deadline) {
  std::lock_guard lock(mutex_);
  SYMM_TRY(std::move(
      ask("cmd=init pmi_version=1 pmi_subversion=1", "response_to_init", deadline).status()));
  SYMM_ASSIGN(Words maxes, ask("cmd=get_maxes", "maxes", deadline));
  auto limit = config::parse_integer(maxes["vallen_max"], kMinValue, kMaxLine);
  SYMM_TRY(std::move(limit.status()).with_context("PMI vallen_max"));
  // Two digits a byte, and room for the end of the string.
  value_limit_ = (static_cast<size_t>(limit.value()) - 2) / 2;
  SYMM_ASSIGN(Words names, ask("cmd=get_my_kvsname", "my_kvsname", deadline));
  name_ = names["kvsname"];
  if (name_.empty()) return SYMM_ERROR(kBootstrap, "the PMI server gives no key space");
  return {};
}

bool Pmi1Client::same_socket() const {
  struct stat info = {};
  return ::fstat(fd_, &info) == 0 && info.st_dev == device_ && info.st_ino == inode_;
}

// An MPI library in this process says goodbye for the whole process, and closes the socket.
Pmi1Client::~Pmi1Client() {
  std::lock_guard lock(mutex_);
  if (name_.empty() || !same_socket()) return;
  // The answer is only waited for so that the server has taken the goodbye before the socket
  // closes; at this point there is nobody to tell that it did not come.
  if (send("cmd=finalize").ok()) {
    [[maybe_unused]] auto answer = receive(Deadline::after_seconds(2));
  }
}

Status Pmi1Client::send(const std::string& line) {
  std::string text = line + "\n";
  for (size_t sent = 0; sent < text.size();) {
    ssize_t count = ::send(fd_, text.data() + sent, text.size() - sent, MSG_NOSIGNAL);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) {
      return SYMM_ERROR(kBootstrap, "the PMI server of the launcher is gone: {}",
                        ::strerror(errno));
    }
    sent += static_cast<size_t>(count);
  }
  return {};
}

Result<std::string> Pmi1Client::receive(Deadline deadline) {
  while (true) {
    size_t end = buffer_.find('\n');
    if (end != std::string::npos) {
      std::string line = buffer_.substr(0, end);
      buffer_.erase(0, end + 1);
      return line;
    }
    if (buffer_.size() > kMaxLine) {
      return SYMM_ERROR(kBootstrap, "the PMI server sends a line without end");
    }
    pollfd wait{fd_, POLLIN, 0};
    int timeout = static_cast<int>(std::min<int64_t>(deadline.left().count(), 1000000));
    int ready = ::poll(&wait, 1, timeout);
    if (ready < 0 && errno == EINTR) continue;
    if (ready == 0) return SYMM_ERROR(kSmem, "no answer of the PMI server in time");
    char chunk[4096];
    ssize_t count = ::recv(fd_, chunk, sizeof(chunk), 0);
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) {
      return SYMM_ERROR(kBootstrap, "the PMI server of the launcher is gone: {}",
                        count == 0 ? "it closed the connection" : ::strerror(errno));
    }
    buffer_.append(chunk, static_cast<size_t>(count));
  }
}

Result<Pmi1Client::Words> Pmi1Client::ask(const std::string& request, const char* answer,
                                          Deadline deadline) {
  SYMM_TRY(send(request));
  SYMM_ASSIGN(std::string line, receive(deadline));
  Words words = parse_pmi1_line(line);
  std::string asked = request.substr(0, request.find(' '));
  if (words["cmd"] != answer) {
    return SYMM_ERROR(kBootstrap, "the PMI server answers '{}' to {}", line, asked);
  }
  auto code = words.find("rc");
  if (code != words.end() && code->second != "0") {
    return SYMM_ERROR(kBootstrap, "the PMI server refuses {}: rc={} {}", request, code->second,
                      words["msg"]);
  }
  return words;
}

Status Pmi1Client::put(const std::string& key, const std::string& value) {
  std::lock_guard lock(mutex_);
  std::string request =
      fmt::format("cmd=put kvsname={} key={}.{} value={}", name_, key, pe_, to_hex(value));
  return std::move(ask(request, "put_result", Deadline::after_seconds(60)).status());
}

Status Pmi1Client::fence(Deadline deadline) {
  std::lock_guard lock(mutex_);
  return std::move(ask("cmd=barrier_in", "barrier_out", deadline).status());
}

Result<std::string> Pmi1Client::get(int pe, const std::string& key, Deadline deadline) {
  std::lock_guard lock(mutex_);
  SYMM_ASSIGN(Words words, ask(fmt::format("cmd=get kvsname={} key={}.{}", name_, key, pe),
                               "get_result", deadline));
  return from_hex(words["value"]);
}

std::string Pmi1Client::missing(const std::string&) {
  return "some PEs did not arrive; PMI-1 does not tell which";
}

Status Pmi1Client::abort(int status) {
  // Without the lock: another thread may be waiting for an answer that never comes.
  SYMM_TRY(send(fmt::format("cmd=abort exitcode={}", status)));
  return {};
}

std::string Pmi1Client::describe() const {
  return fmt::format("PMI-1 server of the launcher, {} PEs; not encrypted", n_pes_);
}

}  // namespace symm::bootstrap
