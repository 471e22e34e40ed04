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

// What decides a data call on its short way. Filled once, according to SHMEM_CHECK: level 0 lets
// every address pass, level 2 no call at all, so that each takes the long way with its checks.
struct FastPath {
  std::byte* base = nullptr;
  uint64_t limit = 0;  // offsets that may be named
  uint64_t last = 0;   // the largest offset of an object of at most kFastBytes
  const Route* routes = nullptr;
  uint32_t n_pes = 0;
  static constexpr uint64_t kFastBytes = 16;
};

}  // namespace symm
