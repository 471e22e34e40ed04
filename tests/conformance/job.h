// The job that a conformance program runs in: installed headers only, one process per PE, started
// by shmem-run. Every PE runs the same tests in the same order, so a test may call collectives.
#pragma once

#include <acl/acl.h>
#include <gtest/gtest.h>
#include <shmem.h>

#include <cstdint>

namespace conformance {

constexpr uint64_t kHeapBytes = 16UL << 20;

// What the launcher gave on the command line: n_pes pe address.
struct Place {
  int n_pes = 0;
  int pe = 0;
  const char* address = "";
};

const Place& place();

// Attributes of this PE for the default mode.
aclshmemx_init_attr_t attributes();

// A byte that depends on the PE and the position.
inline unsigned char pattern(int pe, size_t i) {
  return static_cast<unsigned char>(static_cast<size_t>(pe) * 31 + i * 7 + 1);
}

// Most programs are initialised while their tests run; those of init itself are not.
bool starts_initialized();

}  // namespace conformance
