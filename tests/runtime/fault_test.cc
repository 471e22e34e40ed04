// Crashes inside kernels: the report names kernel, block and cause, and the process still ends as
// it would have.
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <functional>
#include <thread>

#include "ascendc/simt_abi.h"
#include "tests/runtime/kernel.h"

namespace symm::test {
namespace {

using testing::HasSubstr;
using testing::Not;

struct Crash {
  std::string output;
  int signal = 0;  // 0: it ended by itself
  int code = 0;
};

// Runs body in a child and gathers what it wrote to stderr; the child is ended when that holds
// `enough`.
Crash crash(const std::function<void()>& body, const char* enough = nullptr) {
  int ends[2];
  if (::pipe(ends) != 0) return {};
  const pid_t child = ::fork();
  if (child == 0) {
    ::alarm(60);  // a hang becomes a failure
    ::dup2(ends[1], STDERR_FILENO);
    body();
    std::_Exit(0);
  }
  ::close(ends[1]);
  Crash result;
  char part[4096];
  for (ssize_t got; (got = ::read(ends[0], part, sizeof part)) > 0;) {
    result.output.append(part, static_cast<size_t>(got));
    if (enough != nullptr && result.output.find(enough) != std::string::npos)
      ::kill(child, SIGKILL);
  }
  ::close(ends[0]);
  int status = 0;
  ::waitpid(child, &status, 0);
  if (WIFSIGNALED(status)) result.signal = WTERMSIG(status);
  if (WIFEXITED(status)) result.code = WEXITSTATUS(status);
  return result;
}

template <typename F>
void run_kernel(uint32_t blocks, F function, int aiv = 1) {
  if (aclrtSetDevice(0) != 0) std::_Exit(100);
  if (launch(blocks, nullptr, function, aiv) != 0) std::_Exit(101);
  (void)aclrtSynchronizeStream(nullptr);
}

void expect_signal(const Crash& crash, int signal) {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  (void)signal;
  EXPECT_TRUE(crash.signal != 0 || crash.code != 0) << crash.output;  // the sanitizer ends it
#else
  EXPECT_EQ(crash.signal, signal) << crash.output << crash.code;
#endif
}

__attribute__((noinline)) int dig(int depth) {
  volatile char room[4096];
  room[depth % 4096] = static_cast<char>(depth);
  return depth == 0 ? 0 : dig(depth - 1) + room[depth % 4096];
}

TEST(Fault, StackOverflowOfACoreIsNamed) {
  const Crash got = crash([] {
    run_kernel(5, [](symm_core& core) {
      if (core.block == 3) (void)dig(1 << 20);
    });
  });
  EXPECT_THAT(got.output, HasSubstr("SIGSEGV in kernel test_kernel (launch 1), block 3: stack "
                                    "overflow"));
  EXPECT_THAT(got.output, HasSubstr("SHMEM_KERNEL_STACK"));
  expect_signal(got, SIGSEGV);
}

TEST(Fault, StackOverflowOfALaneIsNamed) {
  const Crash got = crash([] {
    run_kernel(1, [](symm_core&) {
      const uint32_t dims[3] = {4, 1, 1};
      symm_rt_lanes(
          dims, [](void*) { (void)dig(threadIdx.x == 2 ? 1 << 20 : 1); }, nullptr);
    });
  });
  EXPECT_THAT(got.output, HasSubstr("stack overflow: the stack of a SIMT lane"));
  expect_signal(got, SIGSEGV);
}

TEST(Fault, NullPointerNamesKernelBlockAndVectorCore) {
  const Crash got = crash([] {
    run_kernel(
        2,
        [](symm_core& core) {
          volatile int* volatile nothing = nullptr;
          if (core.block == 1 && core.sub_block == 1) nothing[4] = 1;
        },
        2);
  });
  EXPECT_THAT(got.output, HasSubstr("block 1, vector core 1: access through a null pointer "
                                    "(address 0x10)"));
  expect_signal(got, SIGSEGV);
}

TEST(Fault, AccessBehindTheUnifiedBufferIsNamed) {
  const Crash got = crash([] {
    run_kernel(1, [](symm_core& core) {
      volatile uint8_t* ub = core.ub;
      ub[256 * 1024 + 64] = 1;
    });
  });
  EXPECT_THAT(got.output, HasSubstr("block 0: access at offset 262208 of the unified buffer"));
  expect_signal(got, SIGSEGV);
}

TEST(Fault, WildPointerShowsItsAddress) {
  const Crash got = crash([] {
    run_kernel(1, [](symm_core&) {
      auto* volatile wild = reinterpret_cast<int*>(0x123450000000);
      *wild = 1;
    });
  });
  EXPECT_THAT(got.output, HasSubstr("access to address 0x123450000000"));
  expect_signal(got, SIGSEGV);
}

// A wait that lasts says where it stands.
TEST(Fault, ReportOfAWaitNamesKernelAndBlock) {
  const char* const place = "word_wait on PE 0: at ";
  const Crash got = crash(
      [] {
        static std::atomic<uint64_t> never{0};
        symm_event_count events{};
        symm_wait_domain domain{};
        domain.events = &events;
        domain.report_after_ms = 20;
        run_kernel(3, [&](symm_core& core) {
          if (core.block == 2) WordWait(never, 1, &domain)();
        });
      },
      "block 2\n");
  EXPECT_THAT(got.output, HasSubstr(place));
  EXPECT_THAT(got.output, HasSubstr(", in kernel test_kernel (launch 1), block 2\n"));
}

// SyncAll too, which knows no instance.
TEST(Fault, ReportOfSyncAllNamesKernelAndBlock) {
  const Crash got = crash(
      [] {
        static std::atomic<uint64_t> never{0};
        ::setenv("SHMEM_WAIT_REPORT", "1", 1);
        run_kernel(2, [&](symm_core& core) {
          if (core.block == 0) {
            symm_rt_sync_all();
          } else {
            while (never == 0) symm_rt_yield();
          }
        });
      },
      "block 0\n");
  EXPECT_THAT(got.output, HasSubstr("SyncAll, in kernel test_kernel (launch 1), block 0\n"));
}

#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
TEST(Fault, DivisionByZeroIsNamed) {
  const Crash got = crash([] {
    run_kernel(1, [](symm_core& core) {
      volatile int64_t hundred = 100;
      volatile int64_t zero = core.block;
      hundred = hundred / zero;
    });
  });
  EXPECT_THAT(got.output, HasSubstr("SIGFPE in kernel test_kernel"));
  EXPECT_THAT(got.output, HasSubstr("division by zero"));
  EXPECT_EQ(got.signal, SIGFPE);
}

// A handler that the program set before still gets its turn, and faults of host threads are not
// ours.
void note_and_leave(int) {
  constexpr char kText[] = "the program's own handler\n";
  if (::write(STDERR_FILENO, kText, sizeof kText - 1) < 0) std::_Exit(8);
  std::_Exit(7);
}

TEST(Fault, HandlersOfTheProgramAreCalledAfterwards) {
  const Crash got = crash([] {
    ::signal(SIGSEGV, note_and_leave);
    run_kernel(1, [](symm_core&) {
      volatile int* volatile nothing = nullptr;
      *nothing = 1;
    });
  });
  EXPECT_THAT(got.output, HasSubstr("null pointer"));
  EXPECT_THAT(got.output, HasSubstr("the program's own handler"));
  EXPECT_EQ(got.code, 7);
}

TEST(Fault, FaultsAndSignalsOfHostThreadsAreNotOurs) {
  const Crash fault = crash([] {
    run_kernel(1, [](symm_core&) {});
    volatile int* volatile nothing = nullptr;
    *nothing = 1;
  });
  EXPECT_THAT(fault.output, Not(HasSubstr("kernel")));
  EXPECT_EQ(fault.signal, SIGSEGV);
  const Crash sent = crash([] {
    run_kernel(1, [](symm_core&) {});
    ::raise(SIGSEGV);
  });
  EXPECT_THAT(sent.output, Not(HasSubstr("kernel")));
  EXPECT_EQ(sent.signal, SIGSEGV);
}
#endif

}  // namespace
}  // namespace symm::test
