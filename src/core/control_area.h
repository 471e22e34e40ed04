// The control area of a PE: its control page, the cards of its teams, then the places where teams
// meet. Mapped by all PEs of the host.
#pragma once

#include <cstddef>

#include "host_device/symm_device_state.h"

namespace symm {

inline constexpr size_t kControlPageBytes = 4096;
// One place per team, and one for the library's own barriers (memory calls, finalize).
inline constexpr uint32_t kLibrarySlot = ACLSHMEM_MAX_TEAMS;
inline constexpr uint32_t kTeamSlots = ACLSHMEM_MAX_TEAMS + 1;
// Card i belongs to place i. Those behind the places say that a team could not be made.
inline constexpr uint32_t kRefusalCards = 7;
inline constexpr uint32_t kTeamCards = kTeamSlots + kRefusalCards;
inline constexpr size_t kCardBytes =
    (kTeamCards * sizeof(symm_team_card) + kControlPageBytes - 1) & ~(kControlPageBytes - 1);
inline constexpr size_t kControlBytes =
    kControlPageBytes + kCardBytes + kTeamSlots * sizeof(symm_team_sync);
static_assert(sizeof(symm_control_page) <= kControlPageBytes);

inline symm_control_page* control_page(std::byte* area) {
  return reinterpret_cast<symm_control_page*>(area);
}
inline symm_team_sync* team_syncs(std::byte* area) {
  return reinterpret_cast<symm_team_sync*>(area + kControlPageBytes + kCardBytes);
}
// The cards of the PE whose control page this is.
inline symm_team_card* team_cards(symm_control_page* page) {
  return reinterpret_cast<symm_team_card*>(reinterpret_cast<std::byte*>(page) + kControlPageBytes);
}

}  // namespace symm
