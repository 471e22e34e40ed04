// What the system around the PEs looks like: little or no shared memory folder, leftovers after
// kill.
#include <dirent.h>
#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <sys/mount.h>

#include <filesystem>
#include <set>

#include "tests/faults/support.h"

namespace symm::test {
namespace {

std::set<std::string> names_in(const char* directory) {
  std::set<std::string> names;
  DIR* dir = ::opendir(directory);
  CHECK_IN_CHILD(dir != nullptr);
  while (dirent* entry = ::readdir(dir)) names.insert(entry->d_name);
  ::closedir(dir);
  names.erase(".");
  names.erase("..");
  return names;
}

// An empty /tmp, but for the libraries when they lie there. Call after own_mounts().
void own_tmp(const char* options, bool read_only) {
  const auto libraries = std::filesystem::path(SYMM_TEST_LIBRARY).parent_path();
  const int kept = ::open(libraries.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC);
  CHECK_IN_CHILD(kept >= 0);
  CHECK_IN_CHILD(::mount("tmpfs", "/tmp", "tmpfs", 0, options) == 0);
  if (libraries.native().starts_with("/tmp/")) {
    std::filesystem::create_directories(libraries);
    const std::string from = "/proc/self/fd/" + std::to_string(kept);
    CHECK_IN_CHILD(::mount(from.c_str(), libraries.c_str(), nullptr, MS_BIND, nullptr) == 0);
  }
  ::close(kept);
  if (!read_only) return;
  CHECK_IN_CHILD(::mount(nullptr, "/tmp", nullptr, MS_REMOUNT | MS_RDONLY, options) == 0);
}

void run_whole_heap(const BoundPort& port, int pe, int n_pes) {
  auto attributes = process_attributes(port, pe, n_pes, 64 << 20);
  CHECK_IN_CHILD(aclshmemx_init_attr(ACLSHMEMX_INIT_WITH_DEFAULT, &attributes) == 0);
  constexpr size_t kBytes = 60 << 20;
  auto* block = static_cast<char*>(aclshmem_calloc(1, kBytes));
  CHECK_IN_CHILD(block != nullptr);
  char value = static_cast<char>(pe + 1);
  aclshmem_putmem(block + kBytes - 1, &value, 1, (pe + 1) % n_pes);
  aclshmem_barrier_all();
  CHECK_IN_CHILD(block[kBytes - 1] == (pe + n_pes - 1) % n_pes + 1);
  aclshmem_free(block);
  CHECK_IN_CHILD(aclshmem_finalize() == 0);
}

TEST(Surroundings, FaultD1_ATinyDevShmDoesNotMatter) {
  ProcessJob job(2, [](int pe, const BoundPort& port) {
    own_mounts();
    CHECK_IN_CHILD(::mount("tmpfs", "/dev/shm", "tmpfs", 0, "size=1m") == 0);
    run_whole_heap(port, pe, 2);
    return 0;
  });
  job.expect_all_ok();
}

TEST(Surroundings, FaultD2_NoDevShmAndAReadOnlyRootDoNotMatter) {
  ProcessJob job(2, [](int pe, const BoundPort& port) {
    // The key comes from the launcher, so that no file has to be made.
    ::setenv("SHMEM_JOB_SECRET", "a secret of this test only", 1);
    own_mounts();
    CHECK_IN_CHILD(::mount("tmpfs", "/dev/shm", "tmpfs", MS_RDONLY, "size=4k") == 0);
    own_tmp("size=64k", true);
    run_whole_heap(port, pe, 2);
    return 0;
  });
  job.expect_all_ok();
}

void kill_all_pes_after(int milliseconds, int first) {
  ProcessJob job(2, [](int pe, const BoundPort& port) {
    auto attributes = process_attributes(port, pe, 2);
    if (aclshmemx_init_attr(ACLSHMEMX_INIT_WITH_DEFAULT, &attributes) != 0) return 1;
    while (aclshmemx_last_error(nullptr, 0, false) == 0) {
      void* block = aclshmem_malloc(4096);
      aclshmem_barrier_all();
      aclshmem_free(block);
    }
    return 1;
  });
  // Spread over init and the loop; no result depends on the exact moment.
  ::poll(nullptr, 0, milliseconds);
  job.kill(first);
  job.kill(1 - first);
  // Nothing else may have ended it before, such as a failed init.
  const int status = job.wait(first);
  CHECK_IN_CHILD(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
  job.wait(1 - first);
}

TEST(Surroundings, FaultD3_KillingEveryPeAtAnyMomentLeavesNothing) {
  const pid_t alone = ::fork();
  if (alone == 0) {
    // Folders of its own: other programs leave their files in the usual ones meanwhile.
    own_mounts();
    CHECK_IN_CHILD(::mount("tmpfs", "/dev/shm", "tmpfs", 0, "size=64m") == 0);
    own_tmp("size=64m", false);
    const auto at_first = names_in("/tmp");
    for (int round = 0; round < 100; ++round) {
      kill_all_pes_after(round % 25 * 3, round % 2);
      CHECK_IN_CHILD(names_in("/dev/shm").empty());
      CHECK_IN_CHILD(names_in("/tmp") == at_first);
    }
    std::_Exit(0);
  }
  int status = -1;
  ASSERT_EQ(::waitpid(alone, &status, 0), alone);
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << "wait status " << status;
}

// What nm says about the dynamic symbols of a library.
std::string symbols_of(const char* library) {
  FILE* pipe = ::popen((std::string("nm -D ") + library).c_str(), "r");
  if (pipe == nullptr) return "";
  std::string text;
  char line[4096];
  while (std::fgets(line, sizeof line, pipe) != nullptr) text += line;
  EXPECT_EQ(::pclose(pipe), 0);
  return text;
}

TEST(Surroundings, FaultN3_OnlyThePluginHasMpiSymbols) {
  const std::string library = symbols_of(SYMM_TEST_LIBRARY);
  EXPECT_NE(library.find(" aclshmemx_init_attr"), std::string::npos);
  EXPECT_EQ(library.find(" MPI_"), std::string::npos);
  EXPECT_EQ(library.find(" PMPI_"), std::string::npos);
  if (std::string(SYMM_TEST_MPI_PLUGIN).empty()) return;  // built without MPI
  EXPECT_NE(symbols_of(SYMM_TEST_MPI_PLUGIN).find(" MPI_"), std::string::npos);
}

TEST(Surroundings, FaultD6_ProcessNamespacesDoNotMatter) {
  ProcessJob job(2, [](int pe, const BoundPort& port) {
    // Its children live in a namespace of their own: the PE is one of them.
    CHECK_IN_CHILD(::unshare(CLONE_NEWPID) == 0);
    const pid_t child = ::fork();
    if (child == 0) {
      run_whole_heap(port, pe, 2);
      std::_Exit(0);
    }
    int status = -1;
    CHECK_IN_CHILD(::waitpid(child, &status, 0) == child);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 1;
  });
  job.expect_all_ok();
}

}  // namespace
}  // namespace symm::test
