// Some PEs inside one test process: hand-made device states over plain memory, real engines, one
// stream per PE. What runs in their kernels is the kernel side of SHMEM alone, without libshmem's
// instance. Threads: one test thread. A World must outlive its launches; run() waits for them.
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "acl/acl.h"
#include "host_device/symm_device_state.h"
#include "transport/dma/engine.h"

namespace symm::test {

struct WorldOptions {
  int pes = 2;
  uint8_t topology = ACLSHMEM_TRANSPORT_MTE;  // engines that generic calls may choose
  uint32_t depth = 8;                         // of the engines' queues
  uint64_t delay_us = 0;                      // of every queued descriptor
  uint64_t timeout_ms = 60'000;               // of every wait
  std::vector<int> unmapped = {};             // PEs whose memory the others cannot reach
};

class World {
 public:
  static constexpr uint64_t kHeapBytes = 1 << 20;
  // Staging memory of the collectives, behind the heap; small, so that few elements make many
  // chunks.
  static constexpr uint64_t kScratchBytes = 16 * 1024;
  static constexpr uint32_t kScratchPieces = 2;

  explicit World(const WorldOptions& options);
  ~World();
  World(const World&) = delete;
  World& operator=(const World&) = delete;

  int pes() const { return options_.pes; }
  symm_device_state& state(int pe) { return pes_[static_cast<size_t>(pe)]->state; }
  aclrtStream stream(int pe) { return pes_[static_cast<size_t>(pe)]->stream; }

  // Symmetric memory of a PE at a byte offset.
  template <typename T>
  T* at(int pe, uint64_t offset) {
    return reinterpret_cast<T*>(static_cast<char*>(state(pe).base.heap_base) + offset);
  }

  // Makes a team of these world PEs known to its members; returns its number.
  int make_team(const std::vector<int>& members);

  // Runs body(pe) on every core of a kernel on every PE and waits. The error text of each PE, empty
  // if its kernel was fine.
  std::vector<std::string> run(uint32_t blocks, std::function<void(int)> body,
                               int cores_per_block = 1);
  // The same, and every PE must be fine.
  void run_ok(uint32_t blocks, std::function<void(int)> body, int cores_per_block = 1);

  // As when a peer dies: every wait of PE pe ends.
  void lose_peer(int pe) {
    __atomic_store_n(&pes_[static_cast<size_t>(pe)]->failure, 1, __ATOMIC_RELEASE);
  }

 private:
  struct Pe;
  void fill(int pe);

  struct Free {
    void operator()(void* memory) const { std::free(memory); }
  };
  struct Pe {
    std::unique_ptr<char, Free> heap;
    std::vector<symm_team_sync> sync;
    symm_control_page control{};
    uint32_t failure = 0;
    symm_wait_domain domain{};
    std::vector<void*> peer_heap;
    std::vector<symm_team_sync*> peer_sync;
    std::vector<symm_control_page*> peer_control;
    std::vector<uint64_t> epochs;
    std::vector<aclshmemx_team_t*> teams;
    std::unique_ptr<dma::Engine> rdma, sdma, udma;
    uint32_t scratch_taken = 0;
    symm_device_state state{};
    aclrtStream stream = nullptr;
  };
  WorldOptions options_;
  std::vector<std::unique_ptr<Pe>> pes_;
};

}  // namespace symm::test
