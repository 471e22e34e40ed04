// Waiting for collective MPI operations with a time limit. MPI cannot cancel a collective and does
// not say who is missing; so the PE whose time is over tells all others by a message without
// content, everybody who gets one answers in kind and gives up as well, and who has not answered
// within a grace period is missing. Without a time-out no extra message is sent.
// Threads: one per communicator at a time.
#pragma once

#include <memory>

#include "bootstrap/mpi/mpi_world.h"

namespace symm::bootstrap {

struct MpiWait {
  MPI_Comm comm;  // carries the messages of those who give up
  int tag;
  int pe;
  int n_pes;
  double limit_s;    // wall clock
  const char* what;  // names the step in messages
};

// Waits for pending->request. On failure the operation is abandoned (see MpiWorld), and pending is
// consumed; kSmem when a time limit is over (own or of another PE), naming the missing PEs.
Status finish(std::unique_ptr<MpiPending>& pending, const MpiWait& wait);

}  // namespace symm::bootstrap
