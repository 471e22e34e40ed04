// The litmus tests between two processes, a million rounds each, and what only processes show:
// progress of a target that never calls the library, and copies past the caches.
#include "tests/multi_pe/litmus.h"
#include "tests/multi_pe/process_job.h"

namespace symm::test {
namespace {

#if defined(__SANITIZE_THREAD__) || defined(__SANITIZE_ADDRESS__)
constexpr int64_t kRounds = 16 * kCells;
#else
constexpr int64_t kRounds = 1000000;
#endif

void run_pair(uint64_t heap_bytes, const std::function<int64_t()>& body) {
  ProcessJob job(2, [&](int pe, const BoundPort& port) {
    auto attributes = process_attributes(port, pe, 2, heap_bytes);
    CHECK_IN_CHILD(aclshmemx_init_attr(ACLSHMEMX_INIT_WITH_DEFAULT, &attributes) == 0);
    const int64_t wrong = body();
    if (wrong != 0)
      std::fprintf(stderr, "PE %d: %lld forbidden outcomes\n", pe, static_cast<long long>(wrong));
    CHECK_IN_CHILD(wrong == 0);
    return aclshmem_finalize();
  });
  job.expect_all_ok();
}

class LitmusProcesses : public testing::TestWithParam<Litmus> {};
INSTANTIATE_TEST_SUITE_P(All, LitmusProcesses, testing::ValuesIn(kLitmus),
                         [](const auto& one) { return std::string(one.param.name); });

TEST_P(LitmusProcesses, NoForbiddenOutcome) {
  run_pair(4 << 20, [] { return GetParam().run(kRounds); });
}

// Puts of 32 MiB and more go past the caches, whose stores no processor orders by itself.
TEST(LitmusLarge, StreamedPutFenceFlag) {
  constexpr size_t kBytes = (size_t{32} << 20) + 24;
  run_pair(size_t{48} << 20, []() -> int64_t {
    auto* block = static_cast<uint64_t*>(aclshmem_calloc(1, kBytes));
    auto* flag = static_cast<uint64_t*>(aclshmem_calloc(1, sizeof(uint64_t)));
    std::vector<uint64_t> source(kBytes / sizeof(uint64_t));
    int64_t wrong = 0;
    for (uint64_t round = 1; round <= 20; ++round) {
      if (aclshmem_my_pe() == 0) {
        std::fill(source.begin(), source.end(), round);
        aclshmem_uint64_put(block, source.data(), source.size(), 1);
        aclshmem_fence();
        aclshmem_uint64_p(flag, round, 1);
      } else {
        aclshmem_uint64_wait_until(flag, ACLSHMEM_CMP_EQ, round);
        // from the end: those were stored last
        for (size_t i = source.size(); i-- > 0;) wrong += block[i] != round ? 1 : 0;
      }
      aclshmem_barrier_all();
    }
    return wrong;
  });
}

// FAULTS G1, B12: a PE that computes and never calls the library does not stop the others.
TEST(Progress, FaultG1_TargetsNeedNotCall) {
  run_pair(4 << 20, []() -> int64_t {
    auto* words = static_cast<uint64_t*>(aclshmem_calloc(3, sizeof(uint64_t)));
    if (aclshmem_my_pe() == 1) {
      // Not even a wait of ours: it burns its processor until the last put arrives.
      while (__atomic_load_n(&words[2], __ATOMIC_ACQUIRE) == 0) {
      }
      return words[0] == 100000 && words[1] == 99999 ? 0 : 1;
    }
    int64_t wrong = 0;
    for (uint64_t i = 0; i < 100000; ++i) {
      if (aclshmem_uint64_atomic_fetch_inc(words, 1) != i) ++wrong;
      aclshmem_uint64_p(words + 1, i, 1);
      if (aclshmem_uint64_g(words, 1) != i + 1) ++wrong;
    }
    aclshmem_fence();
    aclshmem_uint64_p(words + 2, 1, 1);
    return wrong;
  });
}

// FAULTS G2, B2: a put, a store of another thread of the PE, an atomic and a signal all end a wait.
TEST(Progress, FaultG2_EveryKindOfUpdateEndsAWait) {
  run_pair(4 << 20, []() -> int64_t {
    auto* words = static_cast<uint64_t*>(aclshmem_calloc(8, sizeof(uint64_t)));
    int64_t wrong = 0;
    for (uint64_t round = 1; round <= 200; ++round) {
      if (aclshmem_my_pe() == 1) {
        for (int i = 0; i < 5; ++i) aclshmem_uint64_wait_until(words + i, ACLSHMEM_CMP_EQ, round);
        aclshmem_uint64_p(words + 7, round, 0);
      } else {
        aclshmem_uint64_p(words, round, 1);
        aclshmem_uint64_atomic_inc(words + 1, 1);
        aclshmemx_signal64_op(words + 2, 1, ACLSHMEM_SIGNAL_ADD, 1);
        aclshmem_putmem(words + 3, &round, sizeof(round), 1);
        auto* raw = static_cast<uint64_t*>(aclshmem_ptr(words + 4, 1));
        __atomic_store_n(raw, round, __ATOMIC_RELEASE);
        aclshmem_uint64_wait_until(words + 7, ACLSHMEM_CMP_EQ, round);
      }
    }
    return wrong;
  });
}

}  // namespace
}  // namespace symm::test
