// Status: what an operation returns when it can fail. One pointer; null means OK. A failure carries
// a code (the public aclshmem_error_code_t numbers), a text and the place that raised it. Threads:
// a Status belongs to one thread at a time. Ownership: the Status owns its record.
#pragma once

#include <fmt/format.h>

#include <memory>
#include <string>
#include <string_view>
#include <utility>

namespace symm {

enum class Code : int {
  kOk = 0,
  kInvalidParam = -1,
  kInvalidValue = -2,
  kSmem = -3,
  kInternal = -4,
  kNotInitialized = -5,
  kBootstrap = -6,
  kTimeout = -7,
  kNoMemory = -8,
  kLoad = -9,
  kInnerTimeout = -10,
  kUnloading = -11,
  kPeerLost = -12,
  kNotSupported = -100,
};

// The name of the code as users see it in messages, for example "TIMEOUT_ERROR".
const char* code_name(Code code);

class [[nodiscard]] Status {
 public:
  Status() = default;
  Status(Code code, std::string text, const char* file, int line);
  Status(Status&&) noexcept = default;
  Status& operator=(Status&&) noexcept = default;

  bool ok() const { return !record_; }
  Code code() const { return record_ ? record_->code : Code::kOk; }
  std::string_view text() const { return record_ ? std::string_view(record_->text) : "ok"; }
  const char* file() const { return record_ ? record_->file : ""; }
  int line() const { return record_ ? record_->line : 0; }

  // Adds what the caller was doing in front of the text: "context: text".
  Status&& with_context(std::string_view context) &&;
  // A second record with the same content, for handing one failure to several waiters.
  Status clone() const;
  // "TIMEOUT_ERROR (-7): text [file:line]"
  std::string to_string() const;

 private:
  struct Record {
    Code code;
    std::string text;
    const char* file;
    int line;
  };
  std::unique_ptr<Record> record_;
};

// Either a value or the Status that explains why there is none.
template <typename T>
class [[nodiscard]] Result {
 public:
  Result(T value) : value_(std::move(value)) {}          // NOLINT: implicit by intent
  Result(Status status) : status_(std::move(status)) {}  // NOLINT: implicit by intent
  bool ok() const { return status_.ok(); }
  Status& status() { return status_; }
  const Status& status() const { return status_; }
  T& value() & { return value_; }
  const T& value() const& { return value_; }
  T&& value() && { return std::move(value_); }

 private:
  T value_{};
  Status status_;
};

}  // namespace symm

// Builds a failed Status at this place: SYMM_ERROR(kTimeout, "PE {} did not arrive", pe).
#define SYMM_ERROR(code, ...) \
  ::symm::Status(::symm::Code::code, ::fmt::format(__VA_ARGS__), __FILE__, __LINE__)

// Returns from the enclosing function if expr is a failed Status.
#define SYMM_TRY(expr)                       \
  do {                                       \
    ::symm::Status symm_try_status = (expr); \
    if (!symm_try_status.ok()) [[unlikely]]  \
      return symm_try_status;                \
  } while (0)

#define SYMM_CONCAT2(a, b) a##b
#define SYMM_CONCAT(a, b) SYMM_CONCAT2(a, b)

// SYMM_ASSIGN(auto x, make_x()): unwraps a Result or returns its Status.
#define SYMM_ASSIGN(decl, expr)                                     \
  auto SYMM_CONCAT(symm_result_, __LINE__) = (expr);                \
  if (!SYMM_CONCAT(symm_result_, __LINE__).ok()) [[unlikely]]       \
    return std::move(SYMM_CONCAT(symm_result_, __LINE__).status()); \
  decl = std::move(SYMM_CONCAT(symm_result_, __LINE__)).value()
