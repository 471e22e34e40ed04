// What bounds the memory of this process, read where the kernel says it. For set-up only: reads
// files.
#pragma once

#include <cstdint>
#include <string>

namespace symm::os {

struct MemoryLimits {
  static constexpr uint64_t kNone = UINT64_MAX;
  uint64_t ram = kNone;            // bytes of the machine
  uint64_t cgroup = kNone;         // smallest limit of the control groups around this process
  uint64_t address_space = kNone;  // RLIMIT_AS

  uint64_t smallest() const;
  // "RAM 24 bytes, cgroup no limit, address space (ulimit -v) no limit".
  std::string text() const;
};

// `root` is prefixed to every path; tests give a directory with files of their own.
MemoryLimits memory_limits(const std::string& root = "");

}  // namespace symm::os
