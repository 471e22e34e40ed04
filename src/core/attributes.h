// The attributes that must be the same on all PEs, and the table that says who differs.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/status.h"
#include "core/options.h"

namespace symm {

struct Attributes {
  char version[16];
  int32_t n_pes;
  uint32_t engines;
  uint64_t heap_bytes;
  uint64_t instance;
  uint32_t tls;
  uint32_t pe;
  uint32_t mode;
  uint64_t salt;  // random; that of PE 0 counts for all

  static Attributes of(const InstanceOptions& options, int pe, int n_pes);
};

// kInvalidValue with "local_mem_size: PEs 0-2: 1073741824, PE 3: 2147483648" when any field differs
// or two PEs claim one number; the same text on every PE.
Status compare(const std::vector<Attributes>& all);

// "PE 4", "PEs 0-2, 5".
std::string name_pes(const std::vector<int>& pes);

}  // namespace symm
