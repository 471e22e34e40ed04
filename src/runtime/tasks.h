// The tasks that the C edge makes: kernel launch, function call, copy, fill, and nothing at all
// (cache hints).
#pragma once

#include <cstring>

#include "runtime/core_pool.h"
#include "runtime/launch.h"
#include "runtime/task.h"

namespace symm::runtime {

class KernelTask : public Task {
 public:
  KernelTask(std::shared_ptr<const KernelSpec> spec, CorePool& pool, std::atomic<uint64_t>& numbers)
      : spec_(std::move(spec)), pool_(pool), numbers_(numbers) {}
  TaskError run() override {
    // relaxed: only uniqueness matters.
    uint64_t number = numbers_.fetch_add(1, std::memory_order_relaxed) + 1;
    return Launch::run(std::make_shared<Launch>(spec_, pool_, number));
  }
  std::string name() const override { return "kernel " + spec_->name; }
  bool uses(const MemoryRange& range) const override {
    if (spec_->visit == nullptr) return false;
    struct Search {
      const MemoryRange& range;
      bool found;
    } search{range, false};
    spec_->visit(
        spec_->closure,
        [](void* pointer, uint64_t value) {
          auto* s = static_cast<Search*>(pointer);
          s->found |= s->range.contains(value);
        },
        &search);
    return search.found;
  }

 private:
  const std::shared_ptr<const KernelSpec> spec_;
  CorePool& pool_;
  std::atomic<uint64_t>& numbers_;
};

// A function of the launching library; owns the argument through drop.
class HostTask : public Task {
 public:
  HostTask(int (*function)(void*), void (*drop)(void*), void* argument, std::string name)
      : function_(function), drop_(drop), argument_(argument), name_(std::move(name)) {}
  ~HostTask() override {
    if (drop_ != nullptr) drop_(argument_);
  }
  TaskError run() override {
    // The thread may be one of the program that waits for the stream: its own message stays.
    std::string before = exchange_message({});
    int code = function_(argument_);
    std::string text = exchange_message(std::move(before));
    if (code == ACL_SUCCESS) return {};
    return {code, text.empty() ? name_ + " failed" : std::move(text)};
  }
  std::string name() const override { return name_; }

 private:
  int (*const function_)(void*);
  void (*const drop_)(void*);
  void* const argument_;
  const std::string name_;
};

class CallbackTask : public Task {
 public:
  CallbackTask(void (*function)(void*), void* argument)
      : function_(function), argument_(argument) {}
  TaskError run() override {
    function_(argument_);
    return {};
  }
  std::string name() const override { return "host function"; }

 private:
  void (*const function_)(void*);
  void* const argument_;
};

class CopyTask : public Task {
 public:
  CopyTask(void* to, const void* from, size_t bytes) : to_(to), from_(from), bytes_(bytes) {}
  TaskError run() override {
    if (bytes_ != 0) std::memmove(to_, from_, bytes_);
    return {};
  }
  std::string name() const override { return fmt::format("copy of {} bytes", bytes_); }
  bool uses(const MemoryRange& range) const override {
    return range.overlaps(to_, bytes_) || range.overlaps(from_, bytes_);
  }

 private:
  void* const to_;
  const void* const from_;
  const size_t bytes_;
};

class FillTask : public Task {
 public:
  FillTask(void* to, int value, size_t bytes) : to_(to), value_(value), bytes_(bytes) {}
  TaskError run() override {
    if (bytes_ != 0) std::memset(to_, value_, bytes_);
    return {};
  }
  std::string name() const override { return fmt::format("fill of {} bytes", bytes_); }
  bool uses(const MemoryRange& range) const override { return range.overlaps(to_, bytes_); }

 private:
  void* const to_;
  const int value_;
  const size_t bytes_;
};

// Keeps its place in the order and does nothing: cache hints have no effect on coherent memory.
class MarkTask : public Task {
 public:
  explicit MarkTask(std::string name) : name_(std::move(name)) {}
  TaskError run() override { return {}; }
  std::string name() const override { return name_; }

 private:
  const std::string name_;
};

}  // namespace symm::runtime
