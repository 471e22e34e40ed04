// Instance: all that a PE owns in one job. Opened in the order of the steps in open(), torn down in
// reverse. Threads: open and close by one thread; everything else by any thread in between.
// Ownership: the registry in core/current owns instances made through the C calls; tests own
// theirs.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "base/status.h"
#include "core/control_area.h"
#include "core/control_plane.h"
#include "core/default_stream.h"
#include "core/device_state.h"
#include "core/health.h"
#include "core/options.h"
#include "core/peers.h"
#include "core/pending_buffers.h"
#include "core/route.h"
#include "core/spaces.h"
#include "core/team.h"
#include "heap/segment.h"
#include "heap/symmetric_heap.h"
#include "transport/dma/engine.h"

namespace symm {

// How work that was queued finds its instance; null once the instance is gone. Threads: any.
class InstanceLink {
 public:
  explicit InstanceLink(class Instance* instance) : instance_(instance) {}
  // acquire and release: the instance is complete for who finds it
  Instance* get() const { return instance_.load(std::memory_order_acquire); }
  void cut() { instance_.store(nullptr, std::memory_order_release); }

 private:
  std::atomic<Instance*> instance_;
};

class Instance : private AgreementBarrier {
 public:
  // Collective over all PEs of the job. An error that one PE meets reaches all.
  static Result<std::unique_ptr<Instance>> open(const InstanceOptions& options);
  // Not collective: this PE cannot open its instance and tells the others so.
  static void refuse(const InstanceOptions& options, const Status& why);
  // Collective: completes everything, meets the others, says goodbye. The object is dead
  // afterwards, whatever the result.
  Status close();
  ~Instance();
  Instance(const Instance&) = delete;
  Instance& operator=(const Instance&) = delete;

  int pe() const { return pe_; }
  int n_pes() const { return n_pes_; }
  uint64_t id() const { return options_.id; }
  aclshmemx_init_status_t status() const { return status_; }

  // The symmetric heap as the hot path sees it: what the allocator may hand out.
  std::byte* heap_base() const { return heap_base_; }
  uint64_t heap_limit() const { return heap_limit_; }
  // All of it: the library's own part lies from heap_limit() on.
  uint64_t heap_bytes() const { return heap_limit_ + kInternalBytes; }
  const Route& route(int pe) const { return routes_[static_cast<size_t>(pe)]; }
  const FastPath& fast() const { return fast_; }
  // SHMEM_CHECK: 0 nothing, 1 PE and range, 2 also alignment, overlap and buffers in use.
  int check_level() const { return check_level_; }
  PendingBuffers& pending() { return pending_; }

  SymmetricHeap& heap() { return *heap_; }
  Spaces& spaces() { return *spaces_; }
  const Spaces& spaces() const { return *spaces_; }
  Teams& teams() { return teams_; }
  Health& health() { return health_; }
  ControlPlane& control() { return *control_; }
  PeerMemory& memory() { return *memory_; }
  DeviceState& device() { return device_; }
  DefaultStream& stream() { return stream_; }
  symm_wait_domain* wait_domain() { return &domain_; }
  const InstanceOptions& options() const { return options_; }

  // Barrier of one slot: number of the barrier this PE enters next. Shared with kernels.
  uint64_t* epochs() { return epochs_.data(); }

  // Everything that this PE has queued is complete when it returns: default stream and engines.
  Status quiesce();
  // The engines alone.
  Status quiesce_engines();
  std::shared_ptr<InstanceLink> link() const { return link_; }

  // In a child of fork: the connections are the parent's alone. Takes no lock.
  void in_forked_child();

  // The process ends without finalize: tells the others, closes the connection. Never blocks for
  // long.
  void leave_at_exit();

  // Asks every PE of the job to end with the status.
  Status global_exit(int status);
  // Ends this process after a global exit. Threads may be anywhere, so no destructors run.
  [[noreturn]] void end_process(int status) const;

  // What a wait is about and which PEs are missing.
  void describe(const symm_wait& wait, char* text, size_t size) const;

 private:
  explicit Instance(const InstanceOptions& options) : options_(options) {}

  Status connect();
  Status agree_on_attributes();
  Status make_memory();
  Status map_peers();
  Status make_routes();
  void choose_checks();
  Status open_engines();
  Status start_trace();
  void finish_trace();
  void publish();
  void print_info();
  Status agree(const MemoryRecord& record) override;
  Status differ(uint64_t number, int pe, const void* site);
  Status report_leaks() const;
  void depart(uint32_t how);
  void tear_down();

  std::optional<int> announced_exit() const;
  void announce_exit(int status);
  void end_job(int status);
  static void on_event(void* user, int event, int pe, const char* text);

  // Read by every data call; first, so that they share cache lines.
  FastPath fast_;
  std::byte* heap_base_ = nullptr;
  uint64_t heap_limit_ = 0;
  std::vector<Route> routes_;
  int pe_ = -1;
  int n_pes_ = 0;

  int check_level_ = 1;
  PendingBuffers pending_;
  aclshmemx_init_status_t status_ = ACLSHMEM_STATUS_NOT_INITIALIZED;
  InstanceOptions options_;
  Health health_;
  symm_wait_domain domain_{};
  std::unique_ptr<ControlPlane> control_;
  std::unique_ptr<PeerMemory> memory_;
  std::unique_ptr<SymmetricHeap> heap_;
  std::unique_ptr<Spaces> spaces_;  // exists when the heap does
  Teams teams_;
  std::vector<uint64_t> epochs_;
  uint64_t agreements_ = 0;  // collective memory calls so far; guarded by the barrier's own order
  std::mutex agreement_mutex_;
  std::unique_ptr<dma::Engine> rdma_;
  std::unique_ptr<dma::Engine> sdma_;
  std::unique_ptr<dma::Engine> udma_;
  DefaultStream stream_;
  DeviceState device_;
  std::shared_ptr<InstanceLink> link_ = std::make_shared<InstanceLink>(this);
  uint64_t salt_ = 0;
  std::atomic<bool> mapped_{false};
  bool closed_ = false;
  bool ended_together_ = false;
  bool left_ = false;
  bool traced_ = false;
};

}  // namespace symm
