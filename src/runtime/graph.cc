#include "runtime/graph.h"

#include <algorithm>

#include "runtime/stream.h"

namespace symm::runtime {

std::string Graph::user_of(const MemoryRange& range) {
  std::lock_guard lock(mutex);
  for (size_t i = 0; i < tasks.size(); ++i) {
    if (tasks[i]->uses(range)) {
      return fmt::format("task {} of {} ({})", i + 1, tasks.size(), tasks[i]->name());
    }
  }
  return {};
}

void Graph::spoil(std::string why) {
  std::lock_guard lock(mutex);
  if (spoilt_.empty()) spoilt_ = std::move(why);
}

std::string Graph::spoilt() {
  std::lock_guard lock(mutex);
  return spoilt_;
}

Capture::Capture(const Stream& origin, aclmdlRICaptureMode mode, std::shared_ptr<Graph> graph)
    : origin_(&origin), mode_(mode), owner_(std::this_thread::get_id()), graph_(std::move(graph)) {
  frontiers_[origin_];
}

aclError Capture::record(const Stream& stream, TaskPtr task, const char* call) {
  std::lock_guard lock(mutex_);
  if (!invalid_.empty()) {
    return fail(ACL_ERROR_RT_STREAM_CAPTURE_INVALIDATED,
                "{}: the capture of {} is invalid ({}); end it and begin again", call,
                stream.name(), invalid_);
  }
  {
    std::lock_guard tasks_lock(graph_->mutex);
    graph_->tasks.push_back(std::move(task));
  }
  ++frontiers_[&stream][&stream];
  return ACL_SUCCESS;
}

Capture::Frontier Capture::frontier(const Stream& stream) {
  std::lock_guard lock(mutex_);
  return frontiers_[&stream];
}

void Capture::join(const Stream& stream, const Frontier& seen) {
  std::lock_guard lock(mutex_);
  Frontier& own = frontiers_[&stream];
  for (auto [other, count] : seen) {
    size_t& known = own[other];
    known = std::max(known, count);
  }
}

std::vector<std::string> Capture::unjoined() {
  std::lock_guard lock(mutex_);
  std::vector<std::string> names;
  Frontier& origin = frontiers_[origin_];
  for (auto& [stream, frontier] : frontiers_) {
    if (stream != origin_ && origin[stream] < frontier[stream]) names.push_back(stream->name());
  }
  return names;
}

std::vector<const Stream*> Capture::streams() {
  std::lock_guard lock(mutex_);
  std::vector<const Stream*> all;
  for (auto& [stream, frontier] : frontiers_) all.push_back(stream);
  return all;
}

void Capture::invalidate(std::string why) {
  std::lock_guard lock(mutex_);
  if (invalid_.empty()) invalid_ = std::move(why);
}

std::string Capture::invalid() {
  std::lock_guard lock(mutex_);
  return invalid_;
}

ReplayTask::ReplayTask(std::shared_ptr<Graph> graph) : graph_(std::move(graph)) {
  graph_->pending.fetch_add(1, std::memory_order_relaxed);
}

// release: aclmdlRIDestroy that sees 0 also sees the replay over.
ReplayTask::~ReplayTask() { graph_->pending.fetch_sub(1, std::memory_order_release); }

TaskError ReplayTask::run() {
  for (size_t i = 0; i < graph_->tasks.size(); ++i) {
    TaskError error = graph_->tasks[i]->run();
    if (error.code == ACL_SUCCESS) continue;
    error.text = fmt::format("task {} of {} of the graph ({}): {}", i + 1, graph_->tasks.size(),
                             graph_->tasks[i]->name(), error.text);
    return error;
  }
  return {};
}

std::string ReplayTask::name() const {
  return fmt::format("replay of a graph of {} tasks", graph_->tasks.size());
}

}  // namespace symm::runtime
