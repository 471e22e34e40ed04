// What a fuzz target promises beyond not crashing.
#pragma once

#include <cstdio>
#include <cstdlib>

#define SYMM_REQUIRE(condition)                                            \
  do {                                                                     \
    if (!(condition)) {                                                    \
      std::fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, #condition); \
      std::abort();                                                        \
    }                                                                      \
  } while (0)
