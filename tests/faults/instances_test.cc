// Several instances in one process, and one instance many times.
#include <dirent.h>

#include <fstream>
#include <thread>

#include "tests/faults/support.h"

namespace symm::test {
namespace {

int entries(const char* directory) {
  int count = 0;
  DIR* dir = ::opendir(directory);
  while (dir != nullptr && ::readdir(dir) != nullptr) ++count;
  if (dir != nullptr) ::closedir(dir);
  return count;
}

long resident_kib() {
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);) {
    if (line.rfind("VmRSS:", 0) == 0) return std::atol(line.c_str() + 6);
  }
  return -1;
}

aclshmemx_init_attr_t instance_attributes(const BoundPort& port, int pe, int n_pes, uint64_t id) {
  auto attributes = process_attributes(port, pe, n_pes, (id + 1) * (4 << 20));
  attributes.instance_id = id;
  if (id != 0) attributes.option_attr.sockFd = 0;
  return attributes;
}

void use_instance(int pe, int n_pes) {
  CHECK_IN_CHILD(aclshmem_my_pe() == pe && aclshmem_n_pes() == n_pes);
  auto* word = static_cast<int32_t*>(aclshmem_calloc(1, sizeof(int32_t)));
  CHECK_IN_CHILD(word != nullptr);
  int32_t value = pe + 1;
  aclshmem_putmem(word, &value, sizeof(value), (pe + 1) % n_pes);
  aclshmem_barrier_all();
  const int expected = (pe + n_pes - 1) % n_pes + 1;
  if (*word != expected) {
    std::fprintf(stderr, "PE %d of instance %d: %d instead of %d\n", pe,
                 static_cast<int>(aclshmemx_instance_ctx_get()->id), *word, expected);
  }
  CHECK_IN_CHILD(*word == expected);
  aclshmem_free(word);
}

TEST(Instances, FaultB8_OneListenerServesManyInstancesMadeAndFreedInAnyOrder) {
  constexpr int kPes = 3;
  ProcessJob job(kPes, [](int pe, const BoundPort& port) {
    for (uint64_t id : {0, 3, 7}) {
      auto attributes = instance_attributes(port, pe, kPes, id);
      CHECK_IN_CHILD(aclshmemx_init_attr(ACLSHMEMX_INIT_WITH_DEFAULT, &attributes) == 0);
      CHECK_IN_CHILD(aclshmemx_instance_ctx_get()->id == id);
      use_instance(pe, kPes);
    }
    CHECK_IN_CHILD(aclshmemx_finalize(0) == 0);
    auto late = instance_attributes(port, pe, kPes, 9);
    CHECK_IN_CHILD(aclshmemx_init_attr(ACLSHMEMX_INIT_WITH_DEFAULT, &late) == 0);
    for (uint64_t id : {7, 3, 9}) {
      CHECK_IN_CHILD(aclshmemx_instance_ctx_set(id) == 0);
      use_instance(pe, kPes);
      CHECK_IN_CHILD(aclshmemx_finalize(id) == 0);
    }
    CHECK_IN_CHILD(aclshmemx_init_status() == 0);
    return 0;
  });
  job.expect_all_ok();
}

TEST(Instances, FaultB8_FromSeveralThreads) {
  constexpr int kPes = 2;
  ProcessJob job(kPes, [](int pe, const BoundPort& port) {
    auto zero = instance_attributes(port, pe, kPes, 0);
    CHECK_IN_CHILD(aclshmemx_init_attr(ACLSHMEMX_INIT_WITH_DEFAULT, &zero) == 0);
    std::vector<std::thread> threads;
    for (uint64_t id : {1, 2, 3}) {
      threads.emplace_back([&, id] {
        auto attributes = instance_attributes(port, pe, kPes, id);
        CHECK_IN_CHILD(aclshmemx_init_attr(ACLSHMEMX_INIT_WITH_DEFAULT, &attributes) == 0);
        CHECK_IN_CHILD(aclshmemx_instance_ctx_set_thread(id) == 0);
        use_instance(pe, kPes);
        CHECK_IN_CHILD(aclshmemx_instance_ctx_get()->id == id);
        CHECK_IN_CHILD(aclshmemx_finalize(id) == 0);
        aclshmemx_instance_ctx_clear_thread();
      });
    }
    for (std::thread& thread : threads) thread.join();
    CHECK_IN_CHILD(aclshmemx_instance_ctx_set(0) == 0);
    use_instance(pe, kPes);
    CHECK_IN_CHILD(aclshmem_finalize() == 0);
    return 0;
  });
  job.expect_all_ok();
}

TEST(Instances, FaultB8_DuplicateAndUnknownIdsHurtNobody) {
  ProcessJob job(2, [](int pe, const BoundPort& port) {
    catch_messages();
    auto attributes = instance_attributes(port, pe, 2, 0);
    CHECK_IN_CHILD(aclshmemx_init_attr(ACLSHMEMX_INIT_WITH_DEFAULT, &attributes) == 0);
    CHECK_IN_CHILD(aclshmemx_finalize(77) == ACLSHMEM_INNER_ERROR);
    CHECK_IN_CHILD(aclshmemx_instance_ctx_set(77) == ACLSHMEM_INNER_ERROR);
    CHECK_IN_CHILD(aclshmemx_instance_ctx_set_thread(77) == ACLSHMEM_INNER_ERROR);
    CHECK_IN_CHILD(aclshmemx_init_attr(ACLSHMEMX_INIT_WITH_DEFAULT, &attributes) ==
                   ACLSHMEM_INNER_ERROR);
    use_instance(pe, 2);
    CHECK_IN_CHILD(aclshmem_finalize() == 0);
    return 0;
  });
  job.expect_all_ok();
}

TEST(Instances, FaultB4_InitAgainIsRefusedWithWhatDiffers) {
  ProcessJob job(2, [](int pe, const BoundPort& port) {
    catch_messages();
    auto attributes = instance_attributes(port, pe, 2, 0);
    CHECK_IN_CHILD(aclshmemx_init_attr(ACLSHMEMX_INIT_WITH_DEFAULT, &attributes) == 0);
    CHECK_IN_CHILD(aclshmemx_init_attr(ACLSHMEMX_INIT_WITH_DEFAULT, &attributes) ==
                   ACLSHMEM_INNER_ERROR);
    CHECK_IN_CHILD(!said("n_pes 2 there"));
    attributes.n_pes = 5;
    CHECK_IN_CHILD(aclshmemx_init_attr(ACLSHMEMX_INIT_WITH_DEFAULT, &attributes) ==
                   ACLSHMEM_INNER_ERROR);
    EXPECT_SAID("n_pes 2 there, 5 now");
    use_instance(pe, 2);
    CHECK_IN_CHILD(aclshmem_finalize() == 0);
    return 0;
  });
  job.expect_all_ok();
}

TEST(Instances, FaultB1_InitAgainWithAnotherNumberOfPes) {
  ProcessJob job(4, [](int pe, const BoundPort& port) {
    auto attributes = instance_attributes(port, pe, 4, 0);
    CHECK_IN_CHILD(aclshmemx_init_attr(ACLSHMEMX_INIT_WITH_DEFAULT, &attributes) == 0);
    CHECK_IN_CHILD(aclshmem_finalize() == 0);
    if (pe >= 2) return 0;
    attributes = instance_attributes(port, pe, 2, 0);
    attributes.option_attr.sockFd = 0;
    CHECK_IN_CHILD(aclshmemx_init_attr(ACLSHMEMX_INIT_WITH_DEFAULT, &attributes) == 0);
    use_instance(pe, 2);
    CHECK_IN_CHILD(aclshmem_finalize() == 0);
    return 0;
  });
  job.expect_all_ok();
}

TEST(Instances, FaultB1_APortRangeGivesEveryInstanceItsPort) {
  ProcessJob job(2, [](int pe, const BoundPort& port) {
    catch_messages();
    auto attributes = instance_attributes(port, pe, 2, 5);
    if (pe == 0) ::close(port.fd);
    std::snprintf(attributes.ip_port, sizeof(attributes.ip_port), "tcp://127.0.0.1:0");
    const auto refused = [&] {
      return aclshmemx_init_attr(ACLSHMEMX_INIT_WITH_DEFAULT, &attributes) ==
             ACLSHMEM_INVALID_VALUE;
    };
    ::unsetenv("SHMEM_INSTANCE_PORT_RANGE");
    CHECK_IN_CHILD(refused());
    for (const char* bad : {"", "20000", "a:b", "20000:70000", "20010:20000", "20000:20004"}) {
      ::setenv("SHMEM_INSTANCE_PORT_RANGE", bad, 1);
      CHECK_IN_CHILD(refused());
      CHECK_IN_CHILD(aclshmemx_init_status() == 0);
    }
    EXPECT_SAID("instance 5 has no port: SHMEM_INSTANCE_PORT_RANGE=20000:20004");
    ::setenv("SHMEM_INSTANCE_PORT_RANGE",
             (std::to_string(port.port - 5) + ":" + std::to_string(port.port)).c_str(), 1);
    CHECK_IN_CHILD(aclshmemx_init_attr(ACLSHMEMX_INIT_WITH_DEFAULT, &attributes) == 0);
    CHECK_IN_CHILD(attributes.ip_port == "tcp://127.0.0.1:" + std::to_string(port.port));
    use_instance(pe, 2);
    CHECK_IN_CHILD(aclshmemx_finalize(5) == 0);
    return 0;
  });
  job.expect_all_ok();
}

TEST(Instances, FaultA6_AHundredInitsLeaveNoDescriptorThreadMemoryOrFile) {
  ProcessJob job(2, [](int pe, const BoundPort& port) {
    int fds = 0;
    int threads = 0;
    int files = 0;
    long memory = 0;
    own_mounts();  // other programs leave their files in the usual folder meanwhile
    CHECK_IN_CHILD(::mount("tmpfs", "/dev/shm", "tmpfs", 0, "size=64m") == 0);
    for (int round = 0; round < 100; ++round) {
      auto attributes = instance_attributes(port, pe, 2, 0);
      if (round > 0) attributes.option_attr.sockFd = 0;
      CHECK_IN_CHILD(aclshmemx_init_attr(ACLSHMEMX_INIT_WITH_DEFAULT, &attributes) == 0);
      use_instance(pe, 2);
      CHECK_IN_CHILD(aclshmem_finalize() == 0);
      if (round != 20) continue;  // caches are filled by now
      fds = entries("/proc/self/fd");
      threads = entries("/proc/self/task");
      files = entries("/dev/shm");
      memory = resident_kib();
    }
    CHECK_IN_CHILD(entries("/proc/self/fd") <= fds);
    CHECK_IN_CHILD(entries("/proc/self/task") <= threads);
    CHECK_IN_CHILD(entries("/dev/shm") <= files);
    const long grown = resident_kib() - memory;
    if (grown > 4096) std::fprintf(stderr, "PE %d grew by %ld KiB in 80 inits\n", pe, grown);
    CHECK_IN_CHILD(grown <= 4096);
    return 0;
  });
  job.expect_all_ok();
}

}  // namespace
}  // namespace symm::test
