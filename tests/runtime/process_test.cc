// What happens around fork and exit.
#include <dlfcn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <thread>

#include "tests/runtime/kernel.h"

namespace symm::test {
namespace {

// Threads of the runtime; a sanitizer may have some of its own.
int count_threads() {
  int count = 0;
  for (auto& entry : std::filesystem::directory_iterator("/proc/self/task")) {
    std::ifstream file(entry.path() / "comm");
    std::string name;
    file >> name;
    count += name.starts_with("acl-");
  }
  return count;
}

// Runs body in a child and returns its exit code, or 1000 + the signal that ended it.
int in_child(const std::function<int()>& body) {
  pid_t child = ::fork();
  if (child == 0) {
    ::alarm(30);  // a hang becomes a failure
    std::exit(body());
  }
  int status = 0;
  if (::waitpid(child, &status, 0) != child) return -1;
  return WIFEXITED(status) ? WEXITSTATUS(status) : 1000 + WTERMSIG(status);
}

// Sets the device, runs a kernel on a fresh stream and waits for it; 0 if all went well.
int use_the_device(bool clean_up) {
  aclrtStream stream = nullptr;
  std::atomic<int> runs{0};
  int code = aclInit(nullptr);
  if (code != ACL_SUCCESS && code != ACL_ERROR_REPEAT_INITIALIZE) return 9;
  if (aclrtSetDevice(0) != 0 || aclrtCreateStream(&stream) != 0) return 10;
  if (launch(4, stream, [&](symm_core&) {
        symm_rt_sync_all();
        ++runs;
      }) != 0) {
    return 11;
  }
  if (aclrtSynchronizeStream(stream) != 0 || runs != 4) return 12;
  if (!clean_up) return 0;
  return aclrtDestroyStream(stream) + aclrtResetDevice(0) + aclFinalize() == 0 ? 0 : 13;
}

TEST(Process, NoThreadBeforeTheFirstTask) {
  EXPECT_EQ(
      in_child([] {
        aclrtStream stream = nullptr;
        if (aclInit(nullptr) != 0 || aclrtSetDevice(0) != 0 || aclrtCreateStream(&stream) != 0) {
          return 1;
        }
        if (count_threads() != 0) return 2;
        if (use_the_device(false) != 0) return 3;
        return count_threads() != 0 ? 0 : 4;
      }),
      0);
}

TEST(Process, ForkBeforeUseWorks) {
  for (int i = 0; i < 3; ++i) EXPECT_EQ(in_child([] { return use_the_device(true); }), 0);
}

TEST(Process, ExitWithoutFinalizeWorks) {
  EXPECT_EQ(in_child([] { return use_the_device(false); }), 0);
}

TEST(Process, ExitWhileAKernelRunsWorks) {
  EXPECT_EQ(in_child([] {
              static std::atomic<uint64_t> never{0};
              static std::atomic<int> started{0};
              aclrtSetDevice(0);
              if (launch(3, nullptr, [](symm_core&) {
                    ++started;
                    WordWait(never, 1)();
                  }) != 0) {
                return 1;
              }
              // All of them: what a starting core is about to note would look like a leak.
              while (started < 3) std::this_thread::yield();
              return 0;
            }),
            0);
}

TEST(Process, NewerChipHasALargerUb) {
  EXPECT_EQ(in_child([] {
              ::setenv("SHMEM_SOC_NAME", "Ascend950PR", 1);
              std::atomic<uint64_t> size{0};
              aclrtSetDevice(0);
              if (launch(1, nullptr, [&](symm_core& core) {
                    core.ub[core.ub_size - 1] = 1;
                    size = core.ub_size;
                  }) != 0) {
                return 1;
              }
              if (aclrtSynchronizeStream(nullptr) != 0) return 2;
              return size == 256 * 1024 && std::string(aclrtGetSocName()) == "Ascend950PR" ? 0 : 3;
            }),
            0);
}

#if defined(__SANITIZE_THREAD__)
// The switches between cores must not count as synchronisation, or races between blocks would stay
// hidden.
TEST(Process, RaceBetweenBlocksOfOneWorkerIsReported) {
  auto run = [](bool barrier) {
    return in_child([barrier] {
      int word = 0;
      if (aclrtSetDevice(0) != 0) return 1;
      if (launch(2, nullptr, [&word, barrier](symm_core& core) {
            if (core.block == 0) word = 1;
            if (barrier) symm_rt_sync_all();
            if (core.block == 1) word = 2;
          }) != 0) {
        return 2;
      }
      return aclrtSynchronizeStream(nullptr) == 0 ? 0 : 3;
    });
  };
  constexpr int kReported = 66;  // the exit code of ThreadSanitizer
  EXPECT_EQ(run(false), kReported);
  EXPECT_EQ(run(true), 0);
}
#else  // it cannot follow a fork of a process with threads
TEST(Process, ForkAfterUseStartsAfresh) {
  EXPECT_EQ(in_child([] {
              if (int code = use_the_device(false)) return code;
              return in_child([] {
                void* memory = nullptr;
                if (aclrtMalloc(&memory, 8, ACL_MEM_MALLOC_HUGE_FIRST) != ACL_ERROR_RT_CONTEXT_NULL)
                  return 2;
                return use_the_device(true);
              });
            }),
            0);
}
#endif

}  // namespace
}  // namespace symm::test
