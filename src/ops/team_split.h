// Making teams out of teams: which PEs become members, and what the caller's arguments must be.
// Every call returns the number of the new team on this PE, or ACLSHMEM_TEAM_INVALID for a PE that
// is no member. PE numbers are those of the parent team. Unless said otherwise only the members of
// a new team take part, and an error of one of them reaches all of them.
// Threads: any; one at a time per parent.
#pragma once

#include <vector>

#include "base/status.h"
#include "core/instance.h"

namespace symm::ops {

// Members start, start + stride, ...: `size` of them. Any stride; 0 only for one member.
Result<int> split_strided(Instance& instance, int parent, int start, int stride, int size,
                          const char* call);

struct Axes {
  int x = ACLSHMEM_TEAM_INVALID;
  int y = ACLSHMEM_TEAM_INVALID;
};
// Rows of x_range neighbours and the columns across them; the last row may be shorter. Every PE of
// the parent calls it.
Result<Axes> split_2d(Instance& instance, int parent, int x_range, const char* call);

// Groups of `size` neighbours; the last one may be smaller.
Result<int> split_by_size(Instance& instance, int parent, int size, const char* call);

// The PEs of the list, in its order.
Result<int> split_list(Instance& instance, int parent, const int* pes, int count, const char* call);

// PEs of the same colour, ordered by key and then by their number in the parent. A negative colour:
// no team for this PE. Collective over the parent.
Result<int> split_color(Instance& instance, int parent, int color, int key, const char* call);

Status destroy_team(Instance& instance, int team, const char* call);

// For an argument that was wrong before any of the above could be called: tells the others.
Status refuse_split(Instance& instance, int parent, Status why);

}  // namespace symm::ops
