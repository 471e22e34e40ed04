// Team: some PEs of the instance in an order, as this PE sees them. Teams: those of this instance
// by public number. Threads: finding a team is lock-free (numbers are published with release);
// making and destroying is serialised inside. Ownership: Teams owns every Team; a Team dies when
// its number is released.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <mutex>
#include <vector>

#include "base/status.h"
#include "host_device/shmem_common_types.h"

namespace symm {

class Team {
 public:
  // `members` are world PEs in team order; `world_me` is this PE's number, which must be among
  // them.
  static Result<std::unique_ptr<Team>> make(int number, uint32_t slot, std::vector<int> members,
                                            int world_me, int n_pes);

  int number() const { return record_->team_idx; }
  uint32_t slot() const { return slot_; }
  int me() const { return record_->mype; }
  int size() const { return record_->size; }
  // World PE of a member; index in [0, size).
  int world(int index) const { return record_->pe_mapping[index]; }
  const int32_t* members() const { return record_->pe_mapping; }
  // Member number of a world PE, -1 when it is none.
  int index_of(int world_pe) const {
    if (world_pe < 0 || world_pe >= n_pes_) return -1;
    return record_->pe_mapping[ACLSHMEM_MAX_PES + world_pe];
  }
  // What kernels see.
  aclshmemx_team_t* record() const { return record_.get(); }

 private:
  struct Free {
    void operator()(aclshmemx_team_t* record) const { std::free(record); }
  };
  Team() = default;
  std::unique_ptr<aclshmemx_team_t, Free> record_;
  uint32_t slot_ = 0;
  int n_pes_ = 0;
};

class Teams {
 public:
  // Makes WORLD.
  Status open(int me, int n_pes);
  // Null for numbers that name no team.
  Team* find(int number) const {
    if (number < 0 || number >= ACLSHMEM_MAX_TEAMS) return nullptr;
    // acquire: pairs with the release in add()
    return table_[static_cast<size_t>(number)].load(std::memory_order_acquire);
  }
  Team& world() const { return *owned_[0]; }

 private:
  mutable std::mutex mutex_;
  std::array<std::atomic<Team*>, ACLSHMEM_MAX_TEAMS> table_{};
  std::vector<std::unique_ptr<Team>> owned_;  // by number
};

}  // namespace symm
