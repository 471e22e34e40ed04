// The barrier between host threads of the members of a team: dissemination over the flags in the
// control areas, the same flags and numbers that kernels use. It orders memory (release on entry,
// acquire on return) and completes nothing else. Threads: one at a time per slot; the caller sees
// to it.
#pragma once

#include <cstdint>

#include "base/status.h"
#include "host_device/symm_wait_abi.h"

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
};

// kPeerLost when a member died or left without coming here, kTimeout when the limit is over; both
// name who is missing.
Status run_barrier(Instance& instance, const BarrierSpec& spec);

// Writes the members that have not entered barrier `number` and what they are doing.
void describe_missing(const Instance& instance, const int32_t* members, int size, uint32_t slot,
                      uint64_t number, char* text, size_t text_size);

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
