// C edge: streams, launches, host functions.
#include <string>

#include "acl/acl.h"
#include "ascendc/core_abi.h"
#include "runtime/device.h"
#include "runtime/tasks.h"

using namespace symm::runtime;  // NOLINT: this file is the C edge

namespace {

constexpr uint32_t kMostBlocks = 65535;

aclError submit(void* stream, TaskPtr task, const char* call) {
  std::shared_ptr<Stream> target;
  SYMM_ACL_TRY(runtime().find_stream(stream, target, call));
  return target->submit(std::move(task), call);
}

aclError synchronize(void* stream, int32_t timeout, const char* call) {
  if (timeout < -1 || timeout == 0) {
    return fail(ACL_ERROR_INVALID_PARAM, "{}: timeout {} is neither -1 nor positive milliseconds",
                call, timeout);
  }
  std::shared_ptr<Stream> target;
  SYMM_ACL_TRY(runtime().find_stream(stream, target, call));
  return target->synchronize(timeout < 0 ? 0 : static_cast<uint64_t>(timeout), call);
}

}  // namespace

aclError aclrtCreateStream(aclrtStream* stream) {
  return runtime().create_stream(stream, "aclrtCreateStream");
}
// Priorities and flags mean nothing here.
aclError aclrtCreateStreamWithConfig(aclrtStream* stream, uint32_t, uint32_t) {
  return runtime().create_stream(stream, "aclrtCreateStreamWithConfig");
}
aclError aclrtDestroyStream(aclrtStream stream) { return runtime().destroy_stream(stream); }
aclError aclrtSynchronizeStream(aclrtStream stream) {
  return synchronize(stream, -1, "aclrtSynchronizeStream");
}
aclError aclrtSynchronizeStreamWithTimeout(aclrtStream stream, int32_t timeout) {
  return synchronize(stream, timeout, "aclrtSynchronizeStreamWithTimeout");
}

aclError aclrtStreamQuery(aclrtStream stream, aclrtStreamStatus* status) {
  if (status == nullptr) return fail(ACL_ERROR_INVALID_PARAM, "aclrtStreamQuery: status is null");
  std::shared_ptr<Stream> target;
  SYMM_ACL_TRY(runtime().find_stream(stream, target, "aclrtStreamQuery"));
  bool idle = false;
  SYMM_ACL_TRY(target->query(idle, "aclrtStreamQuery"));
  *status = idle ? ACL_STREAM_STATUS_COMPLETE : ACL_STREAM_STATUS_NOT_READY;
  return ACL_SUCCESS;
}

aclError aclrtLaunchHostFunc(aclrtStream stream, void (*function)(void*), void* argument) {
  if (function == nullptr) {
    return fail(ACL_ERROR_INVALID_PARAM, "aclrtLaunchHostFunc: function is null");
  }
  return submit(stream, std::make_shared<CallbackTask>(function, argument), "aclrtLaunchHostFunc");
}

int symm_rt_launch(uint32_t blocks, void* stream, void (*run)(void*), void (*drop)(void*),
                   void* closure, void* state, const char* name) {
  return symm_rt_launch_with_arguments(blocks, stream, run, drop, nullptr, closure, state, name);
}

int symm_rt_launch_with_arguments(uint32_t blocks, void* stream, void (*run)(void*),
                                  void (*drop)(void*), symm_visit_arguments visit, void* closure,
                                  void* state, const char* name) {
  auto spec = std::make_shared<KernelSpec>();
  spec->blocks = blocks;
  spec->run = run;
  spec->drop = drop;
  spec->visit = visit;
  spec->closure = closure;
  spec->state = state;
  spec->name = name != nullptr ? name : "kernel";
  if (blocks == 0 || blocks > kMostBlocks || run == nullptr) {
    return fail(ACL_ERROR_RT_PARAM_INVALID, "launch of {}: {} blocks; pass 1 to {}", spec->name,
                blocks, kMostBlocks);
  }
  auto task = std::make_shared<KernelTask>(spec, runtime().pool(), runtime().launch_numbers());
  return submit(stream, std::move(task), spec->name.c_str());
}

int symm_rt_host_task(void* stream, int (*run)(void*), void (*drop)(void*), void* argument,
                      const char* name) {
  return submit(stream, std::make_shared<HostTask>(run, drop, argument, name), name);
}
