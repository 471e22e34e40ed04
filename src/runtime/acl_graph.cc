// C edge: graph capture and replay.
#include "acl/acl.h"
#include "runtime/device.h"

using namespace symm::runtime;  // NOLINT: this file is the C edge

namespace {

aclError find_graph(void* handle, std::shared_ptr<Graph>& out, const char* call) {
  out = runtime().graphs.find(handle);
  if (out == nullptr) {
    return fail(ACL_ERROR_RT_PARAM_INVALID, "{}: {} is not a live graph", call, handle);
  }
  if (out->complete.load(std::memory_order_acquire)) return ACL_SUCCESS;
  return fail(ACL_ERROR_RT_MODEL_CAPTURED,
              "{}: the graph is still being captured; end the capture first", call);
}

// Whether this thread may end the capture of this stream.
aclError check_end(const Stream& stream, const Capture& capture) {
  constexpr const char* kCall = "aclmdlRICaptureEnd";
  if (capture.origin() != &stream) {
    return fail(ACL_ERROR_RT_STREAM_CAPTURE_UNMATCHED,
                "{}: the capture began on another stream than {}; end it there", kCall,
                stream.name());
  }
  if (capture.mode() != ACL_MODEL_RI_CAPTURE_MODE_RELAXED &&
      capture.owner() != std::this_thread::get_id()) {
    return fail(
        ACL_ERROR_RT_STREAM_CAPTURE_WRONG_THREAD,
        "{}: another thread began the capture of {}; end it there or capture in mode RELAXED",
        kCall, stream.name());
  }
  return ACL_SUCCESS;
}

// Takes the capture off every stream that takes part.
void release_streams(Capture& capture) {
  for (const Stream* member : capture.streams()) {
    if (auto stream = runtime().streams.find(member)) (void)stream->set_capture(nullptr);
  }
}

aclError finish_capture(const std::shared_ptr<Capture>& capture, aclmdlRI* modelRI) {
  std::vector<std::string> unjoined = capture->unjoined();
  release_streams(*capture);
  runtime().capture_ended(capture);
  std::string invalid = capture->invalid();
  if (invalid.empty() && unjoined.empty()) {
    capture->graph()->complete.store(true, std::memory_order_release);
    *modelRI = capture->handle;
    return ACL_SUCCESS;
  }
  runtime().graphs.remove(capture->handle);
  *modelRI = nullptr;
  if (!invalid.empty()) {
    return fail(ACL_ERROR_RT_STREAM_CAPTURE_INVALIDATED,
                "aclmdlRICaptureEnd: the capture is invalid: {}; begin again", invalid);
  }
  return fail(
      ACL_ERROR_RT_STREAM_UNJOINED,
      "aclmdlRICaptureEnd: {} joined the capture and was not waited for; record an event there "
      "and let the first stream wait for it",
      unjoined.front());
}

}  // namespace

aclError aclmdlRICaptureBegin(aclrtStream stream, aclmdlRICaptureMode mode) {
  constexpr const char* kCall = "aclmdlRICaptureBegin";
  if (mode < ACL_MODEL_RI_CAPTURE_MODE_GLOBAL || mode > ACL_MODEL_RI_CAPTURE_MODE_RELAXED) {
    return fail(ACL_ERROR_INVALID_PARAM, "{}: {} is not a mode", kCall, static_cast<int>(mode));
  }
  std::shared_ptr<Stream> target;
  SYMM_ACL_TRY(runtime().find_stream(stream, target, kCall));
  if (target->is_default()) {
    return fail(ACL_ERROR_RT_STREAM_CAPTURE_IMPLICIT,
                "{}: the default stream cannot be captured; use a stream made by aclrtCreateStream",
                kCall);
  }
  auto capture = std::make_shared<Capture>(*target, mode, std::make_shared<Graph>());
  capture->handle = runtime().graphs.add(capture->graph());
  if (!target->set_capture(capture)) {
    runtime().graphs.remove(capture->handle);
    return fail(ACL_ERROR_RT_STREAM_CAPTURED, "{}: {} is being captured already", kCall,
                target->name());
  }
  runtime().capture_began(capture);
  return ACL_SUCCESS;
}

aclError aclmdlRICaptureEnd(aclrtStream stream, aclmdlRI* modelRI) {
  constexpr const char* kCall = "aclmdlRICaptureEnd";
  if (modelRI == nullptr) return fail(ACL_ERROR_INVALID_PARAM, "{}: modelRI is null", kCall);
  std::shared_ptr<Stream> target;
  SYMM_ACL_TRY(runtime().find_stream(stream, target, kCall));
  std::shared_ptr<Capture> capture = target->capture();
  if (capture == nullptr) {
    return fail(ACL_ERROR_RT_STREAM_NOT_CAPTURED, "{}: {} is not being captured", kCall,
                target->name());
  }
  SYMM_ACL_TRY(check_end(*target, *capture));
  return finish_capture(capture, modelRI);
}

aclError aclmdlRICaptureGetInfo(aclrtStream stream, aclmdlRICaptureStatus* status,
                                aclmdlRI* modelRI) {
  constexpr const char* kCall = "aclmdlRICaptureGetInfo";
  if (status == nullptr) return fail(ACL_ERROR_INVALID_PARAM, "{}: status is null", kCall);
  std::shared_ptr<Stream> target;
  SYMM_ACL_TRY(runtime().find_stream(stream, target, kCall));
  std::shared_ptr<Capture> capture = target->capture();
  *status = capture == nullptr           ? ACL_MODEL_RI_CAPTURE_STATUS_NONE
            : capture->invalid().empty() ? ACL_MODEL_RI_CAPTURE_STATUS_ACTIVE
                                         : ACL_MODEL_RI_CAPTURE_STATUS_INVALIDATED;
  if (modelRI != nullptr) *modelRI = capture != nullptr ? capture->handle : nullptr;
  return ACL_SUCCESS;
}

aclError aclmdlRIExecuteAsync(aclmdlRI modelRI, aclrtStream stream) {
  constexpr const char* kCall = "aclmdlRIExecuteAsync";
  std::shared_ptr<Graph> graph;
  SYMM_ACL_TRY(find_graph(modelRI, graph, kCall));
  if (std::string why = graph->spoilt(); !why.empty()) {
    return fail(ACL_ERROR_RT_STREAM_CAPTURE_INVALIDATED,
                "{}: the graph cannot run any more: {}; capture it again", kCall, why);
  }
  std::shared_ptr<Stream> target;
  SYMM_ACL_TRY(runtime().find_stream(stream, target, kCall));
  if (target->capture() != nullptr) {
    return fail(ACL_ERROR_RT_STREAM_CAPTURED, "{}: {} is being captured; replay on another stream",
                kCall, target->name());
  }
  return target->submit(std::make_shared<ReplayTask>(graph), kCall);
}

aclError aclmdlRIDestroy(aclmdlRI modelRI) {
  constexpr const char* kCall = "aclmdlRIDestroy";
  std::shared_ptr<Graph> graph;
  SYMM_ACL_TRY(find_graph(modelRI, graph, kCall));
  // acquire: pairs with the end of a replay.
  if (graph->pending.load(std::memory_order_acquire) != 0) {
    return fail(ACL_ERROR_RT_MODEL_RUNNING,
                "{}: a replay of the graph is queued or running; synchronise its stream first",
                kCall);
  }
  runtime().graphs.remove(modelRI);
  return ACL_SUCCESS;
}
