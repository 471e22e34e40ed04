// Logging.
#include "base/log.h"

#include "capi/edge.h"
#include "host/utils/shmem_log.h"

int32_t aclshmemx_set_extern_logger(void (*func)(int level, const char* msg)) {
  symm::log::set_callback(func);
  return 0;
}

int32_t aclshmemx_set_log_level(int level) {
  return symm::capi::without_instance("aclshmemx_set_log_level",
                                      [&] { return symm::log::set_level(level); });
}
