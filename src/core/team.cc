#include "core/team.h"

#include <numeric>

namespace symm {

Result<std::unique_ptr<Team>> Team::make(int number, uint32_t slot, std::vector<int> members,
                                         int world_me, int n_pes) {
  std::unique_ptr<Team> team(new Team);
  // Large and mostly unused: fresh pages of calloc cost nothing until written.
  team->record_.reset(static_cast<aclshmemx_team_t*>(std::calloc(1, sizeof(aclshmemx_team_t))));
  if (!team->record_) return SYMM_ERROR(kNoMemory, "no memory for a team of {}", members.size());
  team->slot_ = slot;
  team->n_pes_ = n_pes;
  aclshmemx_team_t& record = *team->record_;
  record.team_idx = number;
  record.size = static_cast<int>(members.size());
  record.start = members[0];
  record.stride = members.size() > 1 ? members[1] - members[0] : 1;
  record.mype = -1;
  for (int pe = 0; pe < n_pes; ++pe) record.pe_mapping[ACLSHMEM_MAX_PES + pe] = -1;
  for (size_t i = 0; i < members.size(); ++i) {
    record.pe_mapping[i] = members[i];
    record.pe_mapping[ACLSHMEM_MAX_PES + members[i]] = static_cast<int>(i);
    if (members[i] == world_me) record.mype = static_cast<int>(i);
  }
  return team;
}

Status Teams::open(int me, int n_pes) {
  std::vector<int> all(static_cast<size_t>(n_pes));
  std::iota(all.begin(), all.end(), 0);
  SYMM_ASSIGN(auto world, Team::make(ACLSHMEM_TEAM_WORLD, 0, std::move(all), me, n_pes));
  std::lock_guard lock(mutex_);
  owned_.push_back(std::move(world));
  // release: a thread that finds the team sees it complete
  table_[0].store(owned_[0].get(), std::memory_order_release);
  return {};
}

}  // namespace symm
