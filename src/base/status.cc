#include "base/status.h"

namespace symm {

const char* code_name(Code code) {
  switch (code) {
    case Code::kOk:
      return "SUCCESS";
    case Code::kInvalidParam:
      return "INVALID_PARAM";
    case Code::kInvalidValue:
      return "INVALID_VALUE";
    case Code::kSmem:
      return "SMEM_ERROR";
    case Code::kInternal:
      return "INNER_ERROR";
    case Code::kNotInitialized:
      return "NOT_INITED";
    case Code::kBootstrap:
      return "BOOTSTRAP_ERROR";
    case Code::kTimeout:
      return "TIMEOUT_ERROR";
    case Code::kNoMemory:
      return "MALLOC_FAILED";
    case Code::kLoad:
      return "DL_FUNC_FAILED";
    case Code::kInnerTimeout:
      return "INNER_TIMEOUT";
    case Code::kUnloading:
      return "UNDER_API_UNLOAD";
    case Code::kPeerLost:
      return "PEER_LOST";
    case Code::kNotSupported:
      return "NOT_SUPPORTED";
  }
  return "UNKNOWN";
}

Status::Status(Code code, std::string text, const char* file, int line)
    : record_(new Record{code, std::move(text), file, line}) {}

Status&& Status::with_context(std::string_view context) && {
  if (record_) record_->text = fmt::format("{}: {}", context, record_->text);
  return std::move(*this);
}

Status Status::clone() const {
  if (!record_) return {};
  return Status(record_->code, record_->text, record_->file, record_->line);
}

std::string Status::to_string() const {
  if (!record_) return "ok";
  std::string_view path = record_->file;
  if (auto slash = path.rfind('/'); slash != std::string_view::npos) path.remove_prefix(slash + 1);
  return fmt::format("{} ({}): {} [{}:{}]", code_name(record_->code),
                     static_cast<int>(record_->code), record_->text, path, record_->line);
}

}  // namespace symm
