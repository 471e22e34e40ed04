#include "runtime/error.h"

#include "base/log.h"

namespace symm::runtime {
namespace {

thread_local std::string t_message;

}  // namespace

TaskError task_error(const Status& status, std::string_view context) {
  if (status.ok()) return {};
  aclError code = status.code() == Code::kTimeout    ? ACL_ERROR_RT_STREAM_SYNC_TIMEOUT
                  : status.code() == Code::kNoMemory ? ACL_ERROR_RT_MEMORY_ALLOCATION
                                                     : ACL_ERROR_INTERNAL_ERROR;
  return {code, fmt::format("{}: {} ({})", context, status.text(), code_name(status.code()))};
}

void set_message(std::string text) { t_message = std::move(text); }

std::string exchange_message(std::string text) { return std::exchange(t_message, std::move(text)); }

const char* message() { return t_message.empty() ? nullptr : t_message.c_str(); }

aclError fail_text(aclError code, std::string text) {
  SYMM_LOG(kError, "{} (acl error {})", text, code);
  t_message = std::move(text);
  return code;
}

aclError note_text(aclError code, std::string text) {
  SYMM_LOG(kInfo, "{} (acl error {})", text, code);
  t_message = std::move(text);
  return code;
}

}  // namespace symm::runtime
