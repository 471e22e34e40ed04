// How many processors this process may use.
#pragma once

namespace symm::os {

// The smaller of the affinity mask and the cgroup's processor quota (rounded up), at least 1. Reads
// files: for set-up only.
int usable_processors();

}  // namespace symm::os
