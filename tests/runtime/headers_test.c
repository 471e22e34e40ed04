/* The runtime's headers as C11, and the calls that need no device. */
#include "acl/acl.h"
#include "acl/acl_base.h"
#include "acl/acl_mdl.h"
#include "acl/acl_rt.h"
#include "ascendc/core_abi.h"

#include <stdio.h>

int main(void) {
  uint32_t count = 0;
  if (aclInit(NULL) != ACL_SUCCESS || aclrtGetDeviceCount(&count) != ACL_SUCCESS || count == 0)
    return 1;
  if (symm_rt_core() != NULL || aclFinalize() != ACL_SUCCESS) return 2;
  printf("%u devices of %s\n", count, aclrtGetSocName());
  return 0;
}
