// What the tests of faults share: messages of the library, caught in the process that they come
// from.
#pragma once

#include <sched.h>
#include <sys/mount.h>

#include <mutex>
#include <string>

#include "shmem.h"
#include "tests/multi_pe/process_job.h"

namespace symm::test {

// All messages of this process so far; needs catch_messages() before the first.
inline std::string& caught() {
  static std::string text;
  return text;
}

inline void catch_messages() {
  aclshmemx_set_extern_logger([](int, const char* message) {
    static std::mutex mutex;
    const std::lock_guard lock(mutex);
    if (message != nullptr) caught() += std::string(message) + "\n";
  });
}

inline bool said(const std::string& text) { return caught().find(text) != std::string::npos; }

// Like CHECK_IN_CHILD, with all messages when the text is missing.
#define EXPECT_SAID(text)                                                     \
  do {                                                                        \
    if (!said(text)) {                                                        \
      std::fprintf(stderr, "%s:%d: '%s' is not in: %s\n", __FILE__, __LINE__, \
                   std::string(text).c_str(), caught().c_str());              \
      std::_Exit(1);                                                          \
    }                                                                         \
  } while (0)

// Puts the process into a mount namespace of its own, so that its folders can be changed. Needs
// root.
inline void own_mounts() {
  CHECK_IN_CHILD(::unshare(CLONE_NEWNS) == 0);
  CHECK_IN_CHILD(::mount("none", "/", nullptr, MS_REC | MS_PRIVATE, nullptr) == 0);
}

}  // namespace symm::test
