#include "capi/edge.h"

namespace symm::capi {

int fail(Instance* instance, const Status& status) {
  if (instance != nullptr) {
    record_error(*instance, status);
  } else {
    report_error(status);
  }
  return code_of(status);
}

int fail_without_instance(const char* call) {
  const Status status = not_initialized(call);
  report_error(status);
  return code_of(status);
}

}  // namespace symm::capi
