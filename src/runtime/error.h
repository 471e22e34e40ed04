// Errors of the runtime: an aclError with the text that aclGetRecentErrMsg of the failing thread
// returns. Threads: any; the message belongs to the thread.
#pragma once

#include <fmt/format.h>

#include <string>
#include <utility>

#include "acl/acl_base.h"
#include "base/status.h"

namespace symm::runtime {

// What a stream task ended with. code 0: fine.
struct TaskError {
  aclError code = ACL_SUCCESS;
  std::string text;
};

// The aclError that fits a failed wait or another Status from below.
TaskError task_error(const Status& status, std::string_view context);

// Sets the thread's message without logging.
void set_message(std::string text);
// The same; returns what was there.
std::string exchange_message(std::string text);
// The thread's message, or null.
const char* message();

// Sets the thread's message, logs it as an error and returns code.
aclError fail_text(aclError code, std::string text);
// The same for results that programs expect and ignore: logged as information.
aclError note_text(aclError code, std::string text);

template <typename... Args>
aclError fail(aclError code, fmt::format_string<Args...> format, Args&&... args) {
  return fail_text(code, fmt::format(format, std::forward<Args>(args)...));
}
template <typename... Args>
aclError note(aclError code, fmt::format_string<Args...> format, Args&&... args) {
  return note_text(code, fmt::format(format, std::forward<Args>(args)...));
}

}  // namespace symm::runtime

// Returns from the enclosing function if expr is a failed aclError.
#define SYMM_ACL_TRY(expr)                         \
  do {                                             \
    aclError symm_acl_code = (expr);               \
    if (symm_acl_code != ACL_SUCCESS) [[unlikely]] \
      return symm_acl_code;                        \
  } while (0)
