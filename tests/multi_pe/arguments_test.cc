// Wrong arguments of host calls, with PEs as threads: each is a named error, recorded once in the
// instance, and nothing crashes or hangs.
#include <cstring>
#include <mutex>

#include "os/wait.h"
#include "shmem.h"
#include "tests/multi_pe/thread_job.h"

namespace symm::test {
namespace {

// The first error since the last look must be that of a wrong argument and hold all parts.
void expect_error(std::initializer_list<const char*> parts) {
  char text[512] = "";
  EXPECT_EQ(aclshmemx_last_error(text, sizeof(text), true), ACLSHMEM_INVALID_PARAM);
  for (const char* part : parts) EXPECT_NE(std::string(text).find(part), std::string::npos) << text;
}

void expect_no_error() {
  char text[512] = "";
  EXPECT_EQ(aclshmemx_last_error(text, sizeof(text), true), 0) << text;
}

TEST(Arguments, NullTransfersAreNamed) {
  run_threads(2, [](Instance& instance) {
    auto* block = static_cast<int64_t*>(aclshmem_calloc(8, sizeof(int64_t)));
    const std::string here = fmt::format("on PE {}", instance.pe());
    for (int pe : {0, 1}) {
      aclshmem_putmem(block, nullptr, 8, pe);
      expect_error({"aclshmem_putmem", here.c_str(), "the source is null"});
      aclshmem_putmem(nullptr, block, 8, pe);
      expect_error({"aclshmem_putmem", "the destination is null", "aclshmem_malloc"});
      aclshmem_getmem(nullptr, block, 8, pe);
      expect_error({"aclshmem_getmem", "the destination is null"});
      aclshmem_getmem(block, nullptr, 8, pe);
      expect_error({"aclshmem_getmem", "the source is null"});
      aclshmem_int64_iput(block, nullptr, 1, 1, 2, pe);
      expect_error({"aclshmem_int64_iput", "the source is null"});
      aclshmem_int64_iget(nullptr, block, 1, 1, 2, pe);
      expect_error({"aclshmem_int64_iget", "the destination is null"});
      aclshmem_int64_p(nullptr, 1, pe);
      expect_error({"aclshmem_int64_p", "the destination is null"});
      EXPECT_EQ(aclshmem_int64_g(nullptr, pe), 0);
      expect_error({"aclshmem_int64_g", "the source is null"});
      aclshmemx_putmem_signal(block, block, 8, nullptr, 1, ACLSHMEM_SIGNAL_SET, pe);
      expect_error({"aclshmemx_putmem_signal", "the signal address is null"});
      aclshmemx_putmem_on_stream(block, nullptr, 8, pe, nullptr);
      expect_error({"aclshmemx_putmem_on_stream", "the source is null"});
      aclshmemx_getmem_on_stream(nullptr, block, 8, pe, nullptr);
      expect_error({"aclshmemx_getmem_on_stream", "the destination is null"});
      aclshmemx_signal_op_on_stream(nullptr, 1, ACLSHMEM_SIGNAL_SET, pe, nullptr);
      expect_error({"aclshmemx_signal_op_on_stream", "the signal address is null"});
      // Nothing needs no place.
      aclshmem_putmem(nullptr, nullptr, 0, pe);
      aclshmem_getmem(nullptr, nullptr, 0, pe);
      aclshmem_int64_iput(nullptr, nullptr, 1, 1, 0, pe);
      expect_no_error();
    }
    aclshmemx_signal_wait_until_on_stream(nullptr, ACLSHMEM_CMP_EQ, 1, nullptr);
    expect_error({"aclshmemx_signal_wait_until_on_stream", "the signal address is null"});
    aclshmem_barrier_all();
  });
}

TEST(Arguments, CountsAreShownAsPassed) {
  run_threads(1, [](Instance&) {
    auto* block = static_cast<int64_t*>(aclshmem_calloc(8, sizeof(int64_t)));
    int64_t own[2] = {};
    const std::string shown = fmt::format("{} elements of 8 bytes", SIZE_MAX / 4);
    aclshmem_int64_put(block, own, SIZE_MAX / 4, 0);
    expect_error({shown.c_str(), "over the end of the symmetric heap", "smaller count"});
    aclshmem_int64_put(own, block, SIZE_MAX / 4, 0);
    expect_error({shown.c_str(), "more than memory can hold"});
    aclshmem_int64_iput(block, own, 1, PTRDIFF_MAX, 2, 0);
    expect_error({"2 elements of 8 bytes at stride", "more than memory can hold"});
  });
}

TEST(Arguments, WaitsAndTestsCheckWhatTheyRead) {
  run_threads(1, [](Instance&) {
    auto* values = static_cast<int32_t*>(aclshmem_calloc(4, sizeof(int32_t)));
    int32_t wanted[4] = {};
    size_t indices[4] = {};
    size_t found = 0;
    int answer = 0;
    constexpr int kEq = ACLSHMEM_CMP_EQ;
    auto* odd = reinterpret_cast<int32_t*>(reinterpret_cast<char*>(values) + 1);
    aclshmem_signal_wait_until(nullptr, kEq, 0);
    expect_error({"aclshmem_signal_wait_until on PE 0", "the signal address is null"});
    aclshmem_signal_wait_until(odd, kEq, 0);
    expect_error({"aclshmem_signal_wait_until on PE 0", "not aligned to 4 bytes"});
    aclshmem_int32_wait_until(nullptr, kEq, 0);
    expect_error({"aclshmem_int32_wait_until on PE 0", "ivar is null"});
    aclshmem_int32_test(nullptr, kEq, 0, &answer);
    expect_error({"aclshmem_int32_test on PE 0", "ivars is null"});
    aclshmem_int32_test(values, kEq, 0, nullptr);
    expect_error({"res_out is null"});
    for (size_t count : {SIZE_MAX, SIZE_MAX / 4 + 1}) {
      aclshmem_int32_wait_until_all(values, count, nullptr, kEq, 0);
      expect_error({"aclshmem_int32_wait_until_all on PE 0", "more than memory can hold"});
      aclshmem_int32_test_any(values, count, nullptr, kEq, 0, &found);
      expect_error({"aclshmem_int32_test_any on PE 0", "more than memory can hold"});
      EXPECT_EQ(found, SIZE_MAX);
    }
    aclshmem_int32_wait_until_all(nullptr, 4, nullptr, kEq, 0);
    expect_error({"ivars is null for 4 values"});
    aclshmem_int32_wait_until_any(nullptr, 4, nullptr, kEq, 0, &found);
    expect_error({"ivars is null"});
    aclshmem_int32_wait_until_any(values, 4, nullptr, kEq, 0, nullptr);
    expect_error({"aclshmem_int32_wait_until_any on PE 0", "res_out is null"});
    aclshmem_int32_wait_until_some(values, 4, nullptr, nullptr, kEq, 0, &found);
    expect_error({"aclshmem_int32_wait_until_some on PE 0", "indices is null"});
    EXPECT_EQ(found, 0u);
    aclshmem_int32_wait_until_all_vector(values, 4, nullptr, kEq, nullptr);
    expect_error({"aclshmem_int32_wait_until_all_vector on PE 0", "cmp_values is null"});
    aclshmem_int32_wait_until_any_vector(values, 4, nullptr, kEq, nullptr, &found);
    expect_error({"cmp_values is null"});
    aclshmem_int32_wait_until_some_vector(nullptr, 4, indices, nullptr, kEq, wanted, &found);
    expect_error({"ivars is null"});
    aclshmem_int32_test_some(values, 4, nullptr, nullptr, kEq, 0, &found);
    expect_error({"indices is null"});
    aclshmem_int32_test_all_vector(values, 4, nullptr, kEq, nullptr, &answer);
    expect_error({"cmp_values is null"});
    aclshmem_int32_test_any_vector(values, 4, nullptr, kEq, wanted, nullptr);
    expect_error({"res_out is null"});
    aclshmem_int32_test_some_vector(values, 4, indices, nullptr, kEq, nullptr, &found);
    expect_error({"cmp_values is null"});
    aclshmem_int32_wait_until_all(nullptr, 0, nullptr, kEq, 0);
    aclshmem_int32_wait_until_some_vector(nullptr, 0, nullptr, nullptr, kEq, nullptr, &found);
    aclshmem_int32_test_any(nullptr, 0, nullptr, kEq, 0, &found);
    EXPECT_EQ(found, SIZE_MAX);
    expect_no_error();
  });
}

TEST(Arguments, AnUnknownSignalOperationIsAnError) {
  run_threads(1, [](Instance&) {
    auto* block = static_cast<char*>(aclshmem_calloc(1, 64));
    auto* signal = static_cast<int32_t*>(aclshmem_calloc(1, sizeof(int32_t)));
    char source[] = "data";
    aclshmemx_putmem_signal(block, source, 5, signal, 1, 7, 0);
    expect_error({"aclshmemx_putmem_signal on PE 0", "no signal operation 7"});
    EXPECT_STREQ(block, "data");
    aclshmemx_signal_op_on_stream(signal, 1, -3, 0, nullptr);
    expect_error({"aclshmemx_signal_op_on_stream on PE 0", "no signal operation -3"});
    EXPECT_EQ(*signal, 0);
  });
}

TEST(Arguments, FreeOfAForeignPointerSaysSo) {
  run_threads(2, [](Instance& instance) {
    void* block = aclshmem_malloc(64);
    char local[64];
    aclshmem_free(local);
    expect_error({"aclshmem_free", "is not in the symmetric heap", "aclshmem_malloc"});
    aclshmem_free(instance.pe() == 0 ? local : block);
    if (instance.pe() == 0) {
      expect_error({"is not in the symmetric heap", "PE 1 calls aclshmem_free of the block"});
    } else {
      expect_error({"PE 0 calls aclshmem_free of an address outside the symmetric heap"});
    }
    aclshmem_free(block);
    expect_no_error();
  });
}

// PE 1 does not come to finalize: PE 0 names it after the limit for all waits, far before the one
// for control operations.
TEST(Arguments, FinalizeEndsAtTheLimitOfWaits) {
  std::mutex closing;
  std::unique_lock held(closing);
  const std::string address = fresh_address();
  Status closed;
  std::thread first([&] {
    auto opened = Instance::open(thread_options(address, 0, 2));
    ASSERT_TRUE(opened.ok());
    opened.value()->wait_domain()->timeout_ms = 50;
    closed = opened.value()->close();
  });
  std::thread second([&] {
    auto opened = Instance::open(thread_options(address, 1, 2));
    ASSERT_TRUE(opened.ok());
    const std::lock_guard wait(closing);
    (void)opened.value()->close();
  });
  first.join();
  held.unlock();
  second.join();
  EXPECT_EQ(closed.code(), Code::kTimeout) << closed.to_string();
  EXPECT_NE(closed.text().find("missing: PE 1"), std::string::npos) << closed.text();
  EXPECT_NE(closed.text().find("SHMEM_WAIT_TIMEOUT"), std::string::npos) << closed.text();
}

TEST(Arguments, ScratchBeyondTheBufferIsTaken) {
  run_threads(1, [](Instance&) {
    EXPECT_EQ(aclshmemx_set_mte_config(UINT64_MAX, UINT32_MAX, 99), 0);
    expect_no_error();
  });
}

}  // namespace
}  // namespace symm::test
