// A round of work that every PE of the launcher tests does: it fails when the numbers are wrong or
// the PEs do not share memory.
#pragma once

#include <cstdint>
#include <cstdio>

#include "shmem.h"

namespace start_program {

inline int failures = 0;

inline void expect(bool good, const char* what) {
  if (good) return;
  ++failures;
  std::printf("FAILED: %s\n", what);
}

// Puts a number into the next PE and checks what came from the previous one.
inline void work() {
  const int pe = aclshmem_my_pe();
  const int n_pes = aclshmem_n_pes();
  expect(pe >= 0 && pe < n_pes, "PE number in range");
  auto* box = static_cast<int64_t*>(aclshmem_malloc(sizeof(int64_t)));
  expect(box != nullptr, "malloc");
  if (box == nullptr) return;
  *box = -1;
  aclshmem_barrier_all();
  int64_t mine = 1000 + pe;
  aclshmem_putmem(box, &mine, sizeof(mine), (pe + 1) % n_pes);
  aclshmem_barrier_all();
  expect(*box == 1000 + (pe + n_pes - 1) % n_pes, "number of the previous PE");
  aclshmem_free(box);
  std::printf("PE %d of %d\n", pe, n_pes);
}

inline void info() {
  char text[512] = "";
  expect(aclshmemx_control_plane_info(text, sizeof(text)) == 0, "info");
  if (aclshmem_my_pe() == 0) std::printf("info: %s\n", text);
}

inline int finish() {
  if (failures == 0) std::printf("good\n");
  std::fflush(stdout);
  return failures == 0 ? 0 : 1;
}

}  // namespace start_program
