// Flags between the cores of a launch. A core raises a flag of a mode; once every core of the group
// has raised it, each of them may pass one wait for it. Cube cores do not run here: flags for them
// go nowhere, and waiting for one of theirs ends the kernel with a message.
#pragma once

#include "ascendc/tensor.h"

namespace AscendC {

// Modes: 0 all vector cores of the launch, 1 the vector cores of one block, 2 and 4 between cube
// and vector cores of a block. Ids are 0..15; the original's SyncAll takes 11..14, so programs
// should not (checked with SYMM_CHECKED). At most 15 rounds may be open. Does not block; releases
// what this core stored before.
template <uint8_t mode, pipe_t pipe>
inline void CrossCoreSetFlag(uint16_t id) {
  static_assert(mode <= 2 || mode == 4, "CrossCoreSetFlag: modes are 0, 1, 2 and 4");
  symm::kernel::core("CrossCoreSetFlag");
#ifdef SYMM_CHECKED
  if (id >= 11 && id <= 14)
    symm::kernel::fail("CrossCoreSetFlag: flag %d belongs to SyncAll; use 0 to 10 or 15", id);
#endif
  symm_rt_cross_set(mode, id);
}

// Blocks until the flag was raised once more than this core has waited for it. Acquires what the
// cores of the group stored before they raised it.
template <uint8_t mode = 0, pipe_t pipe = PIPE_S>
inline void CrossCoreWaitFlag(uint16_t id) {
  static_assert(mode <= 2 || mode == 4, "CrossCoreWaitFlag: modes are 0, 1, 2 and 4");
  symm::kernel::core("CrossCoreWaitFlag");
  symm_rt_cross_wait(mode, id);
}

}  // namespace AscendC
