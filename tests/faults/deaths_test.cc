// Peers that die, stop, leave or make other calls: waits end, and say why.
#include <fcntl.h>
#include <poll.h>

#include <atomic>

#include "tests/faults/support.h"

namespace symm::test {
namespace {

void start(const BoundPort& port, int pe, int n_pes, uint32_t limit_s = 30) {
  auto attributes = process_attributes(port, pe, n_pes);
  attributes.option_attr.control_operation_timeout = limit_s;
  CHECK_IN_CHILD(aclshmemx_init_attr(ACLSHMEMX_INIT_WITH_DEFAULT, &attributes) == 0);
}

class Pipe {
 public:
  Pipe() { EXPECT_EQ(::pipe(ends_), 0); }
  ~Pipe() {
    ::close(ends_[0]);
    ::close(ends_[1]);
  }
  void tell() const { CHECK_IN_CHILD(::write(ends_[1], "x", 1) == 1); }
  void wait(int count = 1) const {
    char byte;
    for (int i = 0; i < count; ++i) ASSERT_EQ(::read(ends_[0], &byte, 1), 1);
  }
  int reader() const { return ends_[0]; }

 private:
  int ends_[2];
};

// The child of the dead PE lives on with copies of its descriptors.
TEST(Deaths, FaultE1_AChildThatOutlivesItsPeDoesNotHideTheDeath) {
  constexpr int kPes = 3;
  for (int victim : {2, 0}) {
    Pipe ready;
    Pipe over;  // closed by the parent at the end: the grandchild ends then
    int keep[2];
    ASSERT_EQ(::pipe(keep), 0);
    ProcessJob job(kPes, [&](int pe, const BoundPort& port) {
      ::close(keep[1]);
      catch_messages();
      start(port, pe, kPes);
      if (pe == victim && ::fork() == 0) {
        char byte;
        ready.tell();
        (void)!::read(keep[0], &byte, 1);  // until the test is over
        std::_Exit(0);
      }
      if (pe == victim) ::pause();
      ready.tell();
      aclshmem_barrier_all();
      EXPECT_SAID("PE " + std::to_string(victim));
      EXPECT_SAID("is lost");
      CHECK_IN_CHILD(aclshmem_finalize() != 0);
      return 5;
    });
    ready.wait(kPes);
    job.kill(victim);
    for (int pe = 0; pe < kPes; ++pe) {
      if (pe == victim) continue;
      const int status = job.wait(pe);
      EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 5) << "PE " << pe << ": " << status;
    }
    ::close(keep[0]);
    ::close(keep[1]);
  }
}

TEST(Deaths, FaultL7_ACallThatMatchesNoOtherEndsOnAllPesWithBothCalls) {
  constexpr int kPes = 3;
  ProcessJob job(kPes, [](int pe, const BoundPort& port) {
    catch_messages();
    start(port, pe, kPes);
    void* block = aclshmem_malloc(64);
    CHECK_IN_CHILD(block != nullptr);
    if (pe == 1) {
      CHECK_IN_CHILD(aclshmem_malloc(64) == nullptr);
    } else {
      aclshmem_barrier_all();
    }
    EXPECT_SAID("collective mismatch: PE");
    EXPECT_SAID("aclshmem_malloc");
    EXPECT_SAID("aclshmem_barrier_all");
    CHECK_IN_CHILD(aclshmem_finalize() != 0);
    return 0;
  });
  job.expect_all_ok();
}

TEST(Deaths, FaultC4_AFreeOfNullOnOnePeEndsOnAllPesWithBothCalls) {
  constexpr int kPes = 2;
  ProcessJob job(kPes, [](int pe, const BoundPort& port) {
    catch_messages();
    start(port, pe, kPes);
    void* block = aclshmem_malloc(64);
    aclshmem_free(pe == 0 ? nullptr : block);
    aclshmem_barrier_all();
    EXPECT_SAID("collective mismatch: PE");
    EXPECT_SAID("aclshmem_free");
    EXPECT_SAID("aclshmem_barrier_all");
    CHECK_IN_CHILD(aclshmem_finalize() != 0);
    return 0;
  });
  job.expect_all_ok();
}

// PE 1 does not come: the report names it, the call, the team and the number of the barrier.
TEST(Deaths, FaultG7_ASkippedBarrierIsReportedWithTheMissingPe) {
  constexpr int kPes = 3;
  Pipe over;
  ::setenv("SHMEM_WAIT_TIMEOUT", "2", 1);
  ProcessJob job(kPes, [&](int pe, const BoundPort& port) -> int {
    catch_messages();
    start(port, pe, kPes);
    aclshmem_barrier_all();
    if (pe == 1) {
      char byte;
      CHECK_IN_CHILD(::read(over.reader(), &byte, 1) == 1);
      std::_Exit(0);
    }
    aclshmem_barrier_all();
    EXPECT_SAID("aclshmem_barrier_all on PE " + std::to_string(pe));
    EXPECT_SAID("barrier 2, missing: PE 1 (not in a collective call; last in barrier 1)");
    std::_Exit(3);
  });
  for (int pe : {0, 2}) {
    const int status = job.wait(pe);
    EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 3) << "PE " << pe << ": " << status;
  }
  over.tell();
  ::unsetenv("SHMEM_WAIT_TIMEOUT");
}

std::atomic<int> g_own_signals{0};

TEST(Deaths, FaultG7_Sigusr1PrintsTheWaitsAndThenCallsTheProgramsHandler) {
  constexpr int kPes = 2;
  Pipe ready;
  int output[2];
  ASSERT_EQ(::pipe(output), 0);
  ProcessJob job(kPes, [&](int pe, const BoundPort& port) {
    ::dup2(output[1], STDERR_FILENO);
    ::signal(SIGUSR1, [](int) { ++g_own_signals; });
    start(port, pe, kPes);
    ready.tell();
    if (pe == 1) ::pause();
    aclshmem_barrier_all();
    return g_own_signals > 0 ? 6 : 7;
  });
  ::close(output[1]);
  ready.wait(kPes);
  ::fcntl(output[0], F_SETFL, O_NONBLOCK);
  // The report names the wait only once the PE is in it: ask until it is.
  std::string text;
  const auto limit = std::chrono::steady_clock::now() + std::chrono::seconds(60);
  while (text.find("missing: PE 1") == std::string::npos &&
         std::chrono::steady_clock::now() < limit) {
    ::kill(job.pid(0), SIGUSR1);
    ::poll(nullptr, 0, 20);
    char piece[4096];
    for (ssize_t got; (got = ::read(output[0], piece, sizeof(piece))) > 0;) text.append(piece, got);
  }
  EXPECT_NE(text.find("asked by SIGUSR1"), std::string::npos) << text;
  EXPECT_NE(text.find("aclshmem_barrier_all on PE 0"), std::string::npos) << text;
  EXPECT_NE(text.find("missing: PE 1"), std::string::npos) << text;
  job.kill(1);
  const int status = job.wait(0);
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 6) << status;
  ::close(output[0]);
}

TEST(Deaths, FaultL6_FinalizeWithAStoppedPeerEndsAfterTheLimitOnce) {
  constexpr int kPes = 3;
  Pipe ready;
  ProcessJob job(kPes, [&](int pe, const BoundPort& port) {
    catch_messages();
    start(port, pe, kPes, 3);
    ready.tell();
    if (pe == 2) ::raise(SIGSTOP);
    if (pe == 2) return 0;
    const auto begin = std::chrono::steady_clock::now();
    CHECK_IN_CHILD(aclshmem_finalize() != 0);
    EXPECT_SAID("missing: PE 2");
    const auto took = std::chrono::steady_clock::now() - begin;
    std::fprintf(stderr, "PE %d: finalize took %.2f s\n", pe,
                 std::chrono::duration<double>(took).count());
    return 4;
  });
  ready.wait(kPes);
  for (int pe : {0, 1}) {
    const int status = job.wait(pe);
    EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 4) << "PE " << pe << ": " << status;
  }
}

TEST(Deaths, FaultL1_EveryWayToEndIsCleanWithoutFinalize) {
  for (int way = 0; way < 3; ++way) {
    ProcessJob job(2, [way](int pe, const BoundPort& port) {
      start(port, pe, 2);
      aclshmem_barrier_all();
      if (way == 1) std::exit(0);
      if (way == 2) {
        CHECK_IN_CHILD(aclshmem_finalize() == 0);
        CHECK_IN_CHILD(aclshmem_finalize() == 0);
      }
      return 0;
    });
    job.expect_all_ok();
  }
}

}  // namespace
}  // namespace symm::test
