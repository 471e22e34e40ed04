// The passes of shmem-cc: preprocess, rewrite, compile, link.
#pragma once

#include <string>

#include "shmem-cc/arguments.h"

namespace symm::cc {

// Where our headers and libraries are; empty parts are left out of commands.
struct Installation {
  std::vector<std::string> include_roots;
  std::string library_folder;
  std::string default_compiler;
};

Installation find_installation();

// Does what the command line says; the exit code of the first compiler run that failed, or 0.
// Errors of our own are printed as file:line: error: text.
int run(const CommandLine& line, const Installation& installation);

}  // namespace symm::cc
