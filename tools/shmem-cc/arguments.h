// The command line of shmem-cc: our own options, and a compiler command taken apart as far as two
// passes need it.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"

namespace symm::cc {

enum class Role : uint8_t {
  kBoth,        // wanted by every pass
  kPreprocess,  // macros, include paths, dependency files
  kLink,        // libraries and linker options
  kSource,      // a C++ file for us
  kInput,       // anything else for the linker, or a file of another language
};

// One option with its separate value, or one input.
struct Argument {
  std::vector<std::string> words;
  Role role;
};

enum class Mode : uint8_t { kLink, kObject, kAssembly, kSyntax, kPreprocess, kQuery };

struct Dependencies {
  bool wanted = false;  // -MD, -MMD
  bool has_file = false;
  bool has_target = false;
};

struct CommandLine {
  std::vector<std::string> compiler;  // empty: the default
  int arch = 2201;
  bool launcher =
      false;  // the compiler command was given by a build system: add no paths and no libraries
  bool libraries = true;
  bool verbose = false;
  bool help = false;
  bool version = false;
  std::string keep;  // where to write the rewritten text
  Mode mode = Mode::kLink;
  std::string output;
  Dependencies dependencies;
  std::vector<Argument> arguments;

  bool has(std::string_view word) const;
  // Words of all arguments of the given roles, in order.
  std::vector<std::string> words(std::initializer_list<Role> roles) const;
};

// Reads the words behind the program name; expands @file.
Result<CommandLine> parse_command_line(const std::vector<std::string>& words);

}  // namespace symm::cc
