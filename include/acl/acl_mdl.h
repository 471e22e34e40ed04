/* Graph capture: record the work of a stream once, replay it many times. Plain C. */
#ifndef ACL_ACL_MDL_H
#define ACL_ACL_MDL_H

#include "acl/acl_base.h"

#ifdef __cplusplus
extern "C" {
#endif
#pragma GCC visibility push(default)

typedef enum aclmdlRICaptureMode {
  ACL_MODEL_RI_CAPTURE_MODE_GLOBAL = 0,
  ACL_MODEL_RI_CAPTURE_MODE_THREAD_LOCAL = 1,
  ACL_MODEL_RI_CAPTURE_MODE_RELAXED = 2
} aclmdlRICaptureMode;

typedef enum aclmdlRICaptureStatus {
  ACL_MODEL_RI_CAPTURE_STATUS_NONE = 0,
  ACL_MODEL_RI_CAPTURE_STATUS_ACTIVE = 1,
  ACL_MODEL_RI_CAPTURE_STATUS_INVALIDATED = 2
} aclmdlRICaptureStatus;

/* Starts recording on a stream made by aclrtCreateStream. Until the end nothing given to the stream
 * runs; arguments are frozen as they are, memory is read when the graph runs. GLOBAL forbids
 * synchronous copies in all threads, THREAD_LOCAL in this thread, RELAXED nowhere. */
aclError aclmdlRICaptureBegin(aclrtStream stream, aclmdlRICaptureMode mode);
/* Ends recording and hands over the graph. On the thread that began, unless the mode is RELAXED. */
aclError aclmdlRICaptureEnd(aclrtStream stream, aclmdlRI* modelRI);
/* Whether the stream records, and into which graph (null when it does not). */
aclError aclmdlRICaptureGetInfo(aclrtStream stream, aclmdlRICaptureStatus* status,
                                aclmdlRI* modelRI);
/* Puts one replay of the graph on the stream, in order with its other work. Does not block. */
aclError aclmdlRIExecuteAsync(aclmdlRI modelRI, aclrtStream stream);
/* Frees the graph; refused with 107037 while a replay is queued or running. */
aclError aclmdlRIDestroy(aclmdlRI modelRI);

#pragma GCC visibility pop
#ifdef __cplusplus
}
#endif
#endif
