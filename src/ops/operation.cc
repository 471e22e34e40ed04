#include "ops/operation.h"

#include <memory>

#include "acl/acl.h"
#include "ascendc/core_abi.h"
#include "base/fence.h"
#include "core/current.h"
#include "ops/barrier.h"
#include "ops/order.h"
#include "ops/rma.h"
#include "ops/signal.h"
#include "ops/value_wait.h"

namespace symm::ops {
namespace {

struct Task {
  Operation operation;
  std::shared_ptr<InstanceLink> link;
};

int run_task(void* argument) {
  auto* task = static_cast<Task*>(argument);
  Instance* instance = task->link->get();
  Status status;
  if (instance == nullptr) {
    status = SYMM_ERROR(kNotInitialized, "{} on a stream: its instance was finalized",
                        task->operation.call);
    report_error(status);
  } else {
    status = execute(*instance, task->operation);
    if (!status.ok()) record_error(*instance, status);
  }
  if (status.ok()) return ACL_SUCCESS;
  symm_rt_set_error(status.to_string().c_str());
  return ACL_ERROR_INTERNAL_ERROR;
}

void drop_task(void* argument) { delete static_cast<Task*>(argument); }

Status check_now(const Instance& instance, const Operation& what) {
  const char* call = what.call;
  switch (what.kind) {
    case Operation::Kind::kPut:
      return std::move(
          check_transfer(instance, Direction::kPut, what.to, what.from, {what.bytes}, what.pe, call)
              .status());
    case Operation::Kind::kGet:
      return std::move(
          check_transfer(instance, Direction::kGet, what.from, what.to, {what.bytes}, what.pe, call)
              .status());
    case Operation::Kind::kSignal:
      return check_signal(instance, static_cast<int32_t*>(what.to), what.code, what.pe, call);
    case Operation::Kind::kWaitSignal:
      return check_values(
          instance, {what.from, 1, sizeof(int32_t), what.code, "the signal address", &what.value},
          call);
    case Operation::Kind::kQuiet:
    case Operation::Kind::kBarrier:
      return {};
  }
  return {};
}

}  // namespace

Status execute(Instance& instance, const Operation& what) {
  switch (what.kind) {
    case Operation::Kind::kPut:
      return put(instance, what.to, what.from, what.bytes, what.pe, what.call);
    case Operation::Kind::kGet:
      return get(instance, what.to, what.from, what.bytes, what.pe, what.call);
    case Operation::Kind::kSignal:
      return signal(instance, static_cast<int32_t*>(what.to), what.value, what.code, what.pe,
                    what.call);
    case Operation::Kind::kWaitSignal:
      return wait_value(instance, static_cast<const int32_t*>(what.from), what.code, what.value,
                        what.call);
    case Operation::Kind::kQuiet:
      full_fence();  // as ops::quiet
      return instance.quiesce_engines();
    case Operation::Kind::kBarrier:
      SYMM_TRY(instance.quiesce_engines());
      return sync(instance, what.team, what.call, true);
  }
  return SYMM_ERROR(kInternal, "operation {} is unknown", static_cast<int>(what.kind));
}

Status enqueue(Instance& instance, const Operation& operation, void* stream) {
  SYMM_TRY(check_now(instance, operation));
  if (stream == nullptr) {
    SYMM_TRY(instance.stream().available());
    stream = instance.stream().stream();
  }
  auto* task = new Task{operation, instance.link()};
  // The runtime drops the task in any case, also when it refuses it.
  const aclError error = symm_rt_host_task(stream, run_task, drop_task, task, operation.call);
  if (error == ACL_SUCCESS) return {};
  const char* text = aclGetRecentErrMsg();
  return SYMM_ERROR(kInvalidParam, "{} on PE {}: the stream refused it with {}: {}", operation.call,
                    instance.pe(), error, text != nullptr ? text : "no details");
}

}  // namespace symm::ops
