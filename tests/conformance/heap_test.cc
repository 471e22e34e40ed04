// Symmetric memory: the same place on every PE, limits, refusals, reuse.
#include <cstring>
#include <vector>

#include "job.h"

namespace conformance {

bool starts_initialized() { return true; }

namespace {

constexpr uint64_t kMiB = 1UL << 20;

bool aligned(const void* memory, size_t alignment) {
  return reinterpret_cast<uintptr_t>(memory) % alignment == 0;
}

// The offset of an address from the start of the own heap, as PE 0 of the job sees it: must be
// equal everywhere.
void expect_symmetric(void* memory) {
  auto* offsets =
      static_cast<uint64_t*>(aclshmem_calloc(static_cast<size_t>(place().n_pes), sizeof(uint64_t)));
  ASSERT_NE(offsets, nullptr);
  auto distance =
      static_cast<uint64_t>(static_cast<char*>(memory) - reinterpret_cast<char*>(offsets));
  for (int pe = 0; pe < place().n_pes; ++pe) {
    aclshmem_putmem(offsets + place().pe, &distance, sizeof(distance), pe);
  }
  aclshmem_barrier_all();
  for (int pe = 0; pe < place().n_pes; ++pe) EXPECT_EQ(offsets[pe], distance) << "PE " << pe;
  aclshmem_barrier_all();
  aclshmem_free(offsets);
}

TEST(Malloc, SameOffsetOnEveryPe) {
  std::vector<void*> blocks;
  for (size_t bytes : {1UL, 15UL, 16UL, 17UL, 4096UL, 100000UL}) {
    void* memory = aclshmem_malloc(bytes);
    ASSERT_NE(memory, nullptr) << bytes;
    EXPECT_TRUE(aligned(memory, 16));
    std::memset(memory, 0xab, bytes);
    expect_symmetric(memory);
    blocks.push_back(memory);
  }
  for (void* memory : blocks) aclshmem_free(memory);
}

TEST(Malloc, ZeroIsNull) { EXPECT_EQ(aclshmem_malloc(0), nullptr); }

TEST(Malloc, WholeHeapAndNotMore) {
  void* all = aclshmem_malloc(kHeapBytes);
  ASSERT_NE(all, nullptr);
  EXPECT_EQ(aclshmem_malloc(kMiB), nullptr);
  aclshmem_free(all);
  EXPECT_EQ(aclshmem_malloc(kHeapBytes + 6 * kMiB + 1), nullptr);
}

TEST(Malloc, FreedNeighboursMerge) {
  constexpr size_t kQuarter = kHeapBytes / 4;
  void* block[4];
  for (auto& one : block) ASSERT_NE(one = aclshmem_malloc(kQuarter), nullptr);
  aclshmem_free(block[1]);
  aclshmem_free(block[3]);
  EXPECT_EQ(aclshmem_malloc(kHeapBytes / 2), nullptr);
  aclshmem_free(block[2]);
  void* merged = aclshmem_malloc(3 * kQuarter);
  EXPECT_NE(merged, nullptr);
  aclshmem_free(merged);
  aclshmem_free(block[0]);
}

TEST(Calloc, IsZero) {
  constexpr size_t kBytes = 64 * 1024;
  void* dirty = aclshmem_malloc(kBytes);
  ASSERT_NE(dirty, nullptr);
  std::memset(dirty, 0xff, kBytes);
  aclshmem_free(dirty);
  auto* clean = static_cast<unsigned char*>(aclshmem_calloc(kBytes / 8, 8));
  ASSERT_NE(clean, nullptr);
  for (size_t i = 0; i < kBytes; ++i) ASSERT_EQ(clean[i], 0) << i;
  aclshmem_free(clean);
}

TEST(Calloc, RefusesZeroAndOverflow) {
  EXPECT_EQ(aclshmem_calloc(0, 8), nullptr);
  EXPECT_EQ(aclshmem_calloc(8, 0), nullptr);
  EXPECT_EQ(aclshmem_calloc(SIZE_MAX / 2, 4), nullptr);
}

TEST(Align, PowersOfTwo) {
  for (size_t alignment : {8UL, 16UL, 64UL, 4096UL, 2UL << 20}) {
    void* memory = aclshmem_align(alignment, 100);
    ASSERT_NE(memory, nullptr) << alignment;
    EXPECT_TRUE(aligned(memory, alignment)) << alignment;
    expect_symmetric(memory);
    aclshmem_free(memory);
  }
}

TEST(Align, RefusesEverythingElse) {
  for (size_t alignment : {0UL, 3UL, 4UL, 12UL, 100UL}) {
    EXPECT_EQ(aclshmem_align(alignment, 64), nullptr) << alignment;
  }
  EXPECT_EQ(aclshmem_align(64, 0), nullptr);
}

TEST(Free, BadPointersDoNoHarm) {
  auto* memory = static_cast<char*>(aclshmem_malloc(256));
  ASSERT_NE(memory, nullptr);
  aclshmem_free(nullptr);
  aclshmem_free(memory + 8);
  aclshmem_free(memory);
  aclshmem_free(memory);
  void* again = aclshmem_malloc(256);
  EXPECT_EQ(again, memory);
  aclshmem_free(again);
}

TEST(Ptr, OwnAndPeers) {
  auto* memory = static_cast<char*>(aclshmem_malloc(64));
  ASSERT_NE(memory, nullptr);
  EXPECT_EQ(aclshmem_ptr(memory, place().pe), memory);
  EXPECT_EQ(aclshmem_ptr(memory + 3, place().pe), memory + 3);
  EXPECT_EQ(aclshmem_ptr(memory, -1), nullptr);
  EXPECT_EQ(aclshmem_ptr(memory, place().n_pes), nullptr);
  int local = 0;
  EXPECT_EQ(aclshmem_ptr(&local, place().pe), nullptr);

  // A store through the pointer is seen by the peer.
  const int next = (place().pe + 1) % place().n_pes;
  auto* theirs = static_cast<char*>(aclshmem_ptr(memory, next));
  ASSERT_NE(theirs, nullptr);
  aclshmem_barrier_all();
  theirs[5] = static_cast<char>(place().pe + 1);
  aclshmem_barrier_all();
  const int previous = (place().pe + place().n_pes - 1) % place().n_pes;
  EXPECT_EQ(memory[5], static_cast<char>(previous + 1));
  aclshmem_free(memory);
}

}  // namespace
}  // namespace conformance
