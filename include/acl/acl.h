/* The CPU runtime: initialisation and everything else of acl/. Plain C. */
#ifndef ACL_ACL_H
#define ACL_ACL_H

#include "acl/acl_base.h"
#include "acl/acl_mdl.h"
#include "acl/acl_rt.h"

#ifdef __cplusplus
extern "C" {
#endif
#pragma GCC visibility push(default)

/* Starts the runtime. configPath may be null or name a JSON file, whose content is ignored. A
 * second call returns 100002 and changes nothing; after aclFinalize the runtime can be started
 * again. */
aclError aclInit(const char* configPath);
/* Undoes aclInit; a call without a matching aclInit returns 100037. Waits for nothing: devices that
 * are still set stay usable. */
aclError aclFinalize(void);
/* The message of this thread's last failed call, or null. Valid until the next failing call of the
 * thread. */
const char* aclGetRecentErrMsg(void);

#pragma GCC visibility pop
#ifdef __cplusplus
}
#endif
#endif
