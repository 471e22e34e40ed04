// PEs as threads of one process, with several numbers of them, and their neighbours. Each file that
// uses ThreadPes instantiates a class of its own from it.
#pragma once

#include "shmem.h"
#include "tests/multi_pe/thread_job.h"

namespace symm::test {

class ThreadPes : public testing::TestWithParam<int> {
 protected:
  int n() const { return GetParam(); }
};

inline int right_of(int pe) { return (pe + 1) % aclshmem_n_pes(); }
inline int left_of(int pe) { return (pe + aclshmem_n_pes() - 1) % aclshmem_n_pes(); }

}  // namespace symm::test
