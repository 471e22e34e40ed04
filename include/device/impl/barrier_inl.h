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

// By member: which entry of its team syncs belongs to the team. Null: the team's number. Blocks
// until all members have made the team.
inline const uint32_t* slots_of(const symm_device_state* s, const aclshmemx_team_t* team,
                                const char* call) {
  if (s->team_slots == nullptr) return nullptr;
  const uint32_t* const* entry = &s->team_slots[team->team_idx];
  // acquire: pairs with the store of the host, which fills the table before
  const uint32_t* slots = __atomic_load_n(entry, __ATOMIC_ACQUIRE);
  if (__builtin_expect(slots != nullptr, 1)) return slots;
  char text[400] = "";
  int met = 0;
  auto ready = [&] {
    met = s->team_ready(s->owner, team->team_idx, text, sizeof text);
    return met != 0;
  };
  wait_for(s, ready, WaitText{call, SYMM_WAIT_KIND_VALUE, team->team_idx, -1, nullptr, 0, -1});
  slots = __atomic_load_n(entry, __ATOMIC_ACQUIRE);
  if (met < 0 || slots == nullptr) {
    trap("%s on PE %d: team %d cannot be used: %s", call, s->base.mype, team->team_idx,
         met < 0 ? text : "it was destroyed");
  }
  return slots;
}

// Where a member meets the others; its memory must be mapped here.
inline symm_team_sync* place_of(const symm_device_state* s, const aclshmemx_team_t* team,
                                const uint32_t* slots, int member) {
  const uint32_t slot = slots != nullptr ? slots[member] : static_cast<uint32_t>(team->team_idx);
  return &s->peer_sync[team->pe_mapping[member]][slot];
}

// A member that has left the job and will never enter this barrier, or -1.
SYMM_COLD inline int departed_member(const symm_device_state* s, const aclshmemx_team_t* team,
                                     const uint32_t* slots, uint64_t number) {
  for (int i = 0; i < team->size; ++i) {
    const int pe = team->pe_mapping[i];
    if (s->peer_control[pe] == nullptr) continue;
    // acquire: what a PE entered before it left is counted
    if (__atomic_load_n(&s->peer_control[pe]->departed, __ATOMIC_ACQUIRE) != 0 &&
        __atomic_load_n(&place_of(s, team, slots, i)->entered, __ATOMIC_ACQUIRE) < number) {
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

// Ends the kernel because calls of different kinds met, after telling the other members.
[[noreturn]] SYMM_COLD inline void mismatched(const symm_device_state* s,
                                              const aclshmemx_team_t* team, const uint32_t* slots,
                                              uint64_t word, bool spread, const char* call) {
  for (int i = 0; spread && i < team->size; ++i) {
    // release: whoever sees it may look at what this PE wrote before
    __atomic_store_n(&place_of(s, team, slots, i)->mismatch, word, __ATOMIC_RELEASE);
    notify_pe(s, team->pe_mapping[i]);
  }
  trap(
      "%s on PE %d: collective mismatch on team %d: PE %d is in %s, PE %d in "
      "%s; all members must make the same collective calls in the same order",
      call, s->base.mype, team->team_idx, static_cast<int>((word >> 20) & 0x3fff),
      symm_call_name((word >> 34) & 63), static_cast<int>(word & 0x3fff),
      symm_call_name((word >> 14) & 63));
}

// Marks the end of a barrier, also when the kernel is unwound.
struct BarrierEnd {
  symm_team_sync* own;
  uint64_t number;
  ~BarrierEnd() {
    // release: the next barrier of the team may be another thread's
    __atomic_store_n(&own->left, number, __ATOMIC_RELEASE);
  }
};

// Begins the next barrier of the team on this PE and returns its number.
inline uint64_t enter_barrier(const symm_device_state* s, const aclshmemx_team_t* team,
                              symm_team_sync* own, uint64_t* epoch, const char* call) {
  // acquire: pairs with the release at the end of the barrier before
  const uint64_t left = __atomic_load_n(&own->left, __ATOMIC_ACQUIRE);
  uint64_t before = left;
  if (!__atomic_compare_exchange_n(epoch, &before, left + 1, false, __ATOMIC_ACQUIRE,
                                   __ATOMIC_RELAXED)) {
    trap(
        "%s on PE %d: another barrier or collective of team %d is going on in this PE (a thread, "
        "a stream or a kernel); let one end before the next, or use a team of its own for it",
        call, s->base.mype, team->team_idx);
  }
  // release: for the message of a PE that waits for us
  __atomic_store_n(&own->entered, left + 1, __ATOMIC_RELEASE);
  return left + 1;
}

// One core per PE: returns when every member has entered this barrier of the team. Release on
// entry, acquire on return.
inline void meet_team(const symm_device_state* s, const aclshmemx_team_t* team, const char* call,
                      uint32_t kind = SYMM_CALL_BARRIER) {
  const uint32_t* slots = slots_of(s, team, call);
  symm_team_sync* own = place_of(s, team, slots, team->mype);
  const uint64_t number =
      enter_barrier(s, team, own, &s->team_epoch[own - s->peer_sync[s->base.mype]], call);
  BarrierEnd end{own, number};
  int round = 0;
  for (int64_t distance = 1; distance < team->size; distance *= 2, ++round) {
    const int target = static_cast<int>((team->mype + distance) % team->size);
    const int to = team->pe_mapping[target];
    const int from =
        team->pe_mapping[(team->mype + team->size - distance % team->size) % team->size];
    if (s->peer_sync[to] == nullptr) unmapped(s, to, call);
    // release: what this PE did before the barrier, and what it learned in earlier rounds
    __atomic_store_n(&place_of(s, team, slots, target)->flags[round].value,
                     SYMM_ARRIVAL(number, kind), __ATOMIC_RELEASE);
    notify_pe(s, to);
    const uint64_t* flag = &own->flags[round].value;
    const uint32_t* departures = &s->peer_control[s->base.mype]->departures;
    int gone = -1;
    auto arrived = [&] {
      // acquire: pairs with the store of the partner
      if (__atomic_load_n(flag, __ATOMIC_ACQUIRE) >> 8 >= number) return true;
      if (symm_mismatch_is(__atomic_load_n(&own->mismatch, __ATOMIC_ACQUIRE), number)) return true;
      if (__atomic_load_n(departures, __ATOMIC_ACQUIRE) == 0) return false;
      gone = departed_member(s, team, slots, number);
      return gone >= 0;
    };
    wait_for(s, arrived,
             WaitText{call, SYMM_WAIT_KIND_BARRIER, team->team_idx, from, flag,
                      static_cast<int64_t>(number), -1});
    if (gone >= 0) left_without(s, gone, call);
    const uint64_t came = __atomic_load_n(flag, __ATOMIC_ACQUIRE);
    if (__builtin_expect(came == SYMM_ARRIVAL(number, kind), 1)) continue;
    if (came >> 8 == number) {
      mismatched(s, team, slots, SYMM_MISMATCH(number, kind, s->base.mype, came & 0xff, from), true,
                 call);
    }
    // A partner that is ahead may have ended this barrier with the error that it has told us.
    const uint64_t word = __atomic_load_n(&own->mismatch, __ATOMIC_ACQUIRE);
    if (symm_mismatch_is(word, number)) mismatched(s, team, slots, word, false, call);
  }
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
