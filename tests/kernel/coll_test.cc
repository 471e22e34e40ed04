// Collectives inside kernels: every function, type and operation, over private memory, with few and
// many PEs, blocks and chunks, against values computed on the host.
#define __CCE_AICORE__ 220
#include <gmock/gmock.h>

#include <cmath>
#include <random>

#include "device/gm2gm.h"
#include "device/shmem_device.h"
#include "device/team.h"
#include "tests/kernel/world.h"

namespace symm::test {
namespace {

using testing::HasSubstr;

template <typename T>
constexpr aclshmemx_data_type_t kType = ACLSHMEMX_FLOAT32;
template <>
constexpr aclshmemx_data_type_t kType<int8_t> = ACLSHMEMX_INT8;
template <>
constexpr aclshmemx_data_type_t kType<int16_t> = ACLSHMEMX_INT16;
template <>
constexpr aclshmemx_data_type_t kType<int32_t> = ACLSHMEMX_INT32;
template <>
constexpr aclshmemx_data_type_t kType<int64_t> = ACLSHMEMX_INT64;
template <>
constexpr aclshmemx_data_type_t kType<uint8_t> = ACLSHMEMX_UINT8;
template <>
constexpr aclshmemx_data_type_t kType<uint16_t> = ACLSHMEMX_UINT16;
template <>
constexpr aclshmemx_data_type_t kType<uint32_t> = ACLSHMEMX_UINT32;
template <>
constexpr aclshmemx_data_type_t kType<uint64_t> = ACLSHMEMX_UINT64;
template <>
constexpr aclshmemx_data_type_t kType<half> = ACLSHMEMX_FLOAT16;
template <>
constexpr aclshmemx_data_type_t kType<bfloat16_t> = ACLSHMEMX_BFLOAT16;
template <>
constexpr aclshmemx_data_type_t kType<double> = ACLSHMEMX_FLOAT64;

// Sums one member after the other; two-byte types in float with one rounding at the end.
template <typename T>
T expected(const std::vector<std::vector<T>>& in, size_t i, aclshmemx_reduce_op_t op) {
  using A = std::conditional_t<symm::is_small_float_v<T>, float, T>;
  A result = static_cast<A>(in[0][i]);
  for (size_t m = 1; m < in.size(); ++m) {
    const A next = static_cast<A>(in[m][i]);
    if (op == ACLSHMEMX_SUM) result = static_cast<A>(result + next);
    if (op == ACLSHMEMX_MAX) result = std::max(result, next);
    if (op == ACLSHMEMX_MIN) result = std::min(result, next);
  }
  return static_cast<T>(result);
}

template <typename T>
std::vector<std::vector<T>> random_data(int pes, size_t count) {
  std::mt19937 generator(static_cast<unsigned>(pes * 1000) + static_cast<unsigned>(count));
  std::vector<std::vector<T>> data(static_cast<size_t>(pes));
  for (auto& row : data) {
    for (size_t i = 0; i < count; ++i) {
      if constexpr (std::is_integral_v<T>) {
        // small enough that the sum of eight fits: wrapping has its own test
        row.push_back(
            static_cast<T>(static_cast<int>(generator() % 15) - (std::is_signed_v<T> ? 7 : 0)));
      } else {
        row.push_back(static_cast<T>(std::uniform_real_distribution<float>(-100, 100)(generator)));
      }
    }
  }
  return data;
}

template <typename T>
bool same(const T& a, const T& b) {
  return std::memcmp(&a, &b, sizeof(T)) == 0;
}

struct Grid {
  int pes;
  uint32_t blocks;
};
#if defined(__SANITIZE_THREAD__)
// ThreadSanitizer takes a millisecond to make a fiber, and a launch makes one per core: shapes with
// few cores in all.
constexpr Grid kGrid[] = {{2, 1}, {2, 3}, {3, 3}, {8, 1}};
#else
constexpr Grid kGrid[] = {{2, 1},  {2, 3},  {2, 20}, {2, 48}, {3, 1},  {3, 3},
                          {3, 20}, {3, 48}, {8, 1},  {8, 3},  {8, 20}, {8, 48}};
#endif
// One, a few, less and more than one chunk of the scratch of the test world.
constexpr size_t kCounts[] = {0, 1, 7, 1000, 9001};

template <typename T>
class KernelCollective : public testing::Test {
 public:
  using Rows = std::vector<std::vector<T>>;

  // Runs call(in, out, count) on every PE, and compares out[i] on PE p with wanted(p, i).
  template <typename Call, typename Wanted>
  void check(size_t in_slices, size_t out_slices, const Call& call, const Wanted& wanted) {
    for (const Grid& grid : kGrid) {
      World world({.pes = grid.pes});
      const auto slices = [&](size_t wish) { return wish == 0 ? size_t(grid.pes) : wish; };
      for (size_t count : kCounts) {
        if (grid.pes == 8 && count > 1000 && sizeof(T) < 4) continue;
        // Many cores take long: no bytes, less than one each, and several chunks.
        if (grid.blocks >= 20 && (count == 1 || count == 1000)) continue;
        const Rows in = random_data<T>(grid.pes, count * slices(in_slices));
        Rows out(in.size(), std::vector<T>(count * slices(out_slices) + 1, T(99)));
        Rows work = in;
        world.run_ok(grid.blocks, [&](int pe) {
          const auto p = static_cast<size_t>(pe);
          call(work[p].data(), out[p].data(), count, grid.pes);
        });
        for (size_t p = 0; p < out.size(); ++p) {
          size_t wrong = 0;
          for (size_t i = 0; i + 1 < out[p].size(); ++i) {
            wrong += !same(out[p][i], wanted(in, p, i, count));
          }
          EXPECT_EQ(wrong, 0u) << grid.pes << " PEs, " << grid.blocks << " blocks, " << count;
          EXPECT_TRUE(same(out[p].back(), T(99))) << "written behind the end";
          EXPECT_TRUE(count == 0 || same(work[p][0], in[p][0])) << "input changed";
        }
      }
    }
  }
};

using Types = testing::Types<int8_t, int16_t, int32_t, int64_t, uint8_t, uint16_t, uint32_t,
                             uint64_t, half, bfloat16_t, float, double>;
TYPED_TEST_SUITE(KernelCollective, Types);

TYPED_TEST(KernelCollective, Allreduce) {
  using T = TypeParam;
  for (auto op : {ACLSHMEMX_SUM, ACLSHMEMX_MAX, ACLSHMEMX_MIN}) {
    this->check(
        1, 1,
        [&](T* in, T* out, size_t count, int) {
          aclshmemx_allreduce(ACLSHMEM_TEAM_WORLD, in, out, count, op, kType<T>);
        },
        [&](const auto& in, size_t, size_t i, size_t) { return expected(in, i, op); });
  }
}

TYPED_TEST(KernelCollective, ReduceScatter) {
  using T = TypeParam;
  this->check(
      0, 1,
      [](T* in, T* out, size_t count, int) {
        aclshmemx_reduce_scatter(ACLSHMEM_TEAM_WORLD, in, out, count, ACLSHMEMX_SUM, kType<T>);
      },
      [](const auto& in, size_t pe, size_t i, size_t count) {
        return expected(in, pe * count + i, ACLSHMEMX_SUM);
      });
}

TYPED_TEST(KernelCollective, Allgather) {
  using T = TypeParam;
  this->check(
      1, 0,
      [](T* in, T* out, size_t count, int) {
        aclshmemx_allgather(ACLSHMEM_TEAM_WORLD, in, out, count, kType<T>);
      },
      [](const auto& in, size_t, size_t i, size_t count) { return in[i / count][i % count]; });
}

TYPED_TEST(KernelCollective, Broadcast) {
  using T = TypeParam;
  this->check(
      1, 1,
      [](T* in, T* out, size_t count, int pes) {
        aclshmemx_broadcast(ACLSHMEM_TEAM_WORLD, in, out, count, pes - 1, kType<T>);
      },
      [](const auto& in, size_t, size_t i, size_t) { return in.back()[i]; });
}

TYPED_TEST(KernelCollective, Alltoall) {
  using T = TypeParam;
  this->check(
      0, 0,
      [](T* in, T* out, size_t count, int) {
        aclshmemx_alltoall(ACLSHMEM_TEAM_WORLD, in, out, count, kType<T>);
      },
      [](const auto& in, size_t pe, size_t i, size_t count) {
        return in[i / count][pe * count + i % count];
      });
}

TEST(KernelCollectives, SumsOfIntegersWrap) {
  World world({.pes = 3});
  std::vector<int8_t> out(3);
  world.run_ok(1, [&](int pe) {
    const int8_t in = 100;
    aclshmemx_allreduce(ACLSHMEM_TEAM_WORLD, &in, &out[size_t(pe)], 1, ACLSHMEMX_SUM,
                        ACLSHMEMX_INT8);
  });
  EXPECT_THAT(out, testing::Each(int8_t(44)));
}

// 2048 + 1 is 2048 in half precision: rounding at each step would lose every one of the ones.
TEST(KernelCollectives, HalfSumsRoundOnce) {
  World world({.pes = 8});
  std::vector<half> out(8);
  world.run_ok(1, [&](int pe) {
    const half in = pe == 0 ? half(2048) : half(1);
    aclshmemx_allreduce(ACLSHMEM_TEAM_WORLD, &in, &out[size_t(pe)], 1, ACLSHMEMX_SUM,
                        ACLSHMEMX_FLOAT16);
  });
  for (half value : out) EXPECT_EQ(static_cast<float>(value), 2056.0f);  // 2055, one rounding
}

// In place, back to back, on the world and on a team in another order, by number and by record.
TEST(KernelCollectives, FollowEachOtherInPlaceOnTeams) {
  World world({.pes = 4});
  const int odd = world.make_team({3, 1});
  constexpr size_t kCount = 5000;
  std::vector<std::vector<int32_t>> data(4, std::vector<int32_t>(kCount, 1));
  std::vector<int32_t> gathered(8, -1);
  world.run_ok(3, [&](int pe) {
    int32_t* mine = data[size_t(pe)].data();
    const aclshmemx_team_t& everyone = *aclshmemi_get_state()->team_pools[0];
    for (int round = 0; round < 5; ++round) {
      aclshmemx_allreduce(everyone, mine, mine, kCount, ACLSHMEMX_SUM, ACLSHMEMX_INT32);
      if (pe % 2 == 1) {
        aclshmemx_allreduce(odd, mine, mine, kCount, ACLSHMEMX_MAX, ACLSHMEMX_INT32);
      }
    }
    aclshmemx_broadcast(ACLSHMEM_TEAM_INVALID, mine, mine, kCount, 0, ACLSHMEMX_INT32);
    if (pe % 2 == 1) {
      const int32_t number = pe;
      aclshmemx_allgather(odd, &number, gathered.data() + 2 * pe, 1, ACLSHMEMX_INT32);
    }
  });
  for (const auto& row : data) EXPECT_THAT(row, testing::Each(1024));
  EXPECT_THAT(gathered, testing::ElementsAre(-1, -1, 3, 1, -1, -1, 3, 1));
}

// The transfers and queries of the simplified interface.
TEST(KernelCollectives, PutAndGetByMember) {
  World world({.pes = 3, .topology = ACLSHMEM_TRANSPORT_SDMA | ACLSHMEM_TRANSPORT_MTE});
  const int team = world.make_team({2, 0});
  world.run_ok(1, [&](int pe) {
    auto* base = static_cast<char*>(aclshmemi_get_state()->heap_base);
    auto* own = reinterpret_cast<int32_t*>(base);
    auto* in = reinterpret_cast<int32_t*>(base + 64);
    const aclshmemx_team_t& everyone = *aclshmemi_get_state()->team_pools[0];
    EXPECT_EQ(aclshmemx_team_size(everyone), 3);
    EXPECT_EQ(aclshmemx_team_global_rank(everyone), pe);
    EXPECT_EQ(aclshmemx_team_size(team), pe == 1 ? -1 : 2);
    *own = 10 + pe;
    aclshmemx_team_sync(everyone);
    if (pe != 1) {
      const int32_t rank = aclshmemx_team_global_rank(team);
      EXPECT_EQ(rank, pe == 2 ? 0 : 1);
      aclshmemx_gm2gm_put(team, in, own, sizeof *own, 1 - rank);
      aclshmemx_team_sync(team);
      EXPECT_EQ(*in, 10 + (2 - pe));
    }
    int32_t got = 0;
    int32_t first = 0;
    aclshmemx_gm2gm_get(&got, own, sizeof got, (pe + 1) % 3);
    aclshmemx_gm2gm_get(everyone, &first, own, sizeof first, 0);
    aclshmemx_team_sync(everyone);
    EXPECT_EQ(got, 10 + (pe + 1) % 3);
    EXPECT_EQ(first, 10);
  });
}

TEST(KernelCollectives, WrongArgumentsEndTheKernel) {
  struct Case {
    void (*call)(int32_t* word);
    const char* text;
  };
  const Case cases[] = {
      {[](int32_t* w) {
         aclshmemx_allreduce(0, w, w, 1, static_cast<aclshmemx_reduce_op_t>(3), ACLSHMEMX_INT32);
       },
       "aclshmemx_allreduce on PE 0: there is no operation 3"},
      {[](int32_t* w) { aclshmemx_allgather(0, w, w, 1, static_cast<aclshmemx_data_type_t>(12)); },
       "aclshmemx_allgather on PE 0: there is no data type 12"},
      {[](int32_t* w) { aclshmemx_broadcast(0, w, w, 1, 1, ACLSHMEMX_INT32); },
       "root 1 is no member of team 0 of 1 PEs"},
      {[](int32_t* w) { aclshmemx_alltoall(5, w, w, 1, ACLSHMEMX_INT32); }, "no team 5"},
      {[](int32_t* w) { aclshmemx_gm2gm_put(0, w, w, 4, 1); }, "team 0 has no member 1"},
  };
  for (const Case& c : cases) {
    World world({.pes = 1});
    int32_t word = 0;
    EXPECT_THAT(world.run(1, [&](int) { c.call(&word); })[0], HasSubstr(c.text));
  }
}

TEST(KernelCollectives, LostPeerEndsThem) {
  World world({.pes = 2});
  world.lose_peer(0);
  const auto errors = world.run(3, [](int pe) {
    int32_t word = 0;
    if (pe == 0) aclshmemx_allreduce(0, &word, &word, 1, ACLSHMEMX_SUM, ACLSHMEMX_INT32);
  });
  EXPECT_NE(errors[0], "");
  EXPECT_EQ(errors[1], "");
  EXPECT_EQ(*world.state(0).scratch_taken, 0u) << "the scratch was not given back";
}

}  // namespace
}  // namespace symm::test
