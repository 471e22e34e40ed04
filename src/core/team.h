// Team: some PEs of the instance in an order, as this PE sees them. Teams: those of this instance
// by public number, and how their members find each other. A team is known by its members, never
// by its number: every PE picks a number and a place to meet of its own and tells the others.
// Threads: finding a team is lock-free (numbers are published with release); making and destroying
// is serialised inside, but not while it waits for other PEs. Ownership: Teams owns every Team and
// keeps its memory for the next team of that number.
#pragma once

#include <array>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <mutex>
#include <unordered_set>
#include <vector>

#include "base/status.h"
#include "core/control_area.h"
#include "host_device/shmem_common_types.h"

namespace symm {

class Instance;

class Team {
 public:
  static constexpr uint32_t kUnseen = UINT32_MAX;

  // `members` are world PEs in team order; `world_me` is this PE's number, which must be among
  // them. Reuses the memory of the object.
  Status fill(int number, const std::vector<int>& members, int world_me, int n_pes);

  int number() const { return record_->team_idx; }
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
  // Where this PE meets the others: its number.
  uint32_t slot() const { return static_cast<uint32_t>(record_->team_idx); }
  // By member: the place in the member's table. Complete once ready.
  const uint32_t* slots() const { return slots_.data(); }
  // Every member has made the team. acquire: pairs with the store of who found the last one
  bool ready() const { return ready_.load(std::memory_order_acquire); }
  // What kernels see.
  aclshmemx_team_t* record() const { return record_.get(); }

 private:
  friend class Teams;
  struct Free {
    void operator()(aclshmemx_team_t* record) const { std::free(record); }
  };
  std::unique_ptr<aclshmemx_team_t, Free> record_;
  std::vector<uint32_t> slots_;
  int n_pes_ = 0;
  std::atomic<bool> ready_{false};
  // Below: guarded by the mutex of Teams.
  uint64_t key_ = 0;
  uint64_t id_ = 0;  // 0: the first member's card has not been seen
  const Team* parent_ = nullptr;
  uint64_t failures_ = 0;  // failed splits of this team that this PE has made
  std::chrono::steady_clock::time_point asked_{};  // since when this PE waits for the members
  std::vector<uint64_t> heard_;  // by member: its failed splits that this PE has acted on
  int culprit_ = -1;             // the PE that could not make this team, -1 if none
  Code code_ = Code::kOk;
};

class Teams {
 public:
  // Makes WORLD, and the teams of the PEs that share memory with this one.
  Status open(Instance& instance);
  // Null for numbers that name no team.
  Team* find(int number) const {
    if (number < 0 || number >= ACLSHMEM_MAX_TEAMS) return nullptr;
    // acquire: pairs with the release in publish()
    return table_[static_cast<size_t>(number)].load(std::memory_order_acquire);
  }
  Team& world() const { return *owned_[0]; }

  // Collective over `members` (world PEs in team order, this one among them): its number on this
  // PE. Needs no other PE. Fails on all members when it fails on one. Members that make teams in
  // different orders do not wait for each other: the team is then complete at its first use.
  Result<int> make(const std::vector<int>& members, const Team& parent, const char* call);
  // Local. kInvalidParam for numbers that name no team or one that the library made.
  Status destroy(int number, const char* call);
  // Blocks until every member has made the team.
  Status meet(Team& team, const char* call);
  // Tells those who wait for this PE in a split of `parent` that its own call failed; null: in any
  // split. The Status is handed back.
  Status refuse(const Team* parent, Status why);
  // For kernels: symm_device_state::team_ready.
  int ready(int number, char* text, size_t size);
  // Forgets what refuse() has told, when this PE goes on to another collective call.
  void forget_refusals() {
    // relaxed: set and cleared by calls that follow each other
    if (refused_.load(std::memory_order_relaxed)) clear_refusals();
  }
  // What a wait in make() or meet() is about.
  void describe(const symm_wait& wait, char* text, size_t size) const;

 private:
  enum class Step { kWaiting, kReady, kFailed, kLeave };
  struct Meeting;
  // A card of a destroyed team that other members may still need.
  struct Leftover {
    uint64_t id;
    uint32_t card;
    std::vector<std::pair<int, uint32_t>> waiting;  // PE and its place, or kUnseen
  };
  struct Bound {
    uint64_t id;
    uint32_t card;  // of the first member
  };

  Status predefine(int number, const std::vector<int>& members);
  void begin(Team& team, const Team& parent, bool full);
  int claim(uint32_t from, uint32_t to);
  void clear_place(uint32_t slot);
  void post(Team& team);
  void publish(Team& team);
  bool bind(Team& team);
  Step advance(Team& team, bool may_leave);
  Status failure(const Team& team, const char* call) const;
  void look_for_refusals(Team& team, int member);
  void set_culprit(Team& team, int pe, Code code);
  void tell(const Team& team) const;
  void clear_refusals();
  bool circle(const Team& team, int missing) const;
  static bool is_late(const Team& team);
  Status run(Team& team, const char* call, bool may_leave);
  void retire(Team& team);
  void withdraw(uint32_t card, uint64_t id);
  bool done(Leftover& leftover, std::pair<int, uint32_t>& one) const;
  void reap();
  uint32_t find_card(int pe, uint64_t id, uint32_t hint) const;
  symm_control_page& page(int pe) const;
  symm_team_card* cards(int pe) const;
  symm_team_sync& place(int pe, uint32_t slot) const;

  Instance* instance_ = nullptr;
  mutable std::mutex mutex_;
  std::array<std::atomic<Team*>, ACLSHMEM_MAX_TEAMS> table_{};
  std::array<std::unique_ptr<Team>, kTeamCards> owned_;  // by number
  std::array<bool, kTeamCards> used_{};
  uint64_t serial_ = 0;  // of the teams whose first member is this PE
  // Teams of other first members that this PE has joined, until their cards are gone: an id is
  // joined once.
  std::unordered_set<uint64_t> joined_;
  std::vector<Bound> bound_;
  std::vector<Leftover> leftovers_;
  std::atomic<bool> refused_{false};
  std::vector<const Team*> refused_teams_;
};

}  // namespace symm
