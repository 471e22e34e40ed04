// Internal to the kernel side: barriers of teams. First the vector cores of the launch meet, then
// one of them meets the other PEs through the same flags and numbers as the barrier of host
// threads.
#ifndef SYMM_DEVICE_BARRIER_INL_H
#define SYMM_DEVICE_BARRIER_INL_H

#include "device/impl/engine_inl.h"

namespace symm_dev {

// The team, or null for the invalid team. Traps when the number names no team of this PE.
inline const aclshmemx_team_t* team_of(const symm_device_state* s, aclshmem_team_t team,
                                       const char* call) {
  if (team == ACLSHMEM_TEAM_INVALID) return nullptr;
  if (team < 0 || team >= ACLSHMEM_MAX_TEAMS || s->base.team_pools[team] == nullptr) {
    trap("%s on PE %d: there is no team %d here (destroyed, or this PE is no member)", call,
         s->base.mype, team);
  }
  return s->base.team_pools[team];
}

// A member that has left the job and will never enter this barrier, or -1.
SYMM_COLD inline int departed_member(const symm_device_state* s, const aclshmemx_team_t* team,
                                     uint32_t slot, uint64_t number) {
  for (int i = 0; i < team->size; ++i) {
    const int pe = team->pe_mapping[i];
    if (s->peer_control[pe] == nullptr) continue;
    // acquire: what a PE entered before it left is counted
    if (__atomic_load_n(&s->peer_control[pe]->departed, __ATOMIC_ACQUIRE) != 0 &&
        __atomic_load_n(&s->peer_sync[pe][slot].entered, __ATOMIC_ACQUIRE) < number) {
      return pe;
    }
  }
  return -1;
}

// Ends the kernel: `gone` left the job. Names the PE whose death made it leave, if it says so.
[[noreturn]] SYMM_COLD inline void left_without(const symm_device_state* s, int gone,
                                                const char* call) {
  // acquire: written before the mark of departure
  const uint32_t lost = __atomic_load_n(&s->peer_control[gone]->lost, __ATOMIC_ACQUIRE);
  if (lost != 0) {
    trap("%s on PE %d: PE %d is lost, and PE %d ended because of it", call, s->base.mype,
         static_cast<int>(lost) - 1, gone);
  }
  trap("%s on PE %d: PE %d ended without taking part", call, s->base.mype, gone);
}

// One core per PE: returns when every member has entered this barrier of the team. Release on
// entry, acquire on return.
inline void meet_team(const symm_device_state* s, const aclshmemx_team_t* team, const char* call) {
  const uint32_t slot = s->team_slot != nullptr ? s->team_slot[team->team_idx]
                                                : static_cast<uint32_t>(team->team_idx);
  // relaxed: barriers of one team follow each other in program order on a PE
  const uint64_t number = __atomic_add_fetch(&s->team_epoch[slot], 1, __ATOMIC_RELAXED);
  symm_team_sync* own = &s->peer_sync[s->base.mype][slot];
  // release: for the message of a PE that waits for us
  __atomic_store_n(&own->entered, number, __ATOMIC_RELEASE);
  int round = 0;
  for (int64_t distance = 1; distance < team->size; distance *= 2, ++round) {
    const int to = team->pe_mapping[(team->mype + distance) % team->size];
    const int from =
        team->pe_mapping[(team->mype + team->size - distance % team->size) % team->size];
    if (s->peer_sync[to] == nullptr) unmapped(s, to, call);
    // release: what this PE did before the barrier, and what it learned in earlier rounds
    __atomic_store_n(&s->peer_sync[to][slot].flags[round].value, number, __ATOMIC_RELEASE);
    notify_pe(s, to);
    const uint64_t* flag = &own->flags[round].value;
    const uint32_t* departures = &s->peer_control[s->base.mype]->departures;
    int gone = -1;
    auto arrived = [&] {
      // acquire: pairs with the store of the partner
      if (__atomic_load_n(flag, __ATOMIC_ACQUIRE) >= number) return true;
      if (__atomic_load_n(departures, __ATOMIC_ACQUIRE) == 0) return false;
      gone = departed_member(s, team, slot, number);
      return gone >= 0;
    };
    wait_for(s, arrived,
             WaitText{call, SYMM_WAIT_KIND_BARRIER, team->team_idx, from, flag,
                      static_cast<int64_t>(number), -1});
    if (gone >= 0) left_without(s, gone, call);
  }
  __atomic_store_n(&own->left, number, __ATOMIC_RELEASE);
}

// Every vector core of the launch on every member.
inline void team_barrier(aclshmem_team_t team, bool complete, const char* call) {
  const symm_device_state* s = state(call);
  const aclshmemx_team_t* members = team_of(s, team, call);
  if (members == nullptr) return;
  if (complete) {
    quiet_all(s, call);
  } else {
    full_fence();
  }
  symm_rt_sync_all();
  if (core_index(symm_rt_core()) == 0) meet_team(s, members, call);
  symm_rt_sync_all();
}

// One vector core per PE. Returns 0, also at once for a PE that is no member.
inline int engine_barrier(aclshmemx_team_t* team, bool complete, const char* call) {
  const symm_device_state* s = state(call);
  if (team == nullptr || team->mype < 0) return 0;
  if (complete) {
    for (int i = 0; i < team->size; ++i)
      quiet_engine(s, ACLSHMEM_TRANSPORT_ROCE, team->pe_mapping[i], call);
  }
  full_fence();
  meet_team(s, team, call);
  return 0;
}

inline aclshmemx_team_t* world(const char* call) {
  return state(call)->base.team_pools[ACLSHMEM_TEAM_WORLD];
}

}  // namespace symm_dev
#endif
