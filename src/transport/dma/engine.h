// Engine: an asynchronous copy and atomics engine (RDMA, SDMA or UDMA) of one PE. Kernels push
// descriptors on its queues (host_device/symm_engine_queue.h); worker threads, made at the first
// use, execute them. A core that waits may help. Threads: connect, help and quiesce from any
// thread; open and destruction by the owner, with no kernel running. Ownership: the Instance owns
// the Engine; kernels see the plain symm_engine inside. The wait domain must outlive it.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>

#include "base/status.h"
#include "host_device/symm_engine_queue.h"

namespace symm::dma {

struct EngineOptions {
  uint32_t kind = 0;     // aclshmem_transport_t bit
  int n_queues = 0;      // PEs, or SYMM_SDMA_CHANNELS for SDMA
  uint32_t depth = 64;   // descriptors a queue holds; power of two
  uint32_t workers = 1;  // threads
  uint64_t delay_us =
      0;  // every descriptor takes at least this long, one after the other in its queue
  uint64_t latency_us = 0;   // added to every descriptor; those of one queue overlap
  uint64_t bytes_per_s = 0;  // bandwidth all queues share; 0 is no limit
  std::function<bool(int)>
      reachable;  // may this queue exist? Unset: all. Called once per queue, by any thread

  // Depth, workers and pacing from the SHMEM_ENGINE_* options.
  static EngineOptions from_config(uint32_t kind, int n_queues);
};

class Engine {
 public:
  // kInvalidValue for a depth that is no power of two, or no queues. No thread is started.
  static Result<std::unique_ptr<Engine>> open(EngineOptions options, symm_wait_domain* wait);
  // Stops the threads. Descriptors still queued are dropped: call quiesce() first.
  ~Engine();
  Engine(const Engine&) = delete;
  Engine& operator=(const Engine&) = delete;

  // What kernels get.
  symm_engine* shared();

  // Blocks until everything queued before the call is complete, helping. kPeerLost and kTimeout as
  // in os::wait.
  Status quiesce();

 private:
  friend struct EngineAccess;
  struct Body;
  explicit Engine(std::unique_ptr<Body> body);
  std::unique_ptr<Body> body_;
};

}  // namespace symm::dma
