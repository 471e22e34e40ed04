// putmem and getmem, blocking and not: every size class, odd addresses, every pair of PEs, nothing
// beside the target.
#include <cstring>
#include <vector>

#include "job.h"

namespace conformance {

bool starts_initialized() { return true; }

namespace {

constexpr size_t kSizes[] = {0, 1, 2, 3, 7, 8, 15, 16, 63, 64, 65, 255, 4096, 4097, 65537, 1048576};
constexpr size_t kOffsets[] = {0, 1, 3, 8};
constexpr size_t kGuard = 64;
constexpr size_t kLargest = 1048576;
constexpr unsigned char kUntouched = 0xee;
constexpr size_t kRoom = kLargest + 2 * kGuard;

class Rma : public testing::TestWithParam<bool> {
 protected:
  void SetUp() override {
    target_ = static_cast<unsigned char*>(aclshmem_malloc(kRoom));
    ASSERT_NE(target_, nullptr);
  }
  void TearDown() override { aclshmem_free(target_); }

  void put(void* to, void* from, size_t bytes, int pe) {
    if (GetParam()) {
      aclshmem_putmem_nbi(to, from, bytes, pe);
    } else {
      aclshmem_putmem(to, from, bytes, pe);
    }
  }

  void get(void* to, void* from, size_t bytes, int pe) {
    if (GetParam()) {
      aclshmem_getmem_nbi(to, from, bytes, pe);
    } else {
      aclshmem_getmem(to, from, bytes, pe);
    }
  }

  int next() const { return (place().pe + 1) % place().n_pes; }
  int previous() const { return (place().pe + place().n_pes - 1) % place().n_pes; }

  // Bytes of PE `from` at [start, start + bytes), untouched on both sides.
  void expect_block(const unsigned char* memory, size_t start, size_t bytes, int from) {
    for (size_t i = 0; i < bytes; ++i) ASSERT_EQ(memory[start + i], pattern(from, i)) << i;
    for (size_t i = start - kGuard / 2; i < start; ++i) ASSERT_EQ(memory[i], kUntouched) << i;
    for (size_t i = start + bytes; i < start + bytes + kGuard / 2; ++i) {
      ASSERT_EQ(memory[i], kUntouched) << i;
    }
  }

  unsigned char* target_ = nullptr;
};

TEST_P(Rma, PutToTheNext) {
  std::vector<unsigned char> source(kLargest);
  for (size_t i = 0; i < kLargest; ++i) source[i] = pattern(place().pe, i);
  for (size_t bytes : kSizes) {
    for (size_t offset : kOffsets) {
      std::memset(target_, kUntouched, kRoom);
      aclshmem_barrier_all();
      put(target_ + kGuard + offset, source.data(), bytes, next());
      aclshmem_barrier_all();
      expect_block(target_, kGuard + offset, bytes, previous());
      aclshmem_barrier_all();
    }
  }
}

TEST_P(Rma, GetFromTheNext) {
  std::vector<unsigned char> local(kRoom);
  for (size_t i = 0; i < kLargest; ++i) target_[kGuard + i] = pattern(place().pe, i);
  aclshmem_barrier_all();
  for (size_t bytes : kSizes) {
    for (size_t offset : kOffsets) {
      std::memset(local.data(), kUntouched, kRoom);
      get(local.data() + kGuard + offset, target_ + kGuard, bytes, next());
      aclshmem_barrier_all();
      expect_block(local.data(), kGuard + offset, bytes, next());
    }
  }
}

TEST_P(Rma, EveryPairAtOnce) {
  auto* slots =
      static_cast<uint64_t*>(aclshmem_calloc(static_cast<size_t>(place().n_pes), sizeof(uint64_t)));
  ASSERT_NE(slots, nullptr);
  uint64_t mine = 1000 + static_cast<uint64_t>(place().pe);
  for (int pe = 0; pe < place().n_pes; ++pe) put(slots + place().pe, &mine, sizeof(mine), pe);
  aclshmem_barrier_all();
  for (int pe = 0; pe < place().n_pes; ++pe) EXPECT_EQ(slots[pe], 1000 + static_cast<uint64_t>(pe));
  aclshmem_barrier_all();
  aclshmem_free(slots);
}

INSTANTIATE_TEST_SUITE_P(Blocking, Rma, testing::Values(false));
INSTANTIATE_TEST_SUITE_P(NonBlocking, Rma, testing::Values(true));

}  // namespace
}  // namespace conformance
