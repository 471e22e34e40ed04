// shmem.hpp as a user sees it.
#include <shmem.hpp>

#include <memory>
#include <numeric>
#include <vector>

#include "job.h"

namespace conformance {

bool starts_initialized() { return false; }

namespace {

symm::options options(uint64_t id = 0) {
  symm::options o;
  o.pe = place().pe;
  o.n_pes = place().n_pes;
  o.address = place().address;
  o.heap_bytes = kHeapBytes;
  o.id = id;
  return o;
}

TEST(Cpp, AnInstanceLivesAsLongAsItsObject) {
  EXPECT_EQ(aclshmemx_init_status(), ACLSHMEM_STATUS_NOT_INITIALIZED);
  {
    symm::instance world(options());
    EXPECT_EQ(symm::my_pe(), place().pe);
    EXPECT_EQ(symm::n_pes(), place().n_pes);
    symm::instance moved = std::move(world);
    EXPECT_EQ(aclshmemx_init_status(), ACLSHMEM_STATUS_IS_INITIALIZED);
    moved.close();
    EXPECT_EQ(aclshmemx_init_status(), ACLSHMEM_STATUS_NOT_INITIALIZED);
  }
  EXPECT_EQ(aclshmemx_init_status(), ACLSHMEM_STATUS_NOT_INITIALIZED);
}

TEST(Cpp, AFailedInitSaysWhy) {
  symm::options bad = options();
  bad.pe = place().n_pes;
  try {
    symm::instance world(bad);
    FAIL() << "no exception";
  } catch (const symm::error& e) {
    EXPECT_EQ(e.code(), ACLSHMEM_INVALID_PARAM);
    EXPECT_NE(std::string(e.what()).find("init failed"), std::string::npos) << e.what();
  }
}

TEST(Cpp, SpansTravelBothWays) {
  symm::instance world(options());
  const int me = symm::my_pe();
  const int next = (me + 1) % symm::n_pes();
  const int before = (me + symm::n_pes() - 1) % symm::n_pes();
  symm::array<double> inbox(100);
  for (double value : inbox) EXPECT_EQ(value, 0);
  symm::barrier_all();  // before the others put
  std::vector<double> mine(50);
  std::iota(mine.begin(), mine.end(), me * 1000.0);
  inbox.put(next, mine, 10);
  inbox.put(next, 99, -1.0 - me);
  symm::barrier_all();
  EXPECT_EQ(inbox[9], 0);
  for (size_t i = 0; i < 50; ++i)
    EXPECT_EQ(inbox[10 + i], before * 1000.0 + static_cast<double>(i));
  EXPECT_EQ(inbox[99], -1.0 - before);

  std::vector<double> back(50);
  inbox.get(next, back, 10);
  EXPECT_EQ(back, mine);
  EXPECT_EQ(inbox.get(next, 99), -1.0 - me);
  EXPECT_EQ(inbox.at(next).size(), 100U);
  EXPECT_EQ(inbox.at(next)[99], -1.0 - me);
  symm::barrier_all();
}

struct alignas(128) Line {
  int value;
  char rest[124];
};

TEST(Cpp, OveralignedElementsAndOwnTypes) {
  symm::instance world(options());
  symm::array<Line> lines(3);
  EXPECT_EQ(reinterpret_cast<uintptr_t>(lines.data()) % 128, 0U);
  EXPECT_EQ(lines[2].value, 0);
  symm::barrier_all();
  const int next = (symm::my_pe() + 1) % symm::n_pes();
  Line line{};
  line.value = 7;
  lines.put(next, 2, line);
  symm::barrier_all();
  EXPECT_EQ(lines[2].value, 7);
}

TEST(Cpp, MovedArraysAreFreedOnce) {
  symm::instance world(options());
  const size_t half = kHeapBytes / 2;
  for (int round = 0; round < 3; ++round) {
    symm::array<char> first(half, symm::uninitialized);
    symm::array<char> second = std::move(first);
    EXPECT_TRUE(first.empty());
    EXPECT_EQ(second.size(), half);
    second = symm::array<char>(64);
    // the half is free again: there would be no room for a second one
    symm::array<char> again(half, symm::uninitialized);
    EXPECT_EQ(again.size(), half);
  }
  EXPECT_THROW(symm::array<char>(kHeapBytes * 4), symm::error);
  EXPECT_THROW(symm::array<double>(SIZE_MAX / 4), symm::error);
  EXPECT_TRUE(symm::array<int>(0).empty());
}

TEST(Cpp, FaultL2_AnArrayThatOutlivesItsInstanceDoesNothing) {
  symm::array<int> survivor;
  {
    symm::instance world(options());
    survivor = symm::array<int>(10);
  }
  // The next init of the same id is another instance: its memory must not be touched.
  symm::instance world(options());
  symm::array<int> fresh(10);
  fresh[0] = 5;
  survivor = symm::array<int>();
  char text[256] = "";
  EXPECT_EQ(aclshmemx_last_error(text, sizeof text, false), 0) << text;
  symm::array<int> other(10);
  EXPECT_NE(other.data(), fresh.data());
  EXPECT_EQ(fresh[0], 5);
}

TEST(Cpp, NumbersTellInitsApart) {
  EXPECT_EQ(aclshmemx_instance_number(), 0U);
  uint64_t first = 0;
  {
    symm::instance world(options());
    first = aclshmemx_instance_number();
    EXPECT_NE(first, 0U);
  }
  symm::instance world(options());
  EXPECT_GT(aclshmemx_instance_number(), first);
  void* before = nullptr;
  EXPECT_EQ(aclshmemx_instance_enter(first, &before), ACLSHMEM_NOT_INITED);
}

}  // namespace
}  // namespace conformance
