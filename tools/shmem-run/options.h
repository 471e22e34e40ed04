// What the command line of shmem-run says.
// Threads: plain data. Ownership: values.
#pragma once

#include <string>
#include <vector>

#include "base/status.h"
#include "shmem-run/hosts.h"

namespace symm::launcher {

struct Options {
  int n_pes = 0;
  bool prefix_output = false;
  bool bind_to_core = false;
  int timeout_s = 0;  // 0: no limit
  std::vector<std::string> command;
  std::vector<Host> hosts;               // empty: this one
  bool oversubscribe = false;            // more PEs than slots
  std::vector<std::string> environment;  // NAME=value, for all PEs
  std::vector<std::string> agent;        // program and first arguments
  std::string address;                   // of PE 0, for the other hosts; empty: found out
  std::string folder;                    // working folder of the PEs; empty: ours
  std::string note;                      // one line about options that have no effect, or empty
  bool help_only = false;                // help or version was printed; nothing to run
};

inline constexpr const char* kUsage =
    "usage: shmem-run -n N [-H host:slots,...] [--prefix-output] [--timeout S] "
    "[--bind-to core|none] [-x NAME[=value]] program [arguments]";

// Reads the command line. A mistake comes back as kInvalidParam with a text of one line. Called as
// oshrun, values that oshrun knows and we do not are noted instead of refused.
Result<Options> parse_options(int argc, char** argv);

// Replaces {pe}, {npes} and {address} in one argument of the program.
std::string substitute(std::string argument, int pe, int n_pes, const std::string& address);

}  // namespace symm::launcher
