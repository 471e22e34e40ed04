// Config: the only reader of the environment, and the table of every option we know. The info tool
// and the docs page are generated from the table. A bad value or an unknown SHMEM_* name is
// reported, never ignored. Threads: reads only; safe from any thread as long as nobody calls setenv
// at the same time.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include "base/status.h"

namespace symm::config {

enum class Kind { kFlag, kInteger, kSize, kSeconds, kText };

struct Option {
  const char* name;
  Kind kind;
  const char* fallback;  // the default, as text
  int64_t low;           // range of numbers; ignored for flags and texts
  int64_t high;
  const char* help;
};

std::span<const Option> options();

// The value as set, or nothing. Works for any variable; launcher variables are read through this.
std::optional<std::string> raw(const char* name);

// Typed values of options in the table. A value that does not parse counts as the default here; the
// error comes from check_environment(), which init calls first.
bool flag(const char* name);
int64_t integer(const char* name);
uint64_t size(const char* name);  // bytes; suffixes k m g t are powers of two, fractions allowed
double seconds(const char* name);
std::string text(const char* name);

// Parsers, public for tests and for command lines.
Result<bool> parse_flag(const std::string& value);
Result<int64_t> parse_integer(const std::string& value, int64_t low, int64_t high);
Result<uint64_t> parse_size(const std::string& value, int64_t low, int64_t high);

// Reports the first bad value, and warns about SHMEM_* names that nobody reads.
Status check_environment();

}  // namespace symm::config
