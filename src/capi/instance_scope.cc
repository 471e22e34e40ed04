// Selecting instances by the number of their init, for objects that outlive a selection.
#include "core/current.h"
#include "host/init/shmem_host_init.h"

using namespace symm;

uint64_t aclshmemx_instance_number(void) { return number_of(current()); }

int aclshmemx_instance_enter(uint64_t number, void** before) {
  Instance* instance = find_numbered(number);
  if (instance == nullptr || before == nullptr) return ACLSHMEM_NOT_INITED;
  *before = detail::t_selected;
  detail::t_selected = instance;
  return ACLSHMEM_SUCCESS;
}

void aclshmemx_instance_leave(void* before) { detail::t_selected = static_cast<Instance*>(before); }
