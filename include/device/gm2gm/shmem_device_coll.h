// Collectives inside a kernel, and the transfers of the simplified interface. Our own; the values
// follow the collectives of OpenSHMEM.
//
// Rules of the collectives: every vector core of the launch on every member calls them, with the
// same arguments except for the addresses; a team runs one at a time. Buffers may be any memory of
// the PE, and in == out is allowed. Counts are elements. They block: on return every member has its
// result and all buffers may be used again. Team -1: nothing happens. An element or operation code
// that is none, or a team that does not exist, ends the kernel with a message. A team is given by
// its number or by its record.
#ifndef SHMEM_DEVICE_COLL_H
#define SHMEM_DEVICE_COLL_H

#include "device/impl/coll_inl.h"
#include "device/impl/rma_inl.h"
#include "device/shmem_def.h"
#include "device/team/shmem_device_team.h"
#include "device/team/shmem_device_team_ext.h"

namespace symm_dev {

inline aclshmem_team_t team_number(aclshmem_team_t team) { return team; }
inline aclshmem_team_t team_number(const aclshmemx_team_t& team) { return team.team_idx; }

// World number of a member. Traps when it is none.
inline int member_pe(aclshmem_team_t team, int member, const char* call) {
  const int pe = world_pe(team, member, call);
  if (pe < 0) trap("%s: team %d has no member %d", call, team, member);
  return pe;
}

// Runs body(state, team) unless the team is invalid.
template <typename Team, typename Body>
inline void with_team(const Team& team, const char* call, const Body& body) {
  const symm_device_state* s = state(call);
  if (const aclshmemx_team_t* found = team_of(s, team_number(team), call)) body(s, found);
}

}  // namespace symm_dev

// out[i] = op over the members of in[i]; the same bits on every member. Two-byte types are summed
// in float and rounded once.
template <typename Team>
inline void aclshmemx_allreduce(const Team& team, const void* in, void* out, size_t count,
                                aclshmemx_reduce_op_t op, aclshmemx_data_type_t type) {
  constexpr const char* kCall = "aclshmemx_allreduce";
  symm_dev::with_team(team, kCall, [&](const symm_device_state* s, const aclshmemx_team_t* t) {
    symm_dev::allreduce(s, t, in, out, count, op, type, kCall);
  });
}

// out[m * count + i] = in[i] of member m.
template <typename Team>
inline void aclshmemx_allgather(const Team& team, const void* in, void* out, size_t count,
                                aclshmemx_data_type_t type) {
  constexpr const char* kCall = "aclshmemx_allgather";
  symm_dev::with_team(team, kCall, [&](const symm_device_state* s, const aclshmemx_team_t* t) {
    const uint64_t size = symm_dev::checked_size(s, type, ACLSHMEMX_SUM, kCall);
    symm_dev::allgather(s, t, in, out, count * size, kCall);
  });
}

// out[i] = in[i] of member `root`, on the root too; `in` of the others is not looked at.
template <typename Team>
inline void aclshmemx_broadcast(const Team& team, const void* in, void* out, size_t count,
                                int32_t root, aclshmemx_data_type_t type) {
  constexpr const char* kCall = "aclshmemx_broadcast";
  symm_dev::with_team(team, kCall, [&](const symm_device_state* s, const aclshmemx_team_t* t) {
    const uint64_t size = symm_dev::checked_size(s, type, ACLSHMEMX_SUM, kCall);
    symm_dev::broadcast(s, t, in, out, count * size, root, kCall);
  });
}

// out[i] = op over the members of in[me * count + i]: count elements come out, size * count go in.
template <typename Team>
inline void aclshmemx_reduce_scatter(const Team& team, const void* in, void* out, size_t count,
                                     aclshmemx_reduce_op_t op, aclshmemx_data_type_t type) {
  constexpr const char* kCall = "aclshmemx_reduce_scatter";
  symm_dev::with_team(team, kCall, [&](const symm_device_state* s, const aclshmemx_team_t* t) {
    symm_dev::reduce_scatter(s, t, in, out, count, op, type, kCall);
  });
}

// out[m * count + i] = in[me * count + i] of member m.
template <typename Team>
inline void aclshmemx_alltoall(const Team& team, const void* in, void* out, size_t count,
                               aclshmemx_data_type_t type) {
  constexpr const char* kCall = "aclshmemx_alltoall";
  symm_dev::with_team(team, kCall, [&](const symm_device_state* s, const aclshmemx_team_t* t) {
    const uint64_t size = symm_dev::checked_size(s, type, ACLSHMEMX_SUM, kCall);
    symm_dev::alltoall(s, t, in, out, count, size, kCall);
  });
}

// Copies bytes to the symmetric address dst of member `rank` of the team. Does not wait: complete
// after aclshmem_quiet or aclshmemx_team_sync. Any core, by itself.
template <typename Team>
inline void aclshmemx_gm2gm_put(const Team& team, void* dst, const void* src, size_t bytes,
                                int32_t rank) {
  constexpr const char* kCall = "aclshmemx_gm2gm_put";
  const int pe = symm_dev::member_pe(symm_dev::team_number(team), rank, kCall);
  symm_dev::put_nbi(static_cast<char*>(dst), static_cast<const char*>(src), bytes, pe, kCall);
}

// Copies bytes from the symmetric address src of member `rank` of the team. As above.
template <typename Team>
inline void aclshmemx_gm2gm_get(const Team& team, void* dst, const void* src, size_t bytes,
                                int32_t rank) {
  constexpr const char* kCall = "aclshmemx_gm2gm_get";
  const int pe = symm_dev::member_pe(symm_dev::team_number(team), rank, kCall);
  symm_dev::get_nbi(static_cast<char*>(dst), static_cast<const char*>(src), bytes, pe, kCall);
}

// The same from PE `rank` of the world team.
inline void aclshmemx_gm2gm_get(void* dst, const void* src, size_t bytes, int32_t rank) {
  aclshmemx_gm2gm_get(static_cast<aclshmem_team_t>(ACLSHMEM_TEAM_WORLD), dst, src, bytes, rank);
}

#endif
