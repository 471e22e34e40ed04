// Log: one sink for the whole process (stderr, or stdout on request, plus a file when
// SHMEM_LOG_PATH is set, plus the user's callback). Any thread may log. An error is logged once, at
// the C edge where it leaves the library.
#pragma once

#include <fmt/format.h>

#include <string_view>

#include "base/status.h"

namespace symm::log {

enum class Level : int { kDebug = 0, kInfo = 1, kWarn = 2, kError = 3, kFatal = 4 };

using Callback = void (*)(int level, const char* message);

// SHMEM_LOG_LEVEL, when it holds a valid name, wins over the argument.
Status set_level(int level);
Level level();
// Only the first callback counts; it receives every level.
void set_callback(Callback callback);
// Prefixes every record with "PE n" once the number is known; -1 removes it.
void set_pe(int pe);

bool enabled(Level level);
void write(Level level, const char* file, int line, std::string_view text);
// Prints to stderr whatever the level is: reports a user asked for or must see (who waits for
// what).
void report(std::string_view text);

}  // namespace symm::log

#define SYMM_LOG(level_name, ...)                                            \
  do {                                                                       \
    if (::symm::log::enabled(::symm::log::Level::level_name))                \
      ::symm::log::write(::symm::log::Level::level_name, __FILE__, __LINE__, \
                         ::fmt::format(__VA_ARGS__));                        \
  } while (0)
