// Route: how this PE reaches another one, decided once at init. One cache line per PE; the hot path
// reads nothing else.
#pragma once

#include <cstddef>
#include <cstdint>

#include "host_device/symm_device_state.h"

namespace symm {

struct alignas(64) Route {
  std::byte* heap = nullptr;       // the PE's device heap as mapped here; null: no memory path
  std::byte* host_heap = nullptr;  // its HOST_SIDE heap; null until it exists
  symm_control_page* control = nullptr;
  symm_team_sync* sync = nullptr;  // SYMM team slots
  uint8_t engines = 0;             // aclshmem_transport_t bits
  bool same_process = false;
};
static_assert(sizeof(Route) == 64);

}  // namespace symm
