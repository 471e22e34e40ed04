// What every bootstrap table needs at its C edge: a Status becomes a code number and a text in the
// caller's buffer, and nothing is thrown across.
#pragma once

#include <algorithm>
#include <cstring>
#include <exception>
#include <string_view>

#include "base/status.h"

namespace symm::bootstrap {

inline void copy_text(std::string_view text, char* out, size_t size) {
  if (out == nullptr || size == 0) return;
  size_t count = std::min(text.size(), size - 1);
  std::memcpy(out, text.data(), count);
  out[count] = '\0';
}

// Runs body, a function returning Status, and hands its failure to the caller.
template <typename Body>
int at_edge(char* error, size_t error_size, Body body) noexcept {
  try {
    Status status = body();
    if (status.ok()) return 0;
    copy_text(status.text(), error, error_size);
    return static_cast<int>(status.code());
  } catch (const std::exception& caught) {
    copy_text(caught.what(), error, error_size);
    return static_cast<int>(Code::kInternal);
  }
}

}  // namespace symm::bootstrap
