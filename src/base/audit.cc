#include "base/audit.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstring>
#include <ctime>
#include <string>

#include "base/config.h"
#include "base/log.h"
#include "base/unique_fd.h"

namespace symm::audit {
namespace {

constexpr size_t kMaxText = 1024;  // of a subject or reason; peers have a say in both

const char* name_of(Event event) {
  switch (event) {
    case Event::kRefusedConnection:
      return "refused-connection";
    case Event::kTlsOff:
      return "tls-off";
    case Event::kCertificateExpiring:
      return "certificate-expiring";
    case Event::kCertificateExpired:
      return "certificate-expired";
    case Event::kCertificateRefused:
      return "certificate-refused";
    case Event::kSecretRefused:
      return "secret-refused";
    case Event::kJoinFailed:
      return "join-failed";
  }
  return "unknown";
}

std::string time_text() {
  using std::chrono::system_clock;
  const auto now = system_clock::now();
  const std::time_t seconds = system_clock::to_time_t(now);
  const auto ms = std::chrono::duration_cast<std::chrono::milliseconds>(now.time_since_epoch());
  tm parts{};
  ::gmtime_r(&seconds, &parts);
  char text[32];
  std::strftime(text, sizeof(text), "%Y-%m-%dT%H:%M:%S", &parts);
  return fmt::format("{}.{:03}Z", text, ms.count() % 1000);
}

Result<UniqueFd> open_file(const std::string& path) {
  if (path.front() != '/') {
    return SYMM_ERROR(kInvalidValue, "SHMEM_AUDIT_LOG={}: give an absolute path", path);
  }
  UniqueFd fd(::open(path.c_str(),
                     O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0600));
  if (!fd.valid()) {
    return SYMM_ERROR(kInvalidValue, "SHMEM_AUDIT_LOG={} cannot be opened for writing: {}", path,
                      std::strerror(errno));
  }
  struct stat info = {};
  if (::fstat(fd.get(), &info) != 0 || !S_ISREG(info.st_mode)) {
    return SYMM_ERROR(kInvalidValue, "SHMEM_AUDIT_LOG={} is not a regular file", path);
  }
  return fd;
}

}  // namespace

std::string json_string(std::string_view text) {
  std::string out = "\"";
  for (char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\') {
      out += '\\';
      out += c;
    } else if (byte < 0x20 || byte >= 0x7F) {
      out += fmt::format("\\u{:04x}", byte);
    } else {
      out += c;
    }
  }
  return out + '"';
}

void write(Event event, std::string_view subject, std::string_view reason, uint64_t count) {
  const std::string path = config::text("SHMEM_AUDIT_LOG");
  if (path.empty()) return;
  auto fd = open_file(path);
  if (!fd.ok()) {
    SYMM_LOG(kWarn, "{}", fd.status().text());
    return;
  }
  const std::string line = fmt::format(
      "{{\"time\":\"{}\",\"pid\":{},\"event\":\"{}\",\"subject\":{},\"reason\":{},\"count\":{}}}\n",
      time_text(), ::getpid(), name_of(event), json_string(subject.substr(0, kMaxText)),
      json_string(reason.substr(0, kMaxText)), count);
  if (::write(fd.value().get(), line.data(), line.size()) != static_cast<ssize_t>(line.size())) {
    SYMM_LOG(kWarn, "SHMEM_AUDIT_LOG={}: {}", path, std::strerror(errno));
  }
}

Status check() {
  const std::string path = config::text("SHMEM_AUDIT_LOG");
  if (path.empty()) return {};
  return std::move(open_file(path).status());
}

}  // namespace symm::audit
