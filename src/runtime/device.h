// Runtime: everything that the C edge shares: devices and contexts, handles, memory, core pool. The
// only writable static of the library is the pointer to it; made at first use, never destroyed,
// made anew in a forked child. Threads: any; the current context belongs to the calling thread.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <vector>

#include "runtime/core_pool.h"
#include "runtime/error.h"
#include "runtime/event.h"
#include "runtime/graph.h"
#include "runtime/handles.h"
#include "runtime/memory.h"
#include "runtime/stream.h"
#include "runtime/virtual_memory.h"

namespace symm::runtime {

struct Context {
  int device = -1;
  bool is_default = false;
};

class Runtime {
 public:
  Runtime();

  CorePool& pool() { return pool_; }
  MemoryTable& memory() { return memory_; }
  const std::string& soc_name() const { return soc_name_; }
  uint32_t device_count() const { return static_cast<uint32_t>(devices_.size()); }
  std::atomic<uint64_t>& launch_numbers() { return launch_numbers_; }

  aclError initialize();
  aclError finalize();

  aclError check_device(int device, const char* call) const;
  aclError set_device(int device);
  aclError reset_device(int device);
  // The device of the calling thread's context; 107002 when it has none.
  aclError current_device(int& device, const char* call);
  aclError synchronize_device(const char* call);

  void* current_context() const;
  aclError create_context(int device, void** out);
  aclError destroy_context(void* context);
  aclError set_context(void* context);

  aclError create_stream(void** out, const char* call);
  aclError destroy_stream(void* handle);
  // The stream of a handle; null names the default stream of the current device.
  aclError find_stream(void* handle, std::shared_ptr<Stream>& out, const char* call);

  // Refuses a synchronous call that an active capture forbids to this thread.
  aclError check_capture_allows(const char* call);
  // See symm_rt_release_memory.
  aclError release_memory(const MemoryRange& range, const char* call);
  void capture_began(const std::shared_ptr<Capture>& capture);
  void capture_ended(const std::shared_ptr<Capture>& capture);

  HandleTable<Stream> streams;
  HandleTable<Event> events;
  HandleTable<Notify> notifies;
  HandleTable<Graph> graphs;
  HandleTable<Context> contexts;
  HandleTable<PhysicalMemory> physical;
  VirtualMemory virtual_memory;
  std::atomic<uint32_t> next_notify{0};

 private:
  struct Device {
    uint32_t references = 0;
    std::shared_ptr<Context> context;
    std::shared_ptr<Stream> default_stream;
    uint32_t streams_made = 0;
  };

  std::shared_ptr<Context> thread_context() const;
  std::vector<std::shared_ptr<Stream>> streams_of(int device);

  CorePool pool_;
  MemoryTable memory_;
  const std::string soc_name_;
  std::atomic<uint64_t> launch_numbers_{0};
  std::mutex mutex_;
  bool initialized_ = false;     // under mutex_
  std::vector<Device> devices_;  // elements under mutex_
  std::atomic<uint32_t> active_captures_{0};
  std::vector<std::shared_ptr<Capture>> captures_;  // under mutex_
};

// The runtime of this process.
Runtime& runtime();

}  // namespace symm::runtime
