#include "core/default_stream.h"

#include "acl/acl.h"
#include "ascendc/core_abi.h"
#include "base/log.h"

namespace symm {

void DefaultStream::open(int pe) {
  error_ = take_device(pe);
  if (error_ != ACL_SUCCESS) return;
  error_ = aclrtCreateStream(&stream_);
  if (error_ != ACL_SUCCESS) return;
  for (void*& notify : notifies_) {
    error_ = aclrtCreateNotify(&notify, 0);
    if (error_ != ACL_SUCCESS) return;
  }
}

// Every instance holds the device: the end of one must not end the streams of the others.
int DefaultStream::take_device(int pe) {
  int32_t device = 0;
  aclrtContext before = nullptr;
  if (symm_rt_has_device() != 0) {
    if (aclError error = aclrtGetDevice(&device); error != ACL_SUCCESS) return error;
    if (aclError error = aclrtGetCurrentContext(&before); error != ACL_SUCCESS) return error;
  } else {
    uint32_t count = 0;
    if (aclrtGetDeviceCount(&count) != ACL_SUCCESS || count == 0) count = 1;
    device = static_cast<int32_t>(static_cast<uint32_t>(pe) % count);
  }
  if (aclError error = aclrtSetDevice(device); error != ACL_SUCCESS) return error;
  device_ = device;
  return before != nullptr ? aclrtSetCurrentContext(before) : ACL_SUCCESS;
}

void DefaultStream::close() {
  auto note = [](aclError error, const char* call) {
    if (error != ACL_SUCCESS) SYMM_LOG(kWarn, "{} at finalize returned {}", call, error);
  };
  if (stream_ != nullptr) note(aclrtDestroyStream(stream_), "aclrtDestroyStream");
  for (void*& notify : notifies_) {
    if (notify != nullptr) note(aclrtDestroyNotify(notify), "aclrtDestroyNotify");
    notify = nullptr;
  }
  if (device_ >= 0) note(aclrtResetDevice(device_), "aclrtResetDevice");
  stream_ = nullptr;
  device_ = -1;
}

Status DefaultStream::drain() {
  if (stream_ == nullptr) return {};
  const aclError error = aclrtSynchronizeStream(stream_);
  if (error == ACL_SUCCESS) return {};
  const char* text = aclGetRecentErrMsg();
  return SYMM_ERROR(kInternal, "work queued on the default stream failed with {}: {}", error,
                    text != nullptr ? text : "no details");
}

Status DefaultStream::available() const {
  if (stream_ != nullptr) return {};
  return SYMM_ERROR(kNotSupported,
                    "there is no default stream: no device could be set at init (error {}); call "
                    "aclrtSetDevice before aclshmemx_init_attr",
                    error_);
}

}  // namespace symm
