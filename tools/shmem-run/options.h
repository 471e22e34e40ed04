// What the command line of shmem-run says.
// Threads: plain data. Ownership: values.
#pragma once

#include <string>
#include <vector>

#include "base/status.h"

namespace symm::launcher {

struct Options {
  int n_pes = 0;
  bool prefix_output = false;
  bool bind_to_core = false;
  int timeout_s = 0;  // 0: no limit
  std::vector<std::string> command;
  bool help_only = false;  // help or version was printed; nothing to run
};

inline constexpr const char* kUsage =
    "usage: shmem-run -n N [--prefix-output] [--timeout S] [--bind-to core|none] program "
    "[arguments]";

// Reads the command line. A mistake comes back as kInvalidParam with a text of one line.
Result<Options> parse_options(int argc, char** argv);

// Replaces {pe}, {npes} and {address} in one argument of the program.
std::string substitute(std::string argument, int pe, int n_pes, const std::string& address);

}  // namespace symm::launcher
