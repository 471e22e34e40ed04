// SHMEM_CHECK: each class of the strict checks with its message (call, PE, value, what to do), and
// what the other levels let pass. PEs as threads of one process.
#include <sys/mman.h>

#include <cstring>

#include "shmem.h"
#include "tests/multi_pe/thread_job.h"

namespace symm::test {
namespace {

void run_checked(int level, int n_pes, const Body& body) {
  run_threads(n_pes, body, true, [level](InstanceOptions& options) { options.check = level; });
}

void expect_error(std::initializer_list<const char*> parts) {
  char text[512] = "";
  EXPECT_EQ(aclshmemx_last_error(text, sizeof(text), true), ACLSHMEM_INVALID_PARAM);
  for (const char* part : parts) EXPECT_NE(std::string(text).find(part), std::string::npos) << text;
}

void expect_no_error() {
  char text[512] = "";
  EXPECT_EQ(aclshmemx_last_error(text, sizeof(text), true), 0) << text;
}

int right() { return (aclshmem_my_pe() + 1) % aclshmem_n_pes(); }

// Each level moves data when nothing is wrong.
class CheckLevel : public testing::TestWithParam<int> {};
INSTANTIATE_TEST_SUITE_P(Levels, CheckLevel, testing::Values(0, 1, 2));

TEST_P(CheckLevel, RightCallsWork) {
  run_checked(GetParam(), 2, [](Instance&) {
    auto* words = static_cast<int64_t*>(aclshmem_calloc(64, sizeof(int64_t)));
    int64_t source[8] = {1, 2, 3, 4, 5, 6, 7, 8};
    int64_t back[8] = {};
    aclshmem_int64_put(words, source, 8, right());
    aclshmem_int64_p(words + 8, 9, right());
    aclshmem_int64_iput(words + 16, source, 2, 1, 4, right());
    aclshmem_int64_put_nbi(words + 32, source, 8, right());
    aclshmem_int64_atomic_add(words + 48, 3, right());
    aclshmem_quiet();
    aclshmem_barrier_all();
    aclshmem_int64_get(back, words, 8, right());
    EXPECT_EQ(std::memcmp(back, source, sizeof(back)), 0);
    EXPECT_EQ(words[8], 9);
    EXPECT_EQ(words[22], 4);
    EXPECT_EQ(words[39], 8);
    EXPECT_EQ(aclshmem_int64_g(words + 48, right()), 3);
    aclshmem_int64_get_nbi(back, words + 32, 8, right());
    aclshmem_quiet();
    EXPECT_EQ(back[7], 8);
    expect_no_error();
    aclshmem_barrier_all();
  });
}

// Levels 1 and 2: PE, range, symmetry.
TEST(CheckRange, FromLevelOne) {
  for (int level : {1, 2}) {
    run_checked(level, 2, [](Instance& instance) {
      auto* words = static_cast<int64_t*>(aclshmem_calloc(2, sizeof(int64_t)));
      const std::string here = fmt::format("on PE {}", instance.pe());
      int64_t local = 5;
      aclshmem_int64_p(words, 1, 7);
      expect_error({"aclshmem_int64_p", here.c_str(), "PE 7 is not one of 0..1"});
      aclshmem_putmem(&local, words, 8, right());
      expect_error({"aclshmem_putmem", "outside the symmetric heap", "aclshmem_malloc"});
      aclshmem_putmem(aclshmem_ptr(words, right()), &local, 8, right());
      expect_error({"as aclshmem_ptr shows it", "this PE's own object"});
      aclshmem_putmem(words, &local, size_t{1} << 40, right());
      expect_error({"over the end of the symmetric heap", "smaller count"});
      EXPECT_EQ(local, 5);
      aclshmem_barrier_all();
    });
  }
}

// Level 0 still names a wrong PE: the check is part of finding the peer.
TEST(CheckRange, LevelZeroChecksThePeAlone) {
  run_checked(0, 2, [](Instance& instance) {
    auto* words = static_cast<int64_t*>(aclshmem_calloc(2, sizeof(int64_t)));
    aclshmem_int64_p(words, 1, 7);
    expect_error({"aclshmem_int64_p", "PE 7"});
    // An address of this process that is not symmetric passes for the own PE: it is where it is.
    int64_t local = 5;
    int64_t copy = 0;
    aclshmem_getmem(&copy, &local, 8, instance.pe());
    EXPECT_EQ(copy, 5);
    expect_no_error();
    aclshmem_barrier_all();
  });
}

TEST(CheckAlignment, AtLevelTwo) {
  alignas(8) char raw[64] = {};
  for (int level : {1, 2}) {
    run_checked(level, 1, [&](Instance&) {
      auto* block = static_cast<char*>(aclshmem_calloc(1, 64));
      auto* odd = reinterpret_cast<int32_t*>(block + 2);
      auto* even = reinterpret_cast<int32_t*>(block + 8);
      auto* odd_here = reinterpret_cast<int32_t*>(raw + 1);
      auto check = [&](const char* call) {
        if (level == 1) return expect_no_error();
        expect_error({call, "on PE 0", "not aligned to 4 bytes", "mem forms"});
      };
      aclshmem_int32_put(odd, reinterpret_cast<int32_t*>(raw), 2, 0);
      check("aclshmem_int32_put");
      aclshmem_put32(even, odd_here, 1, 0);
      check("aclshmem_put32");
      aclshmem_int32_get(odd_here, even, 2, 0);
      check("aclshmem_int32_get");
      aclshmem_int32_iput(odd, reinterpret_cast<int32_t*>(raw), 1, 1, 2, 0);
      check("aclshmem_int32_iput");
      aclshmem_int32_iget(odd_here, even, 1, 1, 2, 0);
      check("aclshmem_int32_iget");
      aclshmem_putmem(block + 1, raw + 3, 5, 0);
      aclshmem_barrier_all();
      expect_no_error();
    });
  }
}

TEST(CheckOverlap, AtLevelTwo) {
  run_checked(2, 1, [](Instance&) {
    auto* block = static_cast<char*>(aclshmem_calloc(1, 64));
    aclshmem_putmem(block + 4, block, 8, 0);
    expect_error({"aclshmem_putmem on PE 0", "overlap", "8 bytes", "another buffer"});
    aclshmem_getmem(block, block + 7, 8, 0);
    expect_error({"aclshmem_getmem on PE 0", "overlap"});
    aclshmem_putmem(block + 8, block, 8, 0);
    expect_no_error();
    auto* signal = reinterpret_cast<uint64_t*>(block + 8);
    const char data[16] = {};
    aclshmemx_putmem_signal64(block, data, 16, signal, 1, ACLSHMEM_SIGNAL_SET, 0);
    expect_error({"aclshmemx_putmem_signal64 on PE 0", "the signal", "a place of its own"});
    auto* values = static_cast<int32_t*>(aclshmem_calloc(16, sizeof(int32_t)));
    size_t found = 0;
    aclshmem_int32_test_some(values, 4, reinterpret_cast<size_t*>(values + 2), nullptr,
                             ACLSHMEM_CMP_EQ, 0, &found);
    expect_error({"aclshmem_int32_test_some on PE 0", "indices", "overlap", "arrays of their own"});
  });
}

TEST(CheckBuffers, ASourceThatChangesBeforeQuiet) {
  run_checked(2, 2, [](Instance& instance) {
    auto* block = static_cast<char*>(aclshmem_calloc(2, 64));
    char source[64] = "first";
    const std::string here = fmt::format("on PE {}", instance.pe());
    aclshmem_putmem_nbi(block, source, sizeof(source), right());
    source[3] = 'X';
    aclshmem_quiet();
    expect_error({"aclshmem_quiet", here.c_str(), "aclshmem_putmem_nbi", "64 bytes", "were changed",
                  "keep a source until aclshmem_quiet"});
    // Quiet has ended it.
    source[3] = 'Y';
    aclshmem_quiet();
    expect_no_error();
    // Unchanged, or completed here first: fine.
    aclshmem_putmem_nbi(block, source, sizeof(source), right());
    aclshmemx_local_quiet();
    source[0] = 'Z';
    aclshmem_quiet();
    expect_no_error();
    // Barriers complete too, and look.
    aclshmem_putmem_nbi(block, source, sizeof(source), right());
    source[1] = 'W';
    aclshmem_barrier_all();
    expect_error({"aclshmem_barrier_all", "were changed"});
    aclshmem_barrier_all();
  });
}

TEST(CheckBuffers, ASourceThatIsGone) {
  run_checked(2, 1, [](Instance&) {
    auto* block = static_cast<char*>(aclshmem_calloc(1, 64));
    void* page = ::mmap(nullptr, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    ASSERT_NE(page, MAP_FAILED);
    aclshmem_putmem_nbi(block, page, 64, 0);
    ::munmap(page, 4096);
    aclshmem_quiet();
    expect_error({"aclshmem_quiet on PE 0", "aclshmem_putmem_nbi", "were given back"});
  });
}

TEST(CheckBuffers, BuffersInUse) {
  run_checked(2, 2, [](Instance&) {
    auto* block = static_cast<char*>(aclshmem_calloc(2, 64));
    char buffer[64] = {};
    char other[64] = {};
    int64_t fetched[2] = {};
    auto* word = reinterpret_cast<int64_t*>(block + 64);
    aclshmem_getmem_nbi(buffer, block, 64, right());
    aclshmem_putmem(block + 64, buffer + 60, 4, right());
    expect_error({"aclshmem_putmem", "reads 4 bytes", "aclshmem_getmem_nbi", "still writes",
                  "call aclshmem_quiet in between"});
    aclshmem_getmem(buffer, block, 8, right());
    expect_error({"aclshmem_getmem", "writes 8 bytes", "still writes"});
    aclshmem_quiet();
    aclshmem_getmem(buffer, block, 8, right());
    expect_no_error();
    aclshmem_putmem_nbi(block, buffer, 64, right());
    aclshmem_getmem(buffer, block, 8, right());
    expect_error({"aclshmem_getmem", "writes 8 bytes", "aclshmem_putmem_nbi", "still reads"});
    // Two that read the same do not disturb each other.
    aclshmem_putmem_nbi(block, buffer, 64, right());
    aclshmem_quiet();
    expect_no_error();
    aclshmem_int64_atomic_fetch_nbi(fetched, word, right());
    aclshmem_int64_atomic_fetch_nbi(fetched, word, right());
    expect_error({"aclshmem_int64_atomic_fetch_nbi", "still writes"});
    const int pes[] = {right()};
    aclshmem_pe_quiet(pes, 1);
    aclshmem_int64_atomic_fetch_nbi(fetched, word, right());
    aclshmem_quiet();
    expect_no_error();
    // A request ends its own transfer alone.
    auto request = aclshmemx_getmem_nbi_request(buffer, block, 64, right());
    aclshmem_getmem_nbi(other, block, 64, right());
    EXPECT_EQ(aclshmemx_request_wait(request), 0);
    aclshmem_getmem(buffer, block, 8, right());
    expect_no_error();
    aclshmem_getmem(other, block, 8, right());
    expect_error({"aclshmem_getmem", "still writes"});
    aclshmem_barrier_all();
  });
}

TEST(CheckFree, TwiceIsNamedAtEveryLevel) {
  for (int level : {0, 1, 2}) {
    run_checked(level, 2, [](Instance& instance) {
      const std::string here = fmt::format("PE {}", instance.pe());
      void* block = aclshmem_malloc(64);
      aclshmem_free(block);
      aclshmem_free(block);
      expect_error({"aclshmem_free"});
      void* again = aclshmem_malloc(64);
      EXPECT_NE(again, nullptr);
      aclshmem_free(static_cast<char*>(again) + 16);
      expect_error({"aclshmem_free"});
      aclshmem_free(again);
      expect_no_error();
    });
  }
}

}  // namespace
}  // namespace symm::test
