// CrossFlags: the flags of CrossCoreSetFlag of one launch. For each group (the whole launch, or one
// block) and id, rounds: a round is complete when every core of the group has set it. Lock-free;
// threads: the cores of the launch.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>

namespace symm::runtime {

constexpr uint32_t kCrossIds = 16;
constexpr uint32_t kCrossRounds = 16;  // open at the same time

// What one core has done; only the core itself touches it.
struct CrossCounts {
  uint32_t set_all[kCrossIds] = {};
  uint32_t set_block[kCrossIds] = {};
  uint32_t waited[kCrossIds] = {};
};

class CrossFlags {
 public:
  CrossFlags(uint32_t blocks, uint32_t cores_per_block)
      : cores_per_block_(cores_per_block),
        cores_(blocks * cores_per_block),
        groups_(std::make_unique<Group[]>(blocks + 1)) {}

  // False when the core is kCrossRounds ahead of the slowest core of its group.
  bool set_all(CrossCounts& own, uint32_t id) { return set(groups_[0], own.set_all, id, cores_); }
  bool set_block(CrossCounts& own, uint32_t block, uint32_t id) {
    return set(groups_[block + 1], own.set_block, id, cores_per_block_);
  }
  // Whether the core may pass its next wait for the id.
  bool raised(const CrossCounts& own, uint32_t block, uint32_t id) const {
    // acquire: pairs with the last core that set the round.
    return groups_[0].complete[id].load(std::memory_order_acquire) +
               groups_[block + 1].complete[id].load(std::memory_order_acquire) >
           own.waited[id];
  }

  // For telling that a wait can never end. A waiting core that saw its flag not raised calls
  // blocked() with the state() from before its look; the answer is how many cores have found
  // themselves blocked since the last round was completed. `counted`: the state for which this wait
  // has been counted, at first 0.
  uint64_t state() const { return blocked_.load(std::memory_order_seq_cst) >> 32; }
  uint32_t blocked(uint64_t seen_state, uint64_t& counted) {
    uint64_t now = blocked_.load(std::memory_order_seq_cst);
    if (now >> 32 != seen_state) return 0;
    if (counted != seen_state + 1) {
      while (!blocked_.compare_exchange_weak(now, now + 1, std::memory_order_seq_cst)) {
        if (now >> 32 != seen_state) return 0;
      }
      counted = seen_state + 1;
      ++now;
    }
    return static_cast<uint32_t>(now);
  }

 private:
  struct Group {
    std::atomic<uint32_t> arrived[kCrossIds][kCrossRounds] = {};
    std::atomic<uint32_t> complete[kCrossIds] = {};
  };

  bool set(Group& group, uint32_t* own, uint32_t id, uint32_t parties) {
    // acquire: the round that used this slot before is over.
    if (own[id] - group.complete[id].load(std::memory_order_acquire) >= kCrossRounds - 1)
      return false;
    std::atomic<uint32_t>& arrived = group.arrived[id][own[id]++ % kCrossRounds];
    // acq_rel: the last core gathers what the others did.
    if (arrived.fetch_add(1, std::memory_order_acq_rel) + 1 != parties) return true;
    arrived.store(0, std::memory_order_relaxed);  // published by the next operation
    group.complete[id].fetch_add(1, std::memory_order_acq_rel);
    // A new state: nobody counts as blocked. seq_cst: against state() and blocked().
    uint64_t now = blocked_.load(std::memory_order_seq_cst);
    while (
        !blocked_.compare_exchange_weak(now, ((now >> 32) + 1) << 32, std::memory_order_seq_cst)) {
    }
    return true;
  }

  const uint32_t cores_per_block_;
  const uint32_t cores_;
  std::unique_ptr<Group[]> groups_;   // the launch, then every block
  std::atomic<uint64_t> blocked_{0};  // rounds completed so far, and cores blocked since
};

}  // namespace symm::runtime
