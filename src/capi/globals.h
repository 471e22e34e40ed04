// The two state blocks that programs read by name. They show the current instance of the process.
#pragma once

namespace symm {

class Instance;

namespace capi {

// Copies the state of the instance, or the values before init for null, into g_state and
// g_state_host.
void publish_globals(Instance* instance);
// Shows one team, or that there is none of that number any more, in g_state.
void publish_team(Instance& instance, int number);

}  // namespace capi
}  // namespace symm
