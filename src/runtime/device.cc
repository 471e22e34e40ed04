#include "runtime/device.h"

#include <pthread.h>

#include <algorithm>

#include "base/config.h"
#include "base/log.h"

namespace symm::runtime {
namespace {

std::atomic<Runtime*> g_runtime{nullptr};

struct Current {
  Runtime* runtime = nullptr;  // a forked child has another one, and no context
  std::weak_ptr<Context> context;
};
thread_local Current t_current;

// Threads do not survive fork, so the child starts afresh; what the parent had stays allocated and
// unused.
void forget_in_child() { g_runtime.store(nullptr, std::memory_order_relaxed); }

}  // namespace

Runtime& runtime() {
  // acquire: pairs with the exchange below.
  Runtime* current = g_runtime.load(std::memory_order_acquire);
  if (current != nullptr) return *current;
  static const int registered = ::pthread_atfork(nullptr, nullptr, forget_in_child);
  (void)registered;
  auto fresh = std::make_unique<Runtime>();
  if (g_runtime.compare_exchange_strong(current, fresh.get(), std::memory_order_acq_rel)) {
    return *fresh.release();
  }
  return *current;
}

Runtime::Runtime()
    : memory_(config::size("SHMEM_DEVICE_MEMORY")),
      soc_name_(config::text("SHMEM_SOC_NAME")),
      devices_(static_cast<size_t>(config::integer("SHMEM_DEVICE_COUNT"))) {}

aclError Runtime::initialize() {
  std::lock_guard lock(mutex_);
  if (initialized_) {
    return note(ACL_ERROR_REPEAT_INITIALIZE, "aclInit: the runtime is initialised already");
  }
  initialized_ = true;
  return ACL_SUCCESS;
}

aclError Runtime::finalize() {
  std::lock_guard lock(mutex_);
  if (!initialized_) {
    return note(ACL_ERROR_REPEAT_FINALIZE, "aclFinalize: the runtime is not initialised");
  }
  initialized_ = false;
  return ACL_SUCCESS;
}

aclError Runtime::check_device(int device, const char* call) const {
  if (device >= 0 && static_cast<size_t>(device) < devices_.size()) return ACL_SUCCESS;
  return fail(
      ACL_ERROR_RT_INVALID_DEVICEID,
      "{}: device {} does not exist; there are {}, from 0; SHMEM_DEVICE_COUNT sets how many", call,
      device, devices_.size());
}

aclError Runtime::set_device(int device) {
  SYMM_ACL_TRY(check_device(device, "aclrtSetDevice"));
  std::lock_guard lock(mutex_);
  Device& entry = devices_[static_cast<size_t>(device)];
  if (entry.context == nullptr) {
    entry.context = std::make_shared<Context>(Context{device, true});
    contexts.add(entry.context);
  }
  ++entry.references;
  t_current = {this, entry.context};
  return ACL_SUCCESS;
}

aclError Runtime::reset_device(int device) {
  SYMM_ACL_TRY(check_device(device, "aclrtResetDevice"));
  for (auto& stream : streams_of(device)) {
    if (stream->capture() == nullptr) (void)stream->synchronize(0, "aclrtResetDevice");
  }
  std::shared_ptr<Stream> default_stream;
  {
    std::lock_guard lock(mutex_);
    Device& entry = devices_[static_cast<size_t>(device)];
    if (entry.references == 0) {
      SYMM_LOG(kInfo, "aclrtResetDevice: device {} is not set; nothing to do", device);
      return ACL_SUCCESS;
    }
    if (--entry.references > 0) return ACL_SUCCESS;
    contexts.remove(entry.context.get());
    entry.context.reset();
    default_stream = std::move(entry.default_stream);
  }
  for (auto& stream : streams_of(device)) {
    if (streams.remove(stream.get()) != nullptr) stream->close();
  }
  if (default_stream != nullptr) default_stream->close();
  return ACL_SUCCESS;
}

std::shared_ptr<Context> Runtime::thread_context() const {
  return t_current.runtime == this ? t_current.context.lock() : nullptr;
}

aclError Runtime::current_device(int& device, const char* call) {
  std::shared_ptr<Context> context = thread_context();
  if (context == nullptr) {
    return fail(ACL_ERROR_RT_CONTEXT_NULL,
                "{}: this thread has no device; call aclrtSetDevice first", call);
  }
  device = context->device;
  return ACL_SUCCESS;
}

std::vector<std::shared_ptr<Stream>> Runtime::streams_of(int device) {
  std::vector<std::shared_ptr<Stream>> all = streams.all();
  std::erase_if(all, [&](auto& stream) { return stream->device() != device; });
  std::lock_guard lock(mutex_);
  if (auto& stream = devices_[static_cast<size_t>(device)].default_stream) all.push_back(stream);
  return all;
}

aclError Runtime::synchronize_device(const char* call) {
  int device = 0;
  SYMM_ACL_TRY(current_device(device, call));
  aclError first = ACL_SUCCESS;
  for (auto& stream : streams_of(device)) {
    aclError code = stream->synchronize(0, call);
    if (first == ACL_SUCCESS) first = code;
  }
  return first;
}

void* Runtime::current_context() const { return thread_context().get(); }

aclError Runtime::create_context(int device, void** out) {
  SYMM_ACL_TRY(check_device(device, "aclrtCreateContext"));
  if (out == nullptr) {
    return fail(ACL_ERROR_INVALID_PARAM, "aclrtCreateContext: the pointer for the result is null");
  }
  auto context = std::make_shared<Context>(Context{device, false});
  *out = contexts.add(context);
  t_current = {this, context};
  return ACL_SUCCESS;
}

aclError Runtime::destroy_context(void* handle) {
  std::shared_ptr<Context> context = contexts.find(handle);
  if (context == nullptr || context->is_default) {
    return fail(ACL_ERROR_RT_CONTEXT_NULL,
                "aclrtDestroyContext: {} is not a context from aclrtCreateContext", handle);
  }
  contexts.remove(handle);
  return ACL_SUCCESS;
}

aclError Runtime::set_context(void* handle) {
  std::shared_ptr<Context> context = contexts.find(handle);
  if (context == nullptr) {
    return fail(ACL_ERROR_RT_CONTEXT_NULL, "aclrtSetCurrentContext: {} is not a context", handle);
  }
  t_current = {this, context};
  return ACL_SUCCESS;
}

aclError Runtime::create_stream(void** out, const char* call) {
  if (out == nullptr) {
    return fail(ACL_ERROR_INVALID_PARAM, "{}: the pointer for the result is null", call);
  }
  int device = 0;
  SYMM_ACL_TRY(current_device(device, call));
  uint32_t number;
  {
    std::lock_guard lock(mutex_);
    number = ++devices_[static_cast<size_t>(device)].streams_made;
  }
  *out = streams.add(std::make_shared<Stream>(device, number, pool_.may_spin()));
  return ACL_SUCCESS;
}

aclError Runtime::destroy_stream(void* handle) {
  std::shared_ptr<Stream> stream = handle != nullptr ? streams.remove(handle) : nullptr;
  if (stream == nullptr) {
    return fail(handle == nullptr ? ACL_ERROR_INVALID_PARAM : ACL_ERROR_RT_STREAM_CONTEXT,
                "aclrtDestroyStream: {} is not a live stream; it may be destroyed already, also by "
                "aclrtResetDevice",
                handle);
  }
  stream->close();
  return ACL_SUCCESS;
}

aclError Runtime::find_stream(void* handle, std::shared_ptr<Stream>& out, const char* call) {
  if (handle != nullptr) {
    out = streams.find(handle);
    if (out != nullptr) return ACL_SUCCESS;
    return fail(
        ACL_ERROR_RT_STREAM_CONTEXT,
        "{}: {} is not a live stream; it may be destroyed already, also by aclrtResetDevice", call,
        handle);
  }
  int device = 0;
  SYMM_ACL_TRY(current_device(device, call));
  std::lock_guard lock(mutex_);
  auto& stream = devices_[static_cast<size_t>(device)].default_stream;
  if (stream == nullptr) stream = std::make_shared<Stream>(device, 0, pool_.may_spin());
  out = stream;
  return ACL_SUCCESS;
}

aclError Runtime::check_capture_allows(const char* call) {
  // relaxed: a capture that begins at the same time may or may not count.
  if (active_captures_.load(std::memory_order_relaxed) == 0) [[likely]]
    return ACL_SUCCESS;
  std::lock_guard lock(mutex_);
  for (auto& capture : captures_) {
    bool forbids = capture->mode() == ACL_MODEL_RI_CAPTURE_MODE_GLOBAL ||
                   (capture->mode() == ACL_MODEL_RI_CAPTURE_MODE_THREAD_LOCAL &&
                    capture->owner() == std::this_thread::get_id());
    if (!forbids) continue;
    return fail(
        ACL_ERROR_RT_CAPTURE_MODE_NOT_SUPPORT,
        "{}: a capture in mode {} forbids synchronous calls; capture in mode RELAXED, or make "
        "the call before or after",
        call, capture->mode() == ACL_MODEL_RI_CAPTURE_MODE_GLOBAL ? "GLOBAL" : "THREAD_LOCAL");
  }
  return ACL_SUCCESS;
}

aclError Runtime::release_memory(const MemoryRange& range, const char* call) {
  std::vector<std::pair<std::shared_ptr<Graph>, std::string>> users;
  for (auto& graph : graphs.all()) {
    std::string task = graph->user_of(range);
    if (task.empty()) continue;
    // acquire: pairs with the end of capture and replay.
    const bool recording = !graph->complete.load(std::memory_order_acquire);
    if (recording || graph->pending.load(std::memory_order_acquire) != 0) {
      return fail(recording ? ACL_ERROR_RT_MODEL_CAPTURED : ACL_ERROR_RT_MODEL_RUNNING,
                  "{}: {} of a graph that is being {} uses the {} bytes at {:#x}; {} first", call,
                  task, recording ? "captured" : "replayed", range.bytes, range.first,
                  recording ? "end the capture" : "synchronise the stream");
    }
    users.emplace_back(graph, std::move(task));
  }
  for (auto& [graph, task] : users) {
    graph->spoil(fmt::format("{} uses {} bytes at {:#x} that {} has given back", task, range.bytes,
                             range.first, call));
  }
  return ACL_SUCCESS;
}

void Runtime::capture_began(const std::shared_ptr<Capture>& capture) {
  std::lock_guard lock(mutex_);
  captures_.push_back(capture);
  active_captures_.store(static_cast<uint32_t>(captures_.size()), std::memory_order_relaxed);
}

void Runtime::capture_ended(const std::shared_ptr<Capture>& capture) {
  std::lock_guard lock(mutex_);
  std::erase(captures_, capture);
  active_captures_.store(static_cast<uint32_t>(captures_.size()), std::memory_order_relaxed);
}

}  // namespace symm::runtime
