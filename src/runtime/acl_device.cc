// C edge: initialisation, devices, contexts, information.
#include "acl/acl.h"
#include "runtime/device.h"

using namespace symm::runtime;  // NOLINT: this file is the C edge

namespace {

aclError null_argument(const char* call, const char* name) {
  return fail(ACL_ERROR_INVALID_PARAM, "{}: {} is null", call, name);
}

}  // namespace

aclError aclInit(const char*) { return runtime().initialize(); }
aclError aclFinalize(void) { return runtime().finalize(); }
const char* aclGetRecentErrMsg(void) { return message(); }

aclError aclrtSetDevice(int32_t deviceId) { return runtime().set_device(deviceId); }
aclError aclrtResetDevice(int32_t deviceId) { return runtime().reset_device(deviceId); }

aclError aclrtGetDevice(int32_t* deviceId) {
  if (deviceId == nullptr) return null_argument("aclrtGetDevice", "deviceId");
  return runtime().current_device(*deviceId, "aclrtGetDevice");
}

aclError aclrtGetDeviceCount(uint32_t* count) {
  if (count == nullptr) return null_argument("aclrtGetDeviceCount", "count");
  *count = runtime().device_count();
  return ACL_SUCCESS;
}

aclError aclrtSynchronizeDevice(void) {
  return runtime().synchronize_device("aclrtSynchronizeDevice");
}

aclError aclrtCreateContext(aclrtContext* context, int32_t deviceId) {
  return runtime().create_context(deviceId, context);
}
aclError aclrtDestroyContext(aclrtContext context) { return runtime().destroy_context(context); }
aclError aclrtSetCurrentContext(aclrtContext context) { return runtime().set_context(context); }

aclError aclrtGetCurrentContext(aclrtContext* context) {
  if (context == nullptr) return null_argument("aclrtGetCurrentContext", "context");
  *context = runtime().current_context();
  if (*context != nullptr) return ACL_SUCCESS;
  int device = 0;
  return runtime().current_device(device, "aclrtGetCurrentContext");
}

// All devices are this process, so access is always there; only the numbers are checked.
aclError aclrtDeviceEnablePeerAccess(int32_t peerDeviceId, uint32_t) {
  return runtime().check_device(peerDeviceId, "aclrtDeviceEnablePeerAccess");
}
aclError aclrtDeviceDisablePeerAccess(int32_t peerDeviceId) {
  return runtime().check_device(peerDeviceId, "aclrtDeviceDisablePeerAccess");
}
aclError aclrtDeviceCanAccessPeer(int32_t* canAccessPeer, int32_t deviceId, int32_t peerDeviceId) {
  if (canAccessPeer == nullptr) return null_argument("aclrtDeviceCanAccessPeer", "canAccessPeer");
  SYMM_ACL_TRY(runtime().check_device(deviceId, "aclrtDeviceCanAccessPeer"));
  SYMM_ACL_TRY(runtime().check_device(peerDeviceId, "aclrtDeviceCanAccessPeer"));
  *canAccessPeer = 1;
  return ACL_SUCCESS;
}

const char* aclrtGetSocName(void) { return runtime().soc_name().c_str(); }

// The runtime interface that these headers describe.
aclError aclrtGetVersion(int32_t* majorVersion, int32_t* minorVersion, int32_t* patchVersion) {
  if (majorVersion == nullptr || minorVersion == nullptr || patchVersion == nullptr) {
    return null_argument("aclrtGetVersion", "a pointer for the result");
  }
  *majorVersion = 1;
  *minorVersion = 0;
  *patchVersion = 0;
  return ACL_SUCCESS;
}
