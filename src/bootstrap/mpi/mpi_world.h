// MpiWorld: what this process has of MPI, shared by all handles of the plug-in. Starts MPI when
// nobody did and ends it only then, with the last handle. Threads: any; where MPI was started with
// less than MPI_THREAD_MULTIPLE, calls are serialised here, or refused off the main thread.
#pragma once

#define OMPI_SKIP_MPICXX 1
#define MPICH_SKIP_MPICXX 1
#include <mpi.h>

#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "base/status.h"

namespace symm::bootstrap {

// A non-blocking operation with the buffers that it works on.
struct MpiPending {
  MPI_Request request = MPI_REQUEST_NULL;
  MPI_Comm created = MPI_COMM_NULL;  // out of MPI_Comm_idup
  std::vector<unsigned char> in;
  std::vector<unsigned char> out;
};

class MpiWorld {
 public:
  // Never destroyed: MPI may touch kept buffers until the process ends.
  static MpiWorld& get();

  // One more handle. Fails when the process runs another MPI than the one the plug-in was built
  // for, when MPI is already finalized, or after a failure that MPI cannot recover from.
  Status acquire();
  // One handle less. The last one finalizes MPI if acquire() started it and nothing is broken.
  void release();

  // Whether this thread may call MPI now; first thing of every step.
  Status check_call() const;
  static bool finalized();
  // Held around every MPI call; empty when MPI is safe for several threads.
  std::unique_lock<std::mutex> lock();

  // An operation that will never complete: its buffers stay, MPI_Finalize will not be called, and
  // no handle can be opened any more.
  void abandon(std::unique_ptr<MpiPending> pending, const std::string& why);

  std::string describe() const;

 private:
  MpiWorld() = default;
  Status start();

  std::mutex state_mutex_;
  std::mutex call_mutex_;
  int users_ = 0;
  bool started_ = false;
  int level_ = MPI_THREAD_SINGLE;
  std::string failure_;
  std::vector<std::unique_ptr<MpiPending>> kept_;
};

// OK for MPI_SUCCESS, else kBootstrap with the text of MPI.
Status mpi_status(int code, const char* call);

}  // namespace symm::bootstrap
