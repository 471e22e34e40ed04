// The barrier between host threads of the members of a team: dissemination over the flags in the
// control areas, the same flags and numbers that kernels use. It orders memory (release on entry,
// acquire on return) and completes nothing else. Threads: one at a time per slot; a second
// one gets an error.
#pragma once

#include <cstdint>
#include <string>

#include "base/status.h"
#include "host_device/symm_device_state.h"

namespace symm {

class Instance;

struct BarrierSpec {
  const char* call;  // for messages; static storage
  int team;          // public number, or -1 for the library's own barrier
  uint32_t slot;
  const int32_t* members;  // world PEs in team order
  int size;
  int me;               // index of this PE in members
  uint64_t timeout_ms;  // 0: the default of waits
  uint32_t kind = SYMM_CALL_BARRIER;
  const uint32_t* slots = nullptr;  // by member; null: `slot` on all of them
  bool host = true;                 // called by a thread of the program, not by a stream
};

// A barrier of all PEs at a place that is the same on all: the world team's or the library's own.
bool is_of_all(const BarrierSpec& spec);

// kPeerLost when a member died or left without coming here, kTimeout when the limit is over; both
// name who is missing. kInvalidParam on all members when calls of different kinds meet, and here
// when another barrier of the slot is going on in this process.
Status run_barrier(Instance& instance, const BarrierSpec& spec);

// Writes the members that have not entered barrier `number` and what they are doing.
// `slots` by member, null: `slot` on all.
void describe_missing(const Instance& instance, const int32_t* members, int size, uint32_t slot,
                      const uint32_t* slots, uint64_t number, char* text, size_t text_size);

// What a PE is doing, in words.
std::string activity_of(const Instance& instance, int pe);

// Says in the own control page what this PE is doing, while the object lives. Read by other PEs for
// their messages.
class Doing {
 public:
  Doing(const Instance& instance, const char* call);
  ~Doing();

 private:
  char* where_;
};

}  // namespace symm
