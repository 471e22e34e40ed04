#include "ops/team_split.h"

#include <algorithm>

#include "ops/barrier.h"

namespace symm::ops {
namespace {

Result<Team*> parent_of(Instance& instance, int number, const char* call) {
  Team* team = instance.teams().find(number);
  if (team != nullptr) return team;
  return instance.teams().refuse(
      nullptr, SYMM_ERROR(kInvalidParam, "{} on PE {}: the parent team {} does not exist here",
                          call, instance.pe(), number));
}

// The team of these numbers of the parent, or none when this PE is not among them.
Result<int> make(Instance& instance, Team& parent, std::vector<int> members, const char* call) {
  const auto me = std::find(members.begin(), members.end(), parent.me());
  if (me == members.end()) return int{ACLSHMEM_TEAM_INVALID};
  for (int& member : members) member = parent.world(member);
  return instance.teams().make(members, parent, call);
}

}  // namespace

Status refuse_split(Instance& instance, int parent, Status why) {
  return instance.teams().refuse(instance.teams().find(parent), std::move(why));
}

Result<int> split_strided(Instance& instance, int parent, int start, int stride, int size,
                          const char* call) {
  SYMM_ASSIGN(Team * above, parent_of(instance, parent, call));
  const int n = above->size();
  const int64_t last = start + static_cast<int64_t>(stride) * (static_cast<int64_t>(size) - 1);
  if (start < 0 || start >= n || size <= 0 || size > n || last < 0 || last >= n ||
      (stride == 0 && size != 1)) {
    return refuse_split(
        instance, parent,
        SYMM_ERROR(kInvalidParam,
                   "{} on PE {}: {} PEs from {} at a distance of {} do not lie in team {}, whose "
                   "PEs are 0..{}",
                   call, instance.pe(), size, start, stride, parent, n - 1));
  }
  std::vector<int> members;
  for (int i = 0; i < size; ++i) members.push_back(start + i * stride);
  return make(instance, *above, std::move(members), call);
}

Result<Axes> split_2d(Instance& instance, int parent, int x_range, const char* call) {
  SYMM_ASSIGN(Team * above, parent_of(instance, parent, call));
  if (x_range <= 0) {
    return refuse_split(
        instance, parent,
        SYMM_ERROR(kInvalidParam, "{} on PE {}: x_range is {}, at least 1 is needed", call,
                   instance.pe(), x_range));
  }
  const int n = above->size();
  const int width = std::min(x_range, n);
  std::vector<int> row;
  std::vector<int> column;
  for (int pe = 0; pe < n; ++pe) {
    if (pe / width == above->me() / width) row.push_back(pe);
    if (pe % width == above->me() % width) column.push_back(pe);
  }
  Axes axes;
  SYMM_ASSIGN(axes.x, make(instance, *above, std::move(row), call));
  auto y = make(instance, *above, std::move(column), call);
  if (!y.ok()) {
    // Without both there is neither. The error of the second is the one to report.
    Status gone = instance.teams().destroy(axes.x, call);
    return gone.ok() ? std::move(y.status()) : std::move(y.status()).with_context(gone.to_string());
  }
  axes.y = y.value();
  return axes;
}

Result<int> split_by_size(Instance& instance, int parent, int size, const char* call) {
  SYMM_ASSIGN(Team * above, parent_of(instance, parent, call));
  if (size <= 0) {
    return refuse_split(instance, parent,
                        SYMM_ERROR(kInvalidParam,
                                   "{} on PE {}: groups of {} PEs; at least 1 is "
                                   "needed",
                                   call, instance.pe(), size));
  }
  const int first = above->me() / size * size;
  std::vector<int> members;
  for (int pe = first; pe < above->size() && pe - first < size; ++pe) members.push_back(pe);
  return make(instance, *above, std::move(members), call);
}

Result<int> split_list(Instance& instance, int parent, const int* pes, int count,
                       const char* call) {
  SYMM_ASSIGN(Team * above, parent_of(instance, parent, call));
  auto refuse = [&](std::string what) {
    return refuse_split(
        instance, parent,
        SYMM_ERROR(kInvalidParam, "{} on PE {}: {}; PEs of team {} are 0..{}, each at most once",
                   call, instance.pe(), what, parent, above->size() - 1));
  };
  if (pes == nullptr || count <= 0) return refuse("the list is empty");
  std::vector<bool> seen(static_cast<size_t>(above->size()));
  for (int i = 0; i < count; ++i) {
    const int pe = pes[i];
    if (pe < 0 || pe >= above->size()) return refuse(fmt::format("entry {} is PE {}", i, pe));
    if (seen[static_cast<size_t>(pe)]) return refuse(fmt::format("PE {} comes twice", pe));
    seen[static_cast<size_t>(pe)] = true;
  }
  return make(instance, *above, std::vector<int>(pes, pes + count), call);
}

Result<int> split_color(Instance& instance, int parent, int color, int key, const char* call) {
  SYMM_ASSIGN(Team * above, parent_of(instance, parent, call));
  SYMM_TRY(instance.teams().meet(*above, call));
  auto place = [&](int member) -> symm_team_sync& {
    return instance.route(above->world(member)).sync[above->slots()[member]];
  };
  // relaxed: the barriers order them
  __atomic_store_n(&place(above->me()).split_value[0], int64_t{color}, __ATOMIC_RELAXED);
  __atomic_store_n(&place(above->me()).split_value[1], int64_t{key}, __ATOMIC_RELAXED);
  SYMM_TRY(sync(instance, *above, SYMM_CALL_SPLIT, call));
  std::vector<std::pair<int64_t, int>> same;
  for (int member = 0; member < above->size(); ++member) {
    if (__atomic_load_n(&place(member).split_value[0], __ATOMIC_RELAXED) != color) continue;
    same.emplace_back(__atomic_load_n(&place(member).split_value[1], __ATOMIC_RELAXED), member);
  }
  // Nobody writes the next values before all have read these.
  SYMM_TRY(sync(instance, *above, SYMM_CALL_SPLIT, call));
  if (color < 0) return int{ACLSHMEM_TEAM_INVALID};
  std::sort(same.begin(), same.end());
  std::vector<int> members;
  for (const auto& [order, member] : same) members.push_back(member);
  return make(instance, *above, std::move(members), call);
}

Status destroy_team(Instance& instance, int team, const char* call) {
  if (team == ACLSHMEM_TEAM_INVALID) return {};
  return instance.teams().destroy(team, call);
}

}  // namespace symm::ops
