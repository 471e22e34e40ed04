// What the system around the PEs looks like: little or no shared memory folder, leftovers after
// kill.
#include <dirent.h>
#include <poll.h>
#include <sched.h>
#include <sys/mount.h>

#include <set>

#include "tests/faults/support.h"

namespace symm::test {
namespace {

std::set<std::string> ours_in(const char* directory) {
  std::set<std::string> names;
  DIR* dir = ::opendir(directory);
  while (dirent* entry = dir != nullptr ? ::readdir(dir) : nullptr) {
    const std::string name = entry->d_name;
    if (name.find("symm") != std::string::npos || name.find("shmem") != std::string::npos) {
      names.insert(name);
    }
  }
  if (dir != nullptr) ::closedir(dir);
  return names;
}

// Leaves the process in mount namespace of its own, so that its /dev/shm can be changed.
void own_mounts() {
  CHECK_IN_CHILD(::unshare(CLONE_NEWNS) == 0);
  CHECK_IN_CHILD(::mount("none", "/", nullptr, MS_REC | MS_PRIVATE, nullptr) == 0);
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
    CHECK_IN_CHILD(::mount("tmpfs", "/tmp", "tmpfs", MS_RDONLY, "size=4k") == 0);
    run_whole_heap(port, pe, 2);
    return 0;
  });
  job.expect_all_ok();
}

TEST(Surroundings, FaultD3_KillingEveryPeAtAnyMomentLeavesNothing) {
  const auto shm = ours_in("/dev/shm");
  const auto tmp = ours_in("/tmp");
  for (int round = 0; round < 20; ++round) {
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
    ::poll(nullptr, 0, round * 3);
    job.kill(round % 2);
    job.kill(1 - round % 2);
    job.wait(0);
    job.wait(1);
  }
  EXPECT_EQ(ours_in("/dev/shm"), shm);
  EXPECT_EQ(ours_in("/tmp"), tmp);
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
