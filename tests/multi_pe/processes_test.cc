// PEs as processes with the real control plane, TLS on and off.
#include <dirent.h>
#include <fcntl.h>

#include <algorithm>
#include <cstring>
#include <fstream>
#include <set>
#include <thread>

#include "shmem.h"
#include "tests/multi_pe/process_job.h"

namespace symm::test {
namespace {

using Clock = std::chrono::steady_clock;

std::set<std::string> names_in(const char* directory) {
  std::set<std::string> names;
  DIR* dir = ::opendir(directory);
  if (dir == nullptr) return names;
  while (dirent* entry = ::readdir(dir)) names.insert(entry->d_name);
  ::closedir(dir);
  return names;
}

// Our memory has no name: nothing of it can stay in /dev/shm. (What other programs keep there comes
// and goes.)
bool maps_named_memory() {
  std::ifstream maps("/proc/self/maps");
  std::string line;
  while (std::getline(maps, line)) {
    if (line.find("/dev/shm/") != std::string::npos) return true;
  }
  return false;
}

int count_fds() { return static_cast<int>(names_in("/proc/self/fd").size()); }

void use_tls(bool on) {
  if (!on) CHECK_IN_CHILD(aclshmemx_set_conf_store_tls(false, nullptr, 0) == 0);
}

class Processes : public testing::TestWithParam<std::tuple<int, bool>> {
 protected:
  static int n() { return std::get<0>(GetParam()); }
  static bool tls() { return std::get<1>(GetParam()); }
};
INSTANTIATE_TEST_SUITE_P(Counts, Processes,
                         testing::Combine(testing::Values(1, 2, 3, 8), testing::Bool()),
                         [](const auto& one) {
                           return std::to_string(std::get<0>(one.param)) +
                                  (std::get<1>(one.param) ? "_tls" : "_plain");
                         });

// A ring of puts, signals, gets and barriers; checks the state blocks as well.
int ring(int pe, int n_pes) {
  CHECK_IN_CHILD(aclshmem_my_pe() == pe && aclshmem_n_pes() == n_pes);
  CHECK_IN_CHILD(!maps_named_memory());
  CHECK_IN_CHILD(g_state.mype == pe && g_state.npes == n_pes);
  CHECK_IN_CHILD(g_state.heap_base == aclshmemx_get_heap_base());
  CHECK_IN_CHILD(g_state_host.default_stream != nullptr && g_state_host.notify_arr[47] != nullptr);
  const int right = (pe + 1) % n_pes;
  const int left = (pe + n_pes - 1) % n_pes;
  auto* data = static_cast<int64_t*>(aclshmem_calloc(1024, sizeof(int64_t)));
  auto* signal = static_cast<int32_t*>(aclshmem_calloc(1, sizeof(int32_t)));
  CHECK_IN_CHILD(data != nullptr && signal != nullptr);
  for (int round = 1; round <= 50; ++round) {
    int64_t mine[1024];
    std::fill(mine, mine + 1024, round * 1000 + pe);
    aclshmem_int64_put_signal(data, mine, 1024, reinterpret_cast<uint8_t*>(signal), round,
                              ACLSHMEM_SIGNAL_SET, right);
    aclshmem_signal_wait_until(signal, ACLSHMEM_CMP_GE, round);
    for (int64_t value : {data[0], data[511], data[1023]}) {
      CHECK_IN_CHILD(value == round * 1000 + left);
    }
    CHECK_IN_CHILD(aclshmem_int64_g(data, right) == round * 1000 + pe);
    aclshmem_barrier_all();
  }
  // Every PE's heap is at the same distance from the next one's.
  auto* own = static_cast<char*>(aclshmem_ptr(data, pe));
  auto* next = static_cast<char*>(aclshmem_ptr(data, right));
  CHECK_IN_CHILD(next - own == (right - pe) * static_cast<ptrdiff_t>(ACLSHMEM_HEAP_ALIGNMENT_SIZE));
  CHECK_IN_CHILD(aclshmemx_last_error(nullptr, 0, true) == 0);
  aclshmem_free(signal);
  aclshmem_free(data);
  return 0;
}

TEST_P(Processes, Ring) {
  const int n_pes = n();
  const bool with_tls = tls();
  ProcessJob job(n_pes, [=](int pe, const BoundPort& port) {
    use_tls(with_tls);
    auto attributes = process_attributes(port, pe, n_pes);
    CHECK_IN_CHILD(aclshmemx_init_attr(ACLSHMEMX_INIT_WITH_DEFAULT, &attributes) == 0);
    CHECK_IN_CHILD(aclshmemx_init_status() == ACLSHMEM_STATUS_IS_INITIALIZED);
    char info[512];
    CHECK_IN_CHILD(aclshmemx_control_plane_info(info, sizeof(info)) == 0);
    // A job of one PE connects nothing.
    CHECK_IN_CHILD((std::strstr(info, "TLSv1.3") != nullptr) == (with_tls && n_pes > 1));
    // A second init of a live instance changes nothing.
    CHECK_IN_CHILD(aclshmemx_init_attr(ACLSHMEMX_INIT_WITH_DEFAULT, &attributes) == -4);
    int code = ring(pe, n_pes);
    CHECK_IN_CHILD(aclshmem_finalize() == 0);
    CHECK_IN_CHILD(aclshmemx_init_status() == 0 && aclshmem_my_pe() == -1);
    CHECK_IN_CHILD(g_state.mype == -1 && g_state_host.default_stream == nullptr);
    return code;
  });
  job.expect_all_ok();
}

TEST(ProcessJob, InitFinalizeTwentyTimesLeavesNoDescriptors) {
  constexpr int kPes = 3;
  ProcessJob job(kPes, [](int pe, const BoundPort& port) {
    int fds = 0;
    for (int round = 0; round < 20; ++round) {
      auto attributes = process_attributes(port, pe, kPes);
      // The inherited socket serves the first round; the later ones bind the same port again.
      if (round > 0) attributes.option_attr.sockFd = 0;
      CHECK_IN_CHILD(aclshmemx_init_attr(ACLSHMEMX_INIT_WITH_DEFAULT, &attributes) == 0);
      CHECK_IN_CHILD(aclshmem_malloc(100) != nullptr);
      CHECK_IN_CHILD(aclshmem_finalize() == 0);
      if (round == 2) fds = count_fds();
    }
    CHECK_IN_CHILD(count_fds() <= fds);
    return 0;
  });
  job.expect_all_ok();
}

TEST(ProcessJob, UniqueIdInitAndTheSamePortAgain) {
  constexpr int kPes = 2;
  int pipes[2];
  ASSERT_EQ(::pipe(pipes), 0);
  ProcessJob job(kPes, [&](int pe, const BoundPort&) {
    for (int round = 0; round < 3; ++round) {
      aclshmemx_uniqueid_t id = ACLSHMEM_UNIQUEID_INITIALIZER;
      if (pe == 0) {
        CHECK_IN_CHILD(aclshmemx_get_uniqueid(&id) == 0);
        CHECK_IN_CHILD(::write(pipes[1], &id, sizeof(id)) == sizeof(id));
      } else {
        CHECK_IN_CHILD(::read(pipes[0], &id, sizeof(id)) == sizeof(id));
      }
      aclshmemx_init_attr_t attributes{};
      CHECK_IN_CHILD(aclshmemx_set_attr_uniqueid_args(pe, kPes, 2 << 20, &id, &attributes) == 0);
      CHECK_IN_CHILD(aclshmemx_init_attr(ACLSHMEMX_INIT_WITH_UNIQUEID, &attributes) == 0);
      ring(pe, kPes);
      CHECK_IN_CHILD(aclshmem_finalize() == 0);
    }
    return 0;
  });
  job.expect_all_ok();
  ::close(pipes[0]);
  ::close(pipes[1]);
}

TEST(ProcessJob, AsymmetricMallocIsNamedOnAllPes) {
  constexpr int kPes = 3;
  ProcessJob job(kPes, [](int pe, const BoundPort& port) {
    auto attributes = process_attributes(port, pe, kPes);
    CHECK_IN_CHILD(aclshmemx_init_attr(ACLSHMEMX_INIT_WITH_DEFAULT, &attributes) == 0);
    CHECK_IN_CHILD(aclshmem_malloc(pe == 1 ? 4096 : 1024) == nullptr);
    char text[512];
    CHECK_IN_CHILD(aclshmemx_last_error(text, sizeof(text), true) == ACLSHMEM_INVALID_PARAM);
    CHECK_IN_CHILD(std::strstr(text, "PE 0 calls aclshmem_malloc(1024)") != nullptr);
    CHECK_IN_CHILD(std::strstr(text, "PE 1 calls aclshmem_malloc(4096)") != nullptr);
    CHECK_IN_CHILD(aclshmem_malloc(1024) != nullptr);
    CHECK_IN_CHILD(aclshmem_finalize() == 0);
    return 0;
  });
  job.expect_all_ok();
}

// What the survivors of a death do: each waits in its own way and reports over a pipe.
// Wherever init is when a PE dies, the others end: by the notice of its death, or by the time limit
// of init if it had not said yet who it is. The limit of single steps is far longer than both.
TEST(ProcessJob, ADeathAtAnyMomentOfInitEndsTheOthers) {
  constexpr int kPes = 3;
  for (int moment = 0; moment < 12; ++moment) {
    int ready[2];
    ASSERT_EQ(::pipe(ready), 0);
    ProcessJob job(kPes, [&](int pe, const BoundPort& port) {
      auto attributes = process_attributes(port, pe, kPes);
      attributes.option_attr.shm_init_timeout = 1;
      attributes.option_attr.control_operation_timeout = 60;
      if (pe == 2) CHECK_IN_CHILD(::write(ready[1], "r", 1) == 1);
      int code = aclshmemx_init_attr(ACLSHMEMX_INIT_WITH_DEFAULT, &attributes);
      if (pe == 2) ::pause();
      aclshmem_barrier_all();
      return code != 0 || aclshmem_finalize() != 0 ? 3 : 0;
    });
    char byte;
    ASSERT_EQ(::read(ready[0], &byte, 1), 1);
    // Spread over the milliseconds that init takes; no result depends on the exact moment.
    std::this_thread::sleep_for(std::chrono::microseconds(moment * 700));
    job.kill(2);
    const auto start = std::chrono::steady_clock::now();
    for (int pe : {0, 1}) {
      int status = job.wait(pe);
      EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 3)
          << "PE " << pe << " ended with wait status " << status << " at moment " << moment;
    }
    EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(30)) << moment;
    job.wait(2);
    ::close(ready[0]);
    ::close(ready[1]);
  }
}

TEST(ProcessJob, WaitsEndSoonAfterAPeerIsKilledAndNameIt) {
  constexpr int kPes = 4;
  int ready[2];
  ASSERT_EQ(::pipe(ready), 0);
  ProcessJob job(kPes, [&](int pe, const BoundPort& port) {
    auto attributes = process_attributes(port, pe, kPes);
    CHECK_IN_CHILD(aclshmemx_init_attr(ACLSHMEMX_INIT_WITH_DEFAULT, &attributes) == 0);
    auto* word = static_cast<int32_t*>(aclshmem_calloc(1, sizeof(int32_t)));
    CHECK_IN_CHILD(!maps_named_memory());
    CHECK_IN_CHILD(::write(ready[1], "r", 1) == 1);
    if (pe == 2) {
      ::pause();
      return 1;
    }
    if (pe == 0) aclshmem_barrier_all();
    if (pe == 1) aclshmem_signal_wait_until(word, ACLSHMEM_CMP_EQ, 1);
    if (pe == 3) CHECK_IN_CHILD(aclshmem_malloc(64) == nullptr);
    char text[512];
    CHECK_IN_CHILD(aclshmemx_last_error(text, sizeof(text), false) == ACLSHMEM_PEER_LOST);
    CHECK_IN_CHILD(std::strstr(text, "PE 2") != nullptr);
    CHECK_IN_CHILD(aclshmem_finalize() != 0);
    return 7;
  });
  for (int i = 0; i < kPes; ++i) {
    char byte;
    ASSERT_EQ(::read(ready[0], &byte, 1), 1);
  }
  auto killed = Clock::now();
  job.kill(2);
  for (int pe : {0, 1, 3}) {
    int status = job.wait(pe);
    EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 7) << "PE " << pe << ": " << status;
  }
  auto elapsed = Clock::now() - killed;
  RecordProperty(
      "milliseconds_until_all_ended",
      static_cast<int>(std::chrono::duration_cast<std::chrono::milliseconds>(elapsed).count()));
  EXPECT_LT(elapsed, std::chrono::seconds(10));
  job.wait(2);
  ::close(ready[0]);
  ::close(ready[1]);
}

// exit() without finalize: the others hear that the PE left and do not wait for it for ever.
TEST(ProcessJob, ExitWithoutFinalizeIsOrderly) {
  constexpr int kPes = 3;
  ProcessJob job(kPes, [](int pe, const BoundPort& port) {
    auto attributes = process_attributes(port, pe, kPes);
    CHECK_IN_CHILD(aclshmemx_init_attr(ACLSHMEMX_INIT_WITH_DEFAULT, &attributes) == 0);
    CHECK_IN_CHILD(aclshmem_malloc(64) != nullptr);
    if (pe == 1) return 0;
    aclshmem_barrier_all();
    char text[512];
    CHECK_IN_CHILD(aclshmemx_last_error(text, sizeof(text), true) == ACLSHMEM_PEER_LOST);
    CHECK_IN_CHILD(std::strstr(text, "PE 1") != nullptr);
    return 0;
  });
  job.expect_all_ok();
}

TEST(ProcessJob, AllMayExitWithoutFinalize) {
  constexpr int kPes = 3;
  ProcessJob job(kPes, [](int pe, const BoundPort& port) {
    auto attributes = process_attributes(port, pe, kPes);
    CHECK_IN_CHILD(aclshmemx_init_attr(ACLSHMEMX_INIT_WITH_DEFAULT, &attributes) == 0);
    aclshmem_barrier_all();
    return 0;
  });
  job.expect_all_ok();
}

// In a forked child: runs after the exit handlers of the library and before the leak check, to
// which the memory of the parent's threads looks lost.
int g_forked_result = -1;
void end_forked_child() {
  if (g_forked_result >= 0) std::_Exit(g_forked_result);
}

TEST(ProcessJob, AForkedChildGetsErrorsAndHarmsNobody) {
  constexpr int kPes = 2;
  ProcessJob job(kPes, [](int pe, const BoundPort& port) {
    std::atexit(end_forked_child);
    auto attributes = process_attributes(port, pe, kPes);
    CHECK_IN_CHILD(aclshmemx_init_attr(ACLSHMEMX_INIT_WITH_DEFAULT, &attributes) == 0);
    auto* word = static_cast<int32_t*>(aclshmem_calloc(1, sizeof(int32_t)));
    pid_t child = ::fork();
    if (child == 0) {
      CHECK_IN_CHILD(aclshmem_my_pe() == -1);
      CHECK_IN_CHILD(aclshmem_malloc(8) == nullptr);
      CHECK_IN_CHILD(aclshmemi_control_barrier_all() == ACLSHMEM_NOT_INITED);
      int32_t one = 1;
      aclshmem_int32_put(word, &one, 1, 1 - pe);
      aclshmem_barrier_all();
      g_forked_result = aclshmem_finalize();
      std::exit(g_forked_result);
    }
    int status = -1;
    ::waitpid(child, &status, 0);
    CHECK_IN_CHILD(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    aclshmem_barrier_all();
    CHECK_IN_CHILD(*word == 0);
    CHECK_IN_CHILD(ring(pe, kPes) == 0);
    CHECK_IN_CHILD(aclshmem_finalize() == 0);
    return 0;
  });
  job.expect_all_ok();
}

TEST(ProcessJob, GlobalExitEndsEveryPeWithTheStatus) {
  constexpr int kPes = 3;
  ProcessJob job(kPes, [](int pe, const BoundPort& port) {
    auto attributes = process_attributes(port, pe, kPes);
    CHECK_IN_CHILD(aclshmemx_init_attr(ACLSHMEMX_INIT_WITH_DEFAULT, &attributes) == 0);
    if (pe == 1) aclshmem_global_exit(42);
    aclshmem_barrier_all();
    ::pause();
    return 1;
  });
  for (int pe = 0; pe < kPes; ++pe) {
    int status = job.wait(pe);
    EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 42) << "PE " << pe << ": " << status;
  }
}

TEST(ProcessJob, OperationsOnStreamsKeepTheirOrder) {
  constexpr int kPes = 3;
  ProcessJob job(kPes, [](int pe, const BoundPort& port) {
    auto attributes = process_attributes(port, pe, kPes);
    CHECK_IN_CHILD(aclshmemx_init_attr(ACLSHMEMX_INIT_WITH_DEFAULT, &attributes) == 0);
    const int right = (pe + 1) % kPes;
    const int left = (pe + kPes - 1) % kPes;
    auto* data = static_cast<int32_t*>(aclshmem_calloc(256, sizeof(int32_t)));
    auto* back = static_cast<int32_t*>(aclshmem_calloc(256, sizeof(int32_t)));
    auto* signal = static_cast<int32_t*>(aclshmem_calloc(1, sizeof(int32_t)));
    aclrtStream stream = nullptr;
    CHECK_IN_CHILD(aclrtCreateStream(&stream) == ACL_SUCCESS);
    std::vector<int32_t> mine(256, 10 + pe);
    for (aclrtStream where : {stream, aclrtStream{nullptr}}) {
      const int round = where == nullptr ? 2 : 1;
      for (int32_t& value : mine) value += 100;
      aclshmemx_putmem_on_stream(data, mine.data(), 1024, right, where);
      aclshmemx_signal_op_on_stream(signal, round, ACLSHMEM_SIGNAL_SET, right, where);
      aclshmemx_signal_wait_until_on_stream(signal, ACLSHMEM_CMP_GE, round, where);
      aclshmemx_barrier_all_on_stream(where);
      aclshmemx_getmem_on_stream(back, data, 1024, right, where);
      aclshmemx_quiet_on_stream(where);
      aclshmemx_handle_wait({ACLSHMEM_TEAM_WORLD}, where);
      CHECK_IN_CHILD(aclrtSynchronizeStream(stream) == ACL_SUCCESS);
      CHECK_IN_CHILD(aclrtSynchronizeStream(g_state_host.default_stream) == ACL_SUCCESS);
      CHECK_IN_CHILD(data[0] == 10 + left + 100 * round && data[255] == data[0]);
      CHECK_IN_CHILD(back[0] == 10 + pe + 100 * round && back[255] == back[0]);
      aclshmem_barrier_all();
    }
    aclshmemx_putmem_on_stream(&mine, data, 4, right, stream);
    CHECK_IN_CHILD(aclshmemx_last_error(nullptr, 0, true) == ACLSHMEM_INVALID_PARAM);
    CHECK_IN_CHILD(aclrtDestroyStream(stream) == ACL_SUCCESS);
    CHECK_IN_CHILD(aclshmem_finalize() == 0);
    return 0;
  });
  job.expect_all_ok();
}

// A PE that dies while the others make a team with it: they get an error, not a hang.
TEST(ProcessesFaultL6, DeathWhileATeamIsMade) {
  constexpr int kPes = 4;
  ProcessJob job(kPes, [](int pe, const BoundPort& port) {
    auto attributes = process_attributes(port, pe, kPes);
    CHECK_IN_CHILD(aclshmemx_init_attr(ACLSHMEMX_INIT_WITH_DEFAULT, &attributes) == 0);
    aclshmem_team_t team = -1;
    for (int i = 0; i < 20; ++i) {
      CHECK_IN_CHILD(aclshmem_team_split_strided(0, 0, 1, kPes, &team) == 0);
      aclshmem_barrier(team);
      aclshmem_team_destroy(team);
    }
    if (pe == 2) ::raise(SIGKILL);
    const int code = aclshmem_team_split_strided(0, 0, 1, kPes, &team);
    CHECK_IN_CHILD(code == -12 && team == ACLSHMEM_TEAM_INVALID);
    char text[1024] = "";
    aclshmemx_last_error(text, sizeof text, true);
    CHECK_IN_CHILD(std::strstr(text, "PE 2") != nullptr);
    std::_Exit(0);
    return 0;
  });
  for (int pe : {0, 1, 3}) {
    const int status = job.wait(pe);
    EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << "PE " << pe << ": " << status;
  }
}

}  // namespace
}  // namespace symm::test
