#include "base/trace.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <time.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <map>
#include <mutex>
#include <vector>

#include "base/config.h"
#include "base/unique_fd.h"

namespace symm::trace {
namespace {

// What a process keeps at most; later spans are counted only.
constexpr size_t kMostSpans = 1'000'000;
constexpr std::string_view kEnd = "\n]\n";

struct Record {
  uint64_t begin_ns;
  uint64_t end_ns;
  const char* kind;
  std::string name;
  Details details;
  int row;
};

struct Recorder {
  std::mutex mutex;
  // Below: under the mutex.
  std::string path;
  int pe = 0;
  int users = 0;
  std::map<std::string, int> rows;
  std::vector<std::string> names;  // of the rows
  std::vector<Record> records;
  uint64_t dropped = 0;
  size_t rows_written = 0;
  int threads = 0;
};

// Never destroyed: threads may still record while the process ends.
Recorder& recorder() {
  static auto* one = new Recorder;
  return *one;
}

thread_local int t_row = -1;

int row_locked(Recorder& r, const std::string& name) {
  auto [at, made] = r.rows.try_emplace(name, static_cast<int>(r.names.size()));
  if (made) r.names.push_back(name);
  return at->second;
}

void append_text(std::string& out, std::string_view text) {
  out += '"';
  for (const char c : text) {
    if (c == '"' || c == '\\') {
      out += '\\';
      out += c;
    } else if (static_cast<unsigned char>(c) < 0x20 || static_cast<unsigned char>(c) > 0x7e) {
      out += '?';
    } else {
      out += c;
    }
  }
  out += '"';
}

void append_metadata(std::string& out, const Recorder& r, const char* what, int row,
                     std::string_view name) {
  out += fmt::format(",\n{{\"ph\":\"M\",\"name\":\"{}\",\"pid\":{},\"tid\":{},\"args\":{{\"name\":",
                     what, r.pe, row);
  append_text(out, name);
  out += "}}";
}

void append_span(std::string& out, const Recorder& r, const Record& record) {
  const uint64_t length = record.end_ns - record.begin_ns;
  out += fmt::format(
      ",\n{{\"ph\":\"X\",\"pid\":{},\"tid\":{},\"ts\":{}.{:03},\"dur\":{}.{:03},\"cat\":\"{}\","
      "\"name\":",
      r.pe, record.row, record.begin_ns / 1000, record.begin_ns % 1000, length / 1000,
      length % 1000, record.kind);
  append_text(out, record.name);
  if (record.details.peer >= 0 || record.details.bytes >= 0) {
    out += ",\"args\":{";
    if (record.details.peer >= 0) out += fmt::format("\"peer\":{}", record.details.peer);
    if (record.details.bytes >= 0) {
      out +=
          fmt::format("{}\"bytes\":{}", record.details.peer >= 0 ? "," : "", record.details.bytes);
    }
    out += '}';
  }
  out += '}';
}

// Everything not yet written, as elements that each follow a comma.
std::string take_text(Recorder& r) {
  std::string out;
  if (r.rows_written == 0) {
    append_metadata(out, r, "process_name", 0, fmt::format("PE {}", r.pe));
  }
  for (; r.rows_written < r.names.size(); ++r.rows_written) {
    append_metadata(out, r, "thread_name", static_cast<int>(r.rows_written),
                    r.names[r.rows_written]);
  }
  for (const Record& record : r.records) append_span(out, r, record);
  if (r.dropped != 0) {
    append_metadata(out, r, "process_labels", 0,
                    fmt::format("{} spans are missing: a process keeps {}", r.dropped, kMostSpans));
  }
  r.records.clear();
  r.dropped = 0;
  return out;
}

Status io_error(const std::string& path, const char* what) {
  return SYMM_ERROR(kInternal, "SHMEM_TRACE={}: {}: {}", path, what, std::strerror(errno));
}

Status write_at(int fd, off_t offset, std::string_view text, const std::string& path) {
  while (!text.empty()) {
    const ssize_t written = ::pwrite(fd, text.data(), text.size(), offset);
    if (written < 0) {
      if (errno == EINTR) continue;
      return io_error(path, "write");
    }
    text.remove_prefix(static_cast<size_t>(written));
    offset += written;
  }
  return {};
}

// Puts the elements behind those in the file, whose closing bracket moves.
Status append(const std::string& path, std::string elements) {
  UniqueFd fd(::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0644));
  if (fd.get() < 0) return io_error(path, "open");
  if (::flock(fd.get(), LOCK_EX) != 0) return io_error(path, "lock");  // until fd is closed
  const off_t size = ::lseek(fd.get(), 0, SEEK_END);
  if (size < 0) return io_error(path, "size");
  elements += kEnd;
  const auto end = static_cast<off_t>(kEnd.size());
  if (size > end) return write_at(fd.get(), size - end, elements, path);
  elements[0] = '[';  // instead of the comma
  return write_at(fd.get(), 0, elements, path);
}

}  // namespace

std::atomic<bool> g_on{false};

uint64_t now_ns() {
  timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return static_cast<uint64_t>(now.tv_sec) * 1'000'000'000u + static_cast<uint64_t>(now.tv_nsec);
}

Status start(int pe, bool new_job) {
  const std::string path = config::text("SHMEM_TRACE");
  if (path.empty()) return {};
  Recorder& r = recorder();
  std::lock_guard lock(r.mutex);
  if (pe == 0 && new_job && r.users == 0) {
    UniqueFd fd(::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644));
    if (fd.get() < 0) return io_error(path, "open");
  }
  if (r.users++ == 0) {
    r.path = path;
    r.pe = pe;
  }
  g_on.store(true, std::memory_order_relaxed);
  return {};
}

Status finish() {
  Recorder& r = recorder();
  std::lock_guard lock(r.mutex);
  if (r.users == 0) return {};
  if (--r.users == 0) g_on.store(false, std::memory_order_relaxed);
  Status status = append(r.path, take_text(r));
  if (r.users == 0) r.rows_written = 0;  // the next job has a file, or a PE number, of its own
  return status;
}

int row(const std::string& name) {
  Recorder& r = recorder();
  std::lock_guard lock(r.mutex);
  return row_locked(r, name);
}

std::string row_name(int row) {
  Recorder& r = recorder();
  std::lock_guard lock(r.mutex);
  return row >= 0 && static_cast<size_t>(row) < r.names.size() ? r.names[static_cast<size_t>(row)]
                                                               : std::string();
}

int own_row() {
  if (t_row < 0) {
    Recorder& r = recorder();
    std::lock_guard lock(r.mutex);
    t_row = row_locked(r, fmt::format("thread {}", r.threads++));
  }
  return t_row;
}

RowScope::RowScope(int row) : before_(t_row) {
  if (row >= 0) t_row = row;
}

RowScope::~RowScope() { t_row = before_; }

void add(int row, const char* kind, std::string name, uint64_t begin_ns, uint64_t end_ns,
         Details details) {
  Recorder& r = recorder();
  std::lock_guard lock(r.mutex);
  if (r.users == 0) return;  // it ended after the last finish()
  if (r.records.size() >= kMostSpans) {
    ++r.dropped;
    return;
  }
  r.records.push_back({begin_ns, end_ns, kind, std::move(name), details, row});
}

void Span::begin(const char* kind, const char* name, int row, Details details) {
  kind_ = kind;
  name_ = name;
  row_ = row >= 0 ? row : own_row();
  details_ = details;
  begin_ns_ = now_ns();
}

void Span::end() { add(row_, kind_, name_, begin_ns_, now_ns(), details_); }

}  // namespace symm::trace
