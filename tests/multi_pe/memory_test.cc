// The collective memory calls with PEs as threads: what every PE gets, and what a call that is
// wrong on one PE tells all of them.
#include <sys/mman.h>

#include <cstdlib>
#include <cstring>
#include <fstream>

#include "shmem.h"
#include "tests/multi_pe/thread_job.h"

namespace symm::test {
namespace {

constexpr size_t kMiB = 1 << 20;
constexpr uint64_t kGiB = uint64_t{1} << 30;

// The first error of this PE since the last question; empty when there was none.
std::string take_error() {
  char text[1024] = "";
  aclshmemx_last_error(text, sizeof(text), true);
  return text;
}

void expect_error(std::initializer_list<const char*> parts) {
  const std::string text = take_error();
  for (const char* part : parts) {
    EXPECT_NE(text.find(part), std::string::npos) << "no '" << part << "' in: " << text;
  }
}

uint64_t in_use(aclshmem_mem_type_t type = DEVICE_SIDE) {
  aclshmemx_heap_info_t info{};
  EXPECT_EQ(aclshmemx_heap_info(&info, type), 0);
  return info.in_use;
}

// Puts a number of this PE to the right, and checks that of the left one.
void ring(void* symmetric, int round) {
  const int pe = aclshmem_my_pe();
  const int n = aclshmem_n_pes();
  int64_t mine = round * 100 + pe;
  aclshmem_putmem(symmetric, &mine, sizeof(mine), (pe + 1) % n);
  aclshmem_barrier_all();
  int64_t got = 0;
  aclshmem_getmem(&got, symmetric, sizeof(got), pe);
  EXPECT_EQ(got, round * 100 + (pe + n - 1) % n);
  EXPECT_EQ(aclshmem_int64_g(static_cast<int64_t*>(symmetric), (pe + 1) % n), round * 100 + pe);
  aclshmem_barrier_all();
}

class Memory : public testing::TestWithParam<int> {};
INSTANTIATE_TEST_SUITE_P(Counts, Memory, testing::Values(1, 2, 3, 8));

TEST_P(Memory, FaultC3_HeapInfoGoesUpAndBack) {
  run_threads(GetParam(), [](Instance&) {
    const uint64_t before = in_use();
    void* blocks[10];
    for (auto& block : blocks) block = aclshmem_malloc(1000);
    aclshmemx_heap_info_t info{};
    EXPECT_EQ(aclshmemx_heap_info(&info), 0);
    EXPECT_GE(info.in_use, before + 10000);
    EXPECT_EQ(info.blocks, 10u);
    for (void* block : blocks) aclshmem_free(block);
    EXPECT_EQ(in_use(), before);
    EXPECT_EQ(aclshmemx_heap_info(&info), 0);
    EXPECT_GE(info.most_in_use, before + 10000);
    EXPECT_EQ(info.largest_free, info.capacity);
    EXPECT_EQ(aclshmemx_heap_info(nullptr), -1);
    take_error();
  });
}

TEST_P(Memory, ReallocKeepsContentsAndTheOldBlockWhenThereIsNoRoom) {
  run_threads(GetParam(), [](Instance& instance) {
    auto* block = static_cast<int64_t*>(aclshmem_realloc(nullptr, 1024));
    ASSERT_NE(block, nullptr);
    for (int i = 0; i < 128; ++i) block[i] = instance.pe() * 1000 + i;
    void* wall = aclshmem_malloc(64);
    auto* moved = static_cast<int64_t*>(aclshmem_realloc(block, 4096));
    ASSERT_NE(moved, nullptr);
    EXPECT_NE(moved, block);
    for (int i = 0; i < 128; ++i) EXPECT_EQ(moved[i], instance.pe() * 1000 + i);
    EXPECT_EQ(aclshmem_realloc(moved, 64), moved) << "a block shrinks in place";
    EXPECT_EQ(aclshmem_realloc(moved, 2048), moved) << "and grows where there is room";
    EXPECT_EQ(aclshmem_realloc(moved, 64 * kMiB), nullptr);
    expect_error({"aclshmem_realloc", "no room for 67108864 bytes"});
    EXPECT_EQ(moved[5], instance.pe() * 1000 + 5);
    ring(moved, 1);
    EXPECT_EQ(aclshmem_realloc(moved, 0), nullptr);
    aclshmem_free(wall);
    EXPECT_EQ(in_use(), 0u);
  });
}

TEST_P(Memory, HintsGiveCacheLinesAndUnknownOnesAreRefused) {
  run_threads(GetParam(), [](Instance&) {
    void* small = aclshmem_malloc(16);
    void* block = aclshmem_malloc_with_hints(8, ACLSHMEM_MALLOC_SIGNAL_REMOTE);
    EXPECT_EQ(reinterpret_cast<uintptr_t>(block) % 64, 0u);
    ring(block, 2);
    EXPECT_EQ(aclshmem_malloc_with_hints(8, 64), nullptr);
    expect_error({"hints 0x40"});
    aclshmem_free(block);
    aclshmem_free(small);
  });
}

TEST_P(Memory, HostSideHeapTakesAllCalls) {
  run_threads(GetParam(), [](Instance& instance) {
    EXPECT_EQ(aclshmemx_get_heap_base(HOST_SIDE), nullptr);
    auto* block = static_cast<int64_t*>(aclshmemx_malloc(4096, HOST_SIDE));
    ASSERT_NE(block, nullptr);
    EXPECT_EQ(aclshmemx_get_heap_base(HOST_SIDE), block);
    EXPECT_FALSE(instance.heap().contains(block));
    ring(block, 3);
    EXPECT_EQ(aclshmem_ptr(block, instance.pe()), block);
    const int right = (instance.pe() + 1) % instance.n_pes();
    auto* there = static_cast<int64_t*>(aclshmem_ptr(block, right));
    ASSERT_NE(there, nullptr);
    EXPECT_EQ(*there, 300 + instance.pe());
    auto* signal = static_cast<int32_t*>(aclshmemx_calloc(1, sizeof(int32_t), HOST_SIDE));
    aclshmemx_putmem_signal(block + 8, block, 8, signal, 7, ACLSHMEM_SIGNAL_SET, right);
    aclshmem_signal_wait_until(signal, ACLSHMEM_CMP_EQ, 7);
    void* aligned = aclshmemx_align(4096, 100, HOST_SIDE);
    EXPECT_EQ(reinterpret_cast<uintptr_t>(aligned) % 4096, 0u);
    aclshmemx_free(block);  // not said that it is HOST_SIDE
    expect_error({"pass HOST_SIDE"});
    for (void* one : {static_cast<void*>(block), static_cast<void*>(signal), aligned}) {
      aclshmemx_free(one, HOST_SIDE);
    }
    EXPECT_EQ(in_use(HOST_SIDE), 0u);
    EXPECT_EQ(aclshmemx_last_error(nullptr, 0, false), 0);
  });
}

TEST_P(Memory, HeapsOfTheProgram) {
  run_threads(GetParam(), [](Instance&) {
    aclshmemx_heap_attr_t attributes;
    attributes.heap_size = 3 * kMiB;
    attributes.alignment = 4096;
    aclshmemx_heap_t first, second;
    ASSERT_EQ(aclshmemx_create_heap(&attributes, &first), 0);
    attributes.alignment = 0;
    ASSERT_EQ(aclshmemx_create_heap(&attributes, &second), 0);
    void *a = nullptr, *b = nullptr, *other = nullptr;
    EXPECT_EQ(aclshmemx_malloc(first, 100, &a), 0);
    EXPECT_EQ(aclshmemx_malloc(first, 100, &b), 0);
    EXPECT_EQ(static_cast<char*>(b) - static_cast<char*>(a), 4096);
    EXPECT_EQ(aclshmemx_malloc(second, kMiB, &other), 0);
    ring(a, 4);
    ring(static_cast<char*>(other) + kMiB / 2, 5);
    void* none = &none;
    EXPECT_EQ(aclshmemx_malloc(first, 64 * kMiB, &none), -8);
    EXPECT_EQ(none, nullptr);
    aclshmemx_free(a);
    aclshmemx_free(b);
    aclshmemx_free(other);
    EXPECT_EQ(aclshmemx_destroy_heap(first, 0, nullptr), 0);
    EXPECT_EQ(aclshmemx_destroy_heap(first, 0, nullptr), -1);
    EXPECT_EQ(aclshmemx_malloc(first, 8, &none), -1);
    EXPECT_EQ(aclshmemx_destroy_heap(second, 0, nullptr), 0);
    aclshmemx_heap_attr_t empty;
    EXPECT_EQ(aclshmemx_create_heap(&empty, &first), -2);
    take_error();
  });
}

TEST_P(Memory, FaultC13_RegisteredBuffersAndWrongOnes) {
  run_threads(GetParam(), [](Instance& instance) {
    constexpr size_t kBytes = 64 * 1024;
    auto* buffer = static_cast<char*>(std::aligned_alloc(4096, kBytes));
    std::memset(buffer, instance.pe() + 1, kBytes);
    const int right = (instance.pe() + 1) % instance.n_pes();
    EXPECT_EQ(aclshmemx_buffer_register(buffer, kBytes), 0);
    char got = 0;
    aclshmem_getmem(&got, buffer + kBytes - 1, 1, right);
    EXPECT_EQ(got, right + 1) << "the contents are kept and shared";
    aclshmem_barrier_all();
    ring(buffer, 6);
    ring(buffer + 4096 + 8, 7);  // interior
    EXPECT_EQ(aclshmemx_buffer_register(buffer, kBytes), -1);
    expect_error({"symmetric already"});
    EXPECT_EQ(aclshmemx_buffer_unregister(buffer + 4096), -1);
    expect_error({"lies 4096 bytes inside the registered buffer"});
    EXPECT_EQ(aclshmemx_buffer_register(buffer + 8, 4096), -1);
    expect_error({"not whole pages"});
    EXPECT_EQ(aclshmemx_buffer_unregister(buffer), 0);
    EXPECT_EQ(buffer[kBytes - 1], instance.pe() + 1);
    EXPECT_EQ(aclshmemx_buffer_unregister(buffer), -1);
    expect_error({"unregistered before"});
    EXPECT_EQ(aclshmem_ptr(buffer, instance.pe()), nullptr);
    aclshmem_barrier_all();
    std::free(buffer);

    auto* block = static_cast<char*>(aclshmem_malloc(64));
    int local = 0;
    aclshmem_free(block + 8);
    expect_error({"lies 8 bytes inside the block of 64 bytes"});
    aclshmem_free(&local);
    expect_error({"is not in the symmetric heap"});
    aclshmem_free(block);
    aclshmem_free(block);
    expect_error({"freed before"});
    EXPECT_EQ(in_use(), 0u);
    void* whole = aclshmem_malloc(4 * kMiB);
    EXPECT_NE(whole, nullptr) << "the heap is one range again";
    aclshmem_free(whole);
  });
}

TEST(MemoryAgreement, FaultC4_DifferentSizesNameBothCallsAndPlaces) {
  run_threads(3, [](Instance& instance) {
    EXPECT_EQ(aclshmem_malloc(instance.pe() == 2 ? 128 : 64), nullptr);
    expect_error(
        {"aclshmem_malloc(64) at ", "aclshmem_malloc(128) at ", "PE 2", "multi_pe_memory_test+0x"});
    void* block = aclshmem_malloc(64);
    ASSERT_NE(block, nullptr) << "the heaps are alike again";
    ring(block, 8);
    if (instance.pe() == 0) {
      EXPECT_EQ(aclshmem_malloc(32), nullptr);
    } else {
      aclshmem_free(block);
    }
    expect_error({"PE 0 calls aclshmem_malloc(32)", "PE 1 calls aclshmem_free of the block at"});
    aclshmem_free(block);
    EXPECT_EQ(in_use(), 0u);
  });
}

TEST(MemoryAgreement, FaultI6_AWrongArgumentOfOnePeReachesAll) {
  run_threads(3, [](Instance& instance) {
    const bool odd = instance.pe() == 1;
    EXPECT_EQ(aclshmem_align(odd ? 3 : 64, 100), nullptr);
    expect_error({"aclshmem_align(3, 100) (refused: wrong arguments)"});
    EXPECT_EQ(aclshmem_calloc(odd ? SIZE_MAX / 2 : 4, 8), nullptr);
    expect_error({"refused"});
    void* buffer = std::aligned_alloc(4096, 8192);
    EXPECT_EQ(aclshmemx_buffer_register(static_cast<char*>(buffer) + (odd ? 1 : 0), 4096), -1);
    expect_error({"refused"});
    std::free(buffer);
    void* block = aclshmem_malloc(64);
    ASSERT_NE(block, nullptr);
    ring(block, 9);
    aclshmem_free(block);
  });
}

TEST(MemoryAgreement, FaultC6_AlignmentsOnAllPes) {
  run_threads(2, [](Instance&) {
    for (size_t wrong : {0, 3, 4, 24}) {
      EXPECT_EQ(aclshmem_align(wrong, 64), nullptr);
      expect_error({"is not a power of two of at least 8"});
    }
    EXPECT_EQ(aclshmem_align(1000, 4096), nullptr);
    expect_error({"the order of arguments is alignment, size"});
    for (size_t good : {size_t{8}, size_t{64}, size_t{4096}, 2 * kMiB}) {
      void* block = aclshmem_align(good, 64);
      EXPECT_EQ(reinterpret_cast<uintptr_t>(block) % good, 0u);
      aclshmem_free(block);
    }
  });
}

class SparseMemory : public testing::Test {
 protected:
  // The machine that runs the test may have less.
  SparseMemory() { ::setenv("SHMEM_OVERCOMMIT", "allow", 1); }
  ~SparseMemory() override { ::unsetenv("SHMEM_OVERCOMMIT"); }

  static long resident_kib() {
    std::ifstream status("/proc/self/status");
    std::string word;
    long kib = -1;
    while (status >> word) {
      if (word == "RssShmem:") status >> kib;
    }
    return kib;
  }
};

TEST_F(SparseMemory, FaultC9_BlocksOverTwoGiB) {
  run_threads(
      2,
      [](Instance& instance) {
        auto* block = static_cast<char*>(aclshmem_malloc(3 * kGiB));
        ASSERT_NE(block, nullptr);
        char byte = static_cast<char>(instance.pe() + 1);
        aclshmem_putmem(block + 3 * kGiB - 1, &byte, 1, 1 - instance.pe());
        aclshmem_barrier_all();
        EXPECT_EQ(block[3 * kGiB - 1], 2 - instance.pe());
        aclshmem_free(block);
      },
      true, [](InstanceOptions& options) { options.heap_bytes = 4 * kGiB; });
}

TEST_F(SparseMemory, HeapsOf64GiBCostNothingUntilTouched) {
  run_threads(4, [](Instance&) {
    aclshmemx_heap_attr_t attributes;
    attributes.heap_size = 64 * kGiB;
    aclshmemx_heap_t heap;
    ASSERT_EQ(aclshmemx_create_heap(&attributes, &heap), 0);
    void* far = nullptr;
    EXPECT_EQ(aclshmemx_malloc(heap, 63 * kGiB, &far), 0);
    ring(static_cast<char*>(far) + 62 * kGiB, 5);
    EXPECT_LT(resident_kib(), 64 * 1024) << "256 GiB of heaps";
    aclshmemx_free(far);
    EXPECT_EQ(aclshmemx_destroy_heap(heap, 0, nullptr), 0);
  });
}

TEST(MemoryLimits, FaultC10_AHeapBeyondTheMachineIsRefusedWithNumbers) {
  const auto outcomes = run_threads(
      2, [](Instance&) { ADD_FAILURE() << "opened"; }, false,
      [](InstanceOptions& options) { options.heap_bytes = kGiB << 13; });
  for (const Outcome& outcome : outcomes) {
    EXPECT_EQ(outcome.open.code(), Code::kNoMemory);
    for (const char* part : {"8796099", "RAM ", "cgroup ", "address space", "SHMEM_OVERCOMMIT"}) {
      EXPECT_NE(outcome.open.text().find(part), std::string::npos) << outcome.open.text();
    }
  }
}

TEST(MemoryLeaks, FaultC15_FinalizeNamesWhatIsLeftAndWhere) {
  ::setenv("SHMEM_LEAK_REPORT", "error", 1);
  const auto outcomes = run_threads(
      2,
      [](Instance&) {
        for (int i = 0; i < 3; ++i) EXPECT_NE(aclshmem_malloc(100), nullptr);
        EXPECT_NE(aclshmemx_malloc(64, HOST_SIDE), nullptr);
      },
      false);
  ::unsetenv("SHMEM_LEAK_REPORT");
  for (const Outcome& outcome : outcomes) {
    ASSERT_TRUE(outcome.open.ok()) << outcome.open.to_string();
    for (const char* part : {"heap: 3 blocks, 336 bytes", "multi_pe_memory_test+0x",
                             "HOST_SIDE heap: 1 blocks, 64 bytes"}) {
      EXPECT_NE(outcome.close.text().find(part), std::string::npos) << outcome.close.text();
    }
  }
}

}  // namespace
}  // namespace symm::test
