// C edge: events and notifies.
#include <chrono>

#include "acl/acl.h"
#include "ascendc/core_abi.h"
#include "runtime/device.h"

using namespace symm::runtime;  // NOLINT: this file is the C edge

namespace {

aclError create_event(aclrtEvent* event, const char* call) {
  if (event == nullptr) return fail(ACL_ERROR_INVALID_PARAM, "{}: event is null", call);
  int device = 0;
  SYMM_ACL_TRY(runtime().current_device(device, call));
  *event = runtime().events.add(std::make_shared<Event>());
  return ACL_SUCCESS;
}

aclError find_event(void* handle, std::shared_ptr<Event>& out, const char* call) {
  out = runtime().events.find(handle);
  if (out != nullptr) return ACL_SUCCESS;
  return fail(ACL_ERROR_RT_PARAM_INVALID, "{}: {} is not a live event", call, handle);
}

aclError find_notify(void* handle, std::shared_ptr<Notify>& out, const char* call) {
  out = runtime().notifies.find(handle);
  if (out != nullptr) return ACL_SUCCESS;
  return fail(ACL_ERROR_RT_PARAM_INVALID, "{}: {} is not a live notify", call, handle);
}

using EventOnStream = aclError (Event::*)(Stream&, const char*);

aclError on_stream(void* event, void* stream, EventOnStream action, const char* call) {
  std::shared_ptr<Event> found;
  SYMM_ACL_TRY(find_event(event, found, call));
  std::shared_ptr<Stream> target;
  SYMM_ACL_TRY(runtime().find_stream(stream, target, call));
  return ((*found).*action)(*target, call);
}

aclError submit_notify(void* handle, void* stream, bool record, uint32_t seconds,
                       const char* call) {
  std::shared_ptr<Notify> notify;
  SYMM_ACL_TRY(find_notify(handle, notify, call));
  std::shared_ptr<Stream> target;
  SYMM_ACL_TRY(runtime().find_stream(stream, target, call));
  return target->submit(std::make_shared<NotifyTask>(notify, record, uint64_t{seconds} * 1000),
                        call);
}

}  // namespace

aclError aclrtCreateEvent(aclrtEvent* event) { return create_event(event, "aclrtCreateEvent"); }
aclError aclrtCreateEventWithFlag(aclrtEvent* event, uint32_t) {
  return create_event(event, "aclrtCreateEventWithFlag");
}

aclError aclrtDestroyEvent(aclrtEvent event) {
  if (runtime().events.remove(event) != nullptr) return ACL_SUCCESS;
  return fail(ACL_ERROR_RT_PARAM_INVALID, "aclrtDestroyEvent: {} is not a live event", event);
}

aclError aclrtRecordEvent(aclrtEvent event, aclrtStream stream) {
  return on_stream(event, stream, &Event::record, "aclrtRecordEvent");
}
aclError aclrtResetEvent(aclrtEvent event, aclrtStream stream) {
  return on_stream(event, stream, &Event::reset, "aclrtResetEvent");
}
aclError aclrtStreamWaitEvent(aclrtStream stream, aclrtEvent event) {
  return on_stream(event, stream, &Event::wait_on, "aclrtStreamWaitEvent");
}

aclError aclrtSynchronizeEvent(aclrtEvent event) {
  std::shared_ptr<Event> found;
  SYMM_ACL_TRY(find_event(event, found, "aclrtSynchronizeEvent"));
  return found->synchronize(0, "aclrtSynchronizeEvent");
}

aclError aclrtSynchronizeEventWithTimeout(aclrtEvent event, int32_t timeout) {
  constexpr const char* kCall = "aclrtSynchronizeEventWithTimeout";
  if (timeout < -1 || timeout == 0) {
    return fail(ACL_ERROR_INVALID_PARAM, "{}: timeout {} is neither -1 nor positive milliseconds",
                kCall, timeout);
  }
  std::shared_ptr<Event> found;
  SYMM_ACL_TRY(find_event(event, found, kCall));
  return found->synchronize(timeout < 0 ? 0 : static_cast<uint64_t>(timeout), kCall);
}

aclError aclrtQueryEventStatus(aclrtEvent event, aclrtEventRecordedStatus* status) {
  constexpr const char* kCall = "aclrtQueryEventStatus";
  if (status == nullptr) return fail(ACL_ERROR_INVALID_PARAM, "{}: status is null", kCall);
  std::shared_ptr<Event> found;
  SYMM_ACL_TRY(find_event(event, found, kCall));
  bool complete = false;
  SYMM_ACL_TRY(found->query(complete, kCall));
  *status = complete ? ACL_EVENT_RECORDED_STATUS_COMPLETE : ACL_EVENT_RECORDED_STATUS_NOT_READY;
  return ACL_SUCCESS;
}

aclError aclrtEventElapsedTime(float* milliseconds, aclrtEvent start, aclrtEvent end) {
  constexpr const char* kCall = "aclrtEventElapsedTime";
  if (milliseconds == nullptr)
    return fail(ACL_ERROR_INVALID_PARAM, "{}: milliseconds is null", kCall);
  std::shared_ptr<Event> first;
  std::shared_ptr<Event> second;
  SYMM_ACL_TRY(find_event(start, first, kCall));
  SYMM_ACL_TRY(find_event(end, second, kCall));
  auto from = first->time();
  auto to = second->time();
  if (!from || !to) {
    return fail(ACL_ERROR_RT_EVENT_TIMESTAMP_INVALID,
                "{}: an event has not been recorded and reached yet; synchronise first", kCall);
  }
  *milliseconds = std::chrono::duration<float, std::milli>(*to - *from).count();
  return ACL_SUCCESS;
}

aclError aclrtCreateNotify(aclrtNotify* notify, uint64_t) {
  if (notify == nullptr) {
    return fail(ACL_ERROR_INVALID_PARAM, "aclrtCreateNotify: notify is null");
  }
  int device = 0;
  SYMM_ACL_TRY(runtime().current_device(device, "aclrtCreateNotify"));
  uint32_t number = runtime().next_notify.fetch_add(1, std::memory_order_relaxed);
  *notify = runtime().notifies.add(std::make_shared<Notify>(number));
  return ACL_SUCCESS;
}

aclError aclrtDestroyNotify(aclrtNotify notify) {
  if (runtime().notifies.remove(notify) != nullptr) return ACL_SUCCESS;
  return fail(ACL_ERROR_RT_PARAM_INVALID, "aclrtDestroyNotify: {} is not a live notify", notify);
}

aclError aclrtRecordNotify(aclrtNotify notify, aclrtStream stream) {
  return submit_notify(notify, stream, true, 0, "aclrtRecordNotify");
}
aclError aclrtWaitAndResetNotify(aclrtNotify notify, aclrtStream stream, uint32_t timeout) {
  return submit_notify(notify, stream, false, timeout, "aclrtWaitAndResetNotify");
}

aclError aclrtGetNotifyId(aclrtNotify notify, uint32_t* notifyId) {
  if (notifyId == nullptr)
    return fail(ACL_ERROR_INVALID_PARAM, "aclrtGetNotifyId: notifyId is null");
  std::shared_ptr<Notify> found;
  SYMM_ACL_TRY(find_notify(notify, found, "aclrtGetNotifyId"));
  *notifyId = found->number();
  return ACL_SUCCESS;
}

int symm_rt_notify_record(void* notify) {
  std::shared_ptr<Notify> found;
  SYMM_ACL_TRY(find_notify(notify, found, "symm_rt_notify_record"));
  found->record();
  return ACL_SUCCESS;
}
