// Numbers of PEs and teams; making teams.
#include "capi/edge.h"
#include "capi/globals.h"
#include "host/team/shmem_host_team.h"
#include "ops/team_split.h"

using symm::Instance;
using symm::Status;

namespace {

// The team of the current instance, or null.
const symm::Team* find(aclshmem_team_t team) {
  symm::Instance* instance = symm::current();
  return instance != nullptr ? instance->teams().find(team) : nullptr;
}

// Runs split(instance), which gives a number, and writes the number.
template <typename Split>
int make_team(const char* call, aclshmem_team_t parent, aclshmem_team_t* out, Split split) {
  if (out != nullptr) *out = ACLSHMEM_TEAM_INVALID;
  if (symm::current() == nullptr) return -1;
  return symm::capi::with_instance(call, [&](Instance& instance) -> Status {
    if (out == nullptr) {
      Status why = SYMM_ERROR(kInvalidParam, "{} on PE {}: no place for the number of the team",
                              call, instance.pe());
      return symm::ops::refuse_split(instance, parent, std::move(why));
    }
    SYMM_ASSIGN(*out, split(instance));
    symm::capi::publish_team(instance, *out);
    return {};
  });
}

}  // namespace

int aclshmem_my_pe(void) {
  symm::Instance* instance = symm::current();
  return instance != nullptr ? instance->pe() : -1;
}

int aclshmem_n_pes(void) {
  symm::Instance* instance = symm::current();
  return instance != nullptr ? instance->n_pes() : -1;
}

int aclshmem_team_my_pe(aclshmem_team_t team) {
  const symm::Team* found = find(team);
  return found != nullptr ? found->me() : -1;
}

int aclshmem_team_n_pes(aclshmem_team_t team) {
  const symm::Team* found = find(team);
  return found != nullptr ? found->size() : -1;
}

int aclshmem_team_translate_pe(aclshmem_team_t src_team, int src_pe, aclshmem_team_t dest_team) {
  const symm::Team* from = find(src_team);
  const symm::Team* to = find(dest_team);
  if (from == nullptr || to == nullptr || src_pe < 0 || src_pe >= from->size()) return -1;
  return to->index_of(from->world(src_pe));
}

int aclshmem_team_get_config(aclshmem_team_t team, aclshmem_team_config_t* config) {
  if (config == nullptr) return 1;
  const symm::Team* found = find(team);
  if (found == nullptr) return -1;
  *config = found->record()->config;
  return 0;
}

int aclshmem_team_split_strided(aclshmem_team_t parent_team, int pe_start, int pe_stride,
                                int pe_size, aclshmem_team_t* new_team) {
  static constexpr const char* kCall = "aclshmem_team_split_strided";
  return make_team(kCall, parent_team, new_team, [&](Instance& instance) {
    return symm::ops::split_strided(instance, parent_team, pe_start, pe_stride, pe_size, kCall);
  });
}

int aclshmem_team_split_2d(aclshmem_team_t parent_team, int x_range, aclshmem_team_t* x_team,
                           aclshmem_team_t* y_team) {
  static constexpr const char* kCall = "aclshmem_team_split_2d";
  if (y_team != nullptr) *y_team = ACLSHMEM_TEAM_INVALID;
  aclshmem_team_t* first = y_team != nullptr ? x_team : nullptr;
  if (first == nullptr && x_team != nullptr) *x_team = ACLSHMEM_TEAM_INVALID;
  return make_team(kCall, parent_team, first, [&](Instance& instance) -> symm::Result<int> {
    SYMM_ASSIGN(const symm::ops::Axes axes,
                symm::ops::split_2d(instance, parent_team, x_range, kCall));
    *y_team = axes.y;
    symm::capi::publish_team(instance, axes.y);
    return int{axes.x};
  });
}

void aclshmem_team_destroy(aclshmem_team_t team) {
  static constexpr const char* kCall = "aclshmem_team_destroy";
  if (team == ACLSHMEM_TEAM_INVALID || symm::current() == nullptr) return;
  symm::capi::with_instance(kCall, [&](Instance& instance) {
    Status done = symm::ops::destroy_team(instance, team, kCall);
    symm::capi::publish_team(instance, team);
    return done;
  });
}

int aclshmemx_team_split_size(aclshmem_team_t parent_team, int size, aclshmem_team_t* new_team) {
  static constexpr const char* kCall = "aclshmemx_team_split_size";
  return make_team(kCall, parent_team, new_team, [&](Instance& instance) {
    return symm::ops::split_by_size(instance, parent_team, size, kCall);
  });
}

int aclshmemx_team_split_list(aclshmem_team_t parent_team, const int* pes, int count,
                              aclshmem_team_t* new_team) {
  static constexpr const char* kCall = "aclshmemx_team_split_list";
  return make_team(kCall, parent_team, new_team, [&](Instance& instance) {
    return symm::ops::split_list(instance, parent_team, pes, count, kCall);
  });
}

int aclshmemx_team_split_color(aclshmem_team_t parent_team, int color, int key,
                               aclshmem_team_t* new_team) {
  static constexpr const char* kCall = "aclshmemx_team_split_color";
  return make_team(kCall, parent_team, new_team, [&](Instance& instance) {
    return symm::ops::split_color(instance, parent_team, color, key, kCall);
  });
}
