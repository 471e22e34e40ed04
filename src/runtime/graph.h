// Capture: the recording of one or more streams. Graph: what comes out, a vector of tasks; a replay
// is one task that runs it in the order of recording, which respects every dependency between the
// captured streams. Threads: any; a graph may be replayed on several streams, one after the other
// or at the same time.
#pragma once

#include <atomic>
#include <map>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include "acl/acl_mdl.h"
#include "runtime/task.h"

namespace symm::runtime {

class Stream;

class Graph {
 public:
  // Number of replays queued or running.
  std::atomic<uint32_t> pending{0};
  // False while it is being recorded.
  std::atomic<bool> complete{false};
  // Written by the capture, under the mutex, until complete, then constant.
  std::vector<TaskPtr> tasks;

  // The first task that names memory in the range, and where it stands; empty if there is none.
  std::string user_of(const MemoryRange& range);
  // Replays are refused from now on, with this reason.
  void spoil(std::string why);
  std::string spoilt();  // why, or empty

  std::mutex mutex;  // of tasks while recording, and of the reason

 private:
  std::string spoilt_;
};

class Capture {
 public:
  // What a captured event knows: how many tasks of each stream come before it.
  using Frontier = std::map<const Stream*, size_t>;

  Capture(const Stream& origin, aclmdlRICaptureMode mode, std::shared_ptr<Graph> graph);

  aclmdlRICaptureMode mode() const { return mode_; }
  std::thread::id owner() const { return owner_; }
  const Stream* origin() const { return origin_; }
  const std::shared_ptr<Graph>& graph() const { return graph_; }
  // A handle that names the graph, fixed before the capture is visible to others.
  void* handle = nullptr;

  aclError record(const Stream& stream, TaskPtr task, const char* call);
  // An event recorded on / waited for by a captured stream.
  Frontier frontier(const Stream& stream);
  void join(const Stream& stream, const Frontier& seen);
  // The streams that recorded something and that the origin did not wait for.
  std::vector<std::string> unjoined();
  // Every stream that takes part.
  std::vector<const Stream*> streams();

  void invalidate(std::string why);
  std::string invalid();  // why, or empty

 private:
  const Stream* const origin_;
  const aclmdlRICaptureMode mode_;
  const std::thread::id owner_;
  const std::shared_ptr<Graph> graph_;
  std::mutex mutex_;
  std::map<const Stream*, Frontier> frontiers_;  // under mutex_
  std::string invalid_;                          // under mutex_
};

// One replay.
class ReplayTask : public Task {
 public:
  explicit ReplayTask(std::shared_ptr<Graph> graph);
  ~ReplayTask() override;
  TaskError run() override;
  std::string name() const override;

 private:
  const std::shared_ptr<Graph> graph_;
};

}  // namespace symm::runtime
