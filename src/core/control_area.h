// The control area of a PE: its control page, then the places where teams meet. Mapped by all PEs
// of the host.
#pragma once

#include <cstddef>

#include "host_device/symm_device_state.h"

namespace symm {

inline constexpr size_t kControlPageBytes = 4096;
// One place per team, and one for the library's own barriers (memory calls, finalize).
inline constexpr uint32_t kLibrarySlot = ACLSHMEM_MAX_TEAMS;
inline constexpr uint32_t kTeamSlots = ACLSHMEM_MAX_TEAMS + 1;
inline constexpr size_t kControlBytes = kControlPageBytes + kTeamSlots * sizeof(symm_team_sync);
static_assert(sizeof(symm_control_page) <= kControlPageBytes);

inline symm_control_page* control_page(std::byte* area) {
  return reinterpret_cast<symm_control_page*>(area);
}
inline symm_team_sync* team_syncs(std::byte* area) {
  return reinterpret_cast<symm_team_sync*>(area + kControlPageBytes);
}

}  // namespace symm
