#include "core/team.h"

#include <algorithm>
#include <numeric>

#include "core/instance.h"

namespace symm {

Status Team::fill(int number, const std::vector<int>& members, int world_me, int n_pes) {
  if (!record_) {
    // Large and mostly unused: fresh pages of calloc cost nothing until written.
    record_.reset(static_cast<aclshmemx_team_t*>(std::calloc(1, sizeof(aclshmemx_team_t))));
    if (!record_) return SYMM_ERROR(kNoMemory, "no memory for a team of {} PEs", members.size());
  }
  n_pes_ = n_pes;
  aclshmemx_team_t& record = *record_;
  record.team_idx = number;
  record.size = static_cast<int>(members.size());
  record.start = members[0];
  record.stride = members.size() > 1 ? members[1] - members[0] : 1;
  record.mype = -1;
  record.config = {};
  for (int pe = 0; pe < n_pes; ++pe) record.pe_mapping[ACLSHMEM_MAX_PES + pe] = -1;
  for (size_t i = 0; i < members.size(); ++i) {
    record.pe_mapping[i] = members[i];
    record.pe_mapping[ACLSHMEM_MAX_PES + members[i]] = static_cast<int>(i);
    if (members[i] == world_me) record.mype = static_cast<int>(i);
  }
  slots_.assign(members.size(), kUnseen);
  slots_[static_cast<size_t>(record.mype)] = static_cast<uint32_t>(number);
  // relaxed: nobody else knows the team yet
  ready_.store(false, std::memory_order_relaxed);
  id_ = 0;
  failures_ = 0;
  asked_ = std::chrono::steady_clock::now();
  heard_.assign(members.size(), 0);
  culprit_ = -1;
  code_ = Code::kOk;
  return {};
}

Status Teams::open(Instance& instance) {
  instance_ = &instance;
  std::vector<int> all(static_cast<size_t>(instance.n_pes()));
  std::iota(all.begin(), all.end(), 0);
  std::vector<int> near;
  for (int pe : all) {
    if (instance.route(pe).control != nullptr) near.push_back(pe);
  }
  std::lock_guard lock(mutex_);
  SYMM_TRY(predefine(ACLSHMEM_TEAM_WORLD, all));
  SYMM_TRY(predefine(ACLSHMEMX_TEAM_SHARED, near));
  return predefine(ACLSHMEMX_TEAM_NODE, near);
}

Status Teams::predefine(int number, const std::vector<int>& members) {
  const auto index = static_cast<size_t>(number);
  owned_[index] = std::make_unique<Team>();
  Team& team = *owned_[index];
  SYMM_TRY(team.fill(number, members, instance_->pe(), instance_->n_pes()));
  used_[index] = true;
  std::fill(team.slots_.begin(), team.slots_.end(), static_cast<uint32_t>(number));
  // release: a thread that finds the team sees it complete
  team.ready_.store(true, std::memory_order_release);
  table_[index].store(&team, std::memory_order_release);
  return {};
}

// The lowest free place in [from, to), or -1.
int Teams::claim(uint32_t from, uint32_t to) {
  for (uint32_t i = from; i < to; ++i) {
    if (used_[i]) continue;
    used_[i] = true;
    if (!owned_[i]) owned_[i] = std::make_unique<Team>();
    return static_cast<int>(i);
  }
  return -1;
}

void Teams::publish(Team& team) {
  instance_->device().set_team(team);
  // release: a thread that finds the team sees it complete
  table_[team.slot()].store(&team, std::memory_order_release);
}

Result<int> Teams::make(const std::vector<int>& members, const Team& parent, const char* call) {
  forget_refusals();
  const int me = instance_->pe();
  Team* team = nullptr;
  {
    std::lock_guard lock(mutex_);
    reap();
    int number = claim(1, ACLSHMEM_MAX_TEAMS);
    const bool full = number < 0;
    if (full) number = claim(kTeamSlots, kTeamCards);
    if (number < 0) {
      return SYMM_ERROR(kInternal, "{} on PE {}: all {} teams are in use; destroy some", call, me,
                        ACLSHMEM_MAX_TEAMS);
    }
    team = owned_[static_cast<size_t>(number)].get();
    Status filled = team->fill(number, members, me, instance_->n_pes());
    if (!filled.ok()) {
      used_[static_cast<size_t>(number)] = false;
      return filled;
    }
    begin(*team, parent, full);
  }
  Status met = run(*team, call, true);
  std::lock_guard lock(mutex_);
  if (!met.ok()) {
    retire(*team);
    return met;
  }
  publish(*team);
  return team->number();
}

Status Teams::destroy(int number, const char* call) {
  Team* team = find(number);
  if (team == nullptr || number == ACLSHMEM_TEAM_WORLD || number == ACLSHMEMX_TEAM_SHARED ||
      number == ACLSHMEMX_TEAM_NODE) {
    return SYMM_ERROR(kInvalidParam, "{} on PE {}: team {} {}", call, instance_->pe(), number,
                      team == nullptr ? "does not exist here" : "is made by the library and stays");
  }
  // Members that have not made it yet would never meet this one.
  Status met = meet(*team, call);
  std::lock_guard lock(mutex_);
  retire(*team);
  return met;
}

Status Teams::meet(Team& team, const char* call) {
  if (team.ready()) [[likely]]
    return {};
  return run(team, call, false);
}

int Teams::ready(int number, char* text, size_t size) {
  Team* team = find(number);
  if (team == nullptr) return 1;
  const Step step = advance(*team, false);
  if (step == Step::kFailed) {
    std::snprintf(text, size, "%s", std::string(failure(*team, "team").text()).c_str());
    return -1;
  }
  return step == Step::kReady ? 1 : 0;
}

Status Teams::refuse(const Team* parent, Status why) {
  std::lock_guard lock(mutex_);
  Team& team = *owned_[static_cast<size_t>(parent != nullptr ? parent->number() : 0)];
  symm_team_sync& mine = place(instance_->pe(), team.slot());
  // release: with the count, what this PE did before
  __atomic_store_n(&mine.failed_splits, (mine.entered << 20) | (++team.failures_ & 0xfffff),
                   __ATOMIC_RELEASE);
  refused_teams_.push_back(&team);
  refused_.store(true, std::memory_order_relaxed);
  tell(team);
  return why;
}

void Teams::clear_refusals() {
  std::lock_guard lock(mutex_);
  for (const Team* team : refused_teams_) {
    __atomic_store_n(&place(instance_->pe(), team->slot()).failed_splits, uint64_t{0},
                     __ATOMIC_RELEASE);
  }
  refused_teams_.clear();
  refused_.store(false, std::memory_order_relaxed);
}

}  // namespace symm
