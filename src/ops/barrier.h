// Barriers of teams for host threads.
// Threads: one at a time per team; a second one gets an error.
#pragma once

#include "base/status.h"
#include "core/instance.h"

namespace symm::ops {

// Blocks until every member has entered. What the members issued before (host calls, the default
// stream, engines) is complete and visible afterwards. The invalid team (-1): nothing happens.
// kInvalidParam for a team that is none here.
Status barrier(Instance& instance, int team, const char* call);

// The same without completing what is queued: only stores that are already issued are visible.
// `stream`: called by a stream, not by a thread of the program.
Status sync(Instance& instance, int team, const char* call, bool stream = false);

// The same for a team at hand, as part of a call of that kind (SYMM_CALL_*).
Status sync(Instance& instance, Team& team, uint32_t kind, const char* call, bool stream = false);

}  // namespace symm::ops
