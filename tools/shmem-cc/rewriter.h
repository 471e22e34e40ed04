// Turns preprocessed kernel code into C++: kernel definitions get an entry guard, launches become
// calls of symm::launch, casts to UB pointers become symm::ub_cast, the words that are not C++ go
// away. Line breaks and line markers stay where they are, so diagnostics and debuggers point at the
// user's file. A pure function.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace symm::cc {

struct RewriteError {
  size_t offset;  // in the input text
  std::string text;
};

struct Rewritten {
  bool changed = false;  // false: the input holds nothing for us, `text` is empty
  std::string text;
  int kernels = 0;
  int launches = 0;
  // The text launches kernels but nothing declares symm::launch: preprocess again with
  // kLaunchHeader included.
  bool needs_launch_header = false;
  std::vector<RewriteError> errors;
};

inline constexpr const char* kLaunchHeader = "ascendc/launch.h";

Rewritten rewrite(std::string_view text);

}  // namespace symm::cc
