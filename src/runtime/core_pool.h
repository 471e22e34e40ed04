// CorePool: the threads that help a stream's thread to run a launch, the memory of cores, and the
// policy of how many threads a launch gets. Threads are made when first needed and kept. Threads:
// any. Lives until the process ends; its threads are detached.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

#include "host_device/symm_wait_abi.h"
#include "runtime/core_memory.h"

namespace symm::runtime {

class Launch;

class CorePool {
 public:
  // Reads the options and the processors of this process.
  CorePool();
  CorePool(const CorePool&) = delete;
  CorePool& operator=(const CorePool&) = delete;

  // PEs that share this host's processors; 0: unknown.
  void set_local_pes(int count);

  bool thread_per_core() const { return thread_per_core_; }
  // How many threads, with the stream's own, a launch may use.
  uint32_t workers_per_launch() const;
  // Whether the PEs of this host leave each a processor of its own.
  bool may_spin() const;

  // Lets threads 1 .. workers-1 call launch->work(). False if not all could be had; those that
  // could take part.
  bool invite(const std::shared_ptr<Launch>& launch, uint32_t workers);

  CoreMemoryPool& memory() { return memory_; }
  size_t ub_size() const { return ub_size_; }  // of the chip that the runtime reports
  // Stacks of SIMT lanes, without UB.
  CoreMemoryPool& lane_memory() { return lane_memory_; }

 private:
  struct Helper {
    symm_event_count events{};
    std::atomic<bool> called{false};
    std::shared_ptr<Launch> launch;  // handed over by `called`
    uint32_t index = 0;
  };
  void helper_main(Helper* helper);

  const int processors_;
  uint32_t fixed_workers_ = 0;  // 0: by processors and PEs
  bool thread_per_core_ = false;
  std::atomic<int> local_pes_{1};
  const size_t ub_size_;
  CoreMemoryPool memory_;
  CoreMemoryPool lane_memory_;
  std::mutex mutex_;
  std::vector<Helper*> idle_;  // under mutex_
};

}  // namespace symm::runtime
