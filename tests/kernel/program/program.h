// What the kernel programs of the tests share: what the launcher gives them, and counting what does
// not hold. One program includes it once; its run() does the work.
#pragma once

#include <cstdio>
#include <cstdlib>

namespace {
int failures = 0;
}

#define CHECK(condition)                                                         \
  do {                                                                           \
    if (!(condition)) {                                                          \
      std::fprintf(stderr, "line %d: %s does not hold\n", __LINE__, #condition); \
      ++failures;                                                                \
    }                                                                            \
  } while (0)

// Runs the PE that the arguments "n_pes pe ip_port" name; the exit code of the program.
inline int run_pe(int argc, char** argv, int (*run)(int n_pes, int pe, const char* address)) {
  if (argc != 4) {
    std::fprintf(stderr, "usage: %s n_pes pe ip_port\n", argv[0]);
    return 2;
  }
  const int pe = std::atoi(argv[2]);
  if (run(std::atoi(argv[1]), pe, argv[3]) != 0) return 1;
  if (failures != 0) return 1;
  std::printf("[SUCCESS] pe %d\n", pe);
  return 0;
}
