// Barriers of teams for host threads.
// Threads: one at a time per team.
#pragma once

#include "base/status.h"
#include "core/instance.h"

namespace symm::ops {

// Blocks until every member has entered. What the members issued before (host calls, the default
// stream, engines) is complete and visible afterwards. The invalid team (-1): nothing happens.
// kInvalidParam for a team that is none here.
Status barrier(Instance& instance, int team, const char* call);

// The same without completing what is queued: only stores that are already issued are visible.
Status sync(Instance& instance, int team, const char* call);

}  // namespace symm::ops
