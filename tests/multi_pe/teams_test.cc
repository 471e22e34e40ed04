// Teams over PEs that are threads of one process: which PEs are members, that members meet, and
// what goes wrong on all of them when it goes wrong on one.
#include <gmock/gmock.h>

#include <algorithm>
#include <cstring>
#include <random>

#include "shmem.h"
#include "tests/multi_pe/thread_job.h"

namespace symm::test {
namespace {

using testing::HasSubstr;

std::string last_error() {
  char text[1024] = "";
  aclshmemx_last_error(text, sizeof text, true);
  return text;
}

// Every member writes its number to every other member and finds everybody's after a barrier.
void exchange(aclshmem_team_t team, int32_t* slots, int32_t round) {
  const int n = aclshmem_team_n_pes(team);
  const int me = aclshmem_team_my_pe(team);
  for (int i = 0; i < n; ++i) {
    const int world = aclshmem_team_translate_pe(team, i, ACLSHMEM_TEAM_WORLD);
    aclshmem_int32_p(slots + me, round * 1000 + me, world);
  }
  aclshmem_barrier(team);
  for (int i = 0; i < n; ++i) EXPECT_EQ(slots[i], round * 1000 + i) << "team of " << n;
  aclshmem_barrier(team);
}

std::vector<int> members_of(aclshmem_team_t team) {
  std::vector<int> members;
  for (int i = 0; i < aclshmem_team_n_pes(team); ++i) {
    members.push_back(aclshmem_team_translate_pe(team, i, ACLSHMEM_TEAM_WORLD));
  }
  return members;
}

// The PEs of start + i * stride, or nothing when they do not lie in 0..n-1.
std::vector<int> strided(int n, int start, int stride, int size) {
  std::vector<int> members;
  for (int i = 0; i < size; ++i) members.push_back(start + i * stride);
  const bool inside =
      std::all_of(members.begin(), members.end(), [n](int pe) { return pe >= 0 && pe < n; });
  if (size <= 0 || !inside || (stride == 0 && size > 1)) return {};
  return members;
}

class Teams : public testing::TestWithParam<int> {
 protected:
  int n() const { return GetParam(); }
};
INSTANTIATE_TEST_SUITE_P(Counts, Teams, testing::Values(1, 2, 3, 5, 8));

TEST_P(Teams, EveryStridedTripletAgainstAModel) {
  run_threads(n(), [&](Instance& instance) {
    for (int start = -1; start <= n(); ++start) {
      for (int stride = -n(); stride <= n(); ++stride) {
        for (int size = 0; size <= n() + 1; ++size) {
          aclshmem_team_t team = 77;
          const int code = aclshmem_team_split_strided(0, start, stride, size, &team);
          const auto wanted = strided(n(), start, stride, size);
          const auto me = std::find(wanted.begin(), wanted.end(), instance.pe());
          EXPECT_EQ(code, wanted.empty() ? -1 : 0) << start << " " << stride << " " << size;
          if (me == wanted.end()) {
            EXPECT_EQ(team, ACLSHMEM_TEAM_INVALID);
            continue;
          }
          EXPECT_EQ(members_of(team), wanted);
          EXPECT_EQ(aclshmem_team_my_pe(team), me - wanted.begin());
          aclshmem_team_destroy(team);
          EXPECT_EQ(aclshmem_team_n_pes(team), -1);
        }
      }
    }
    last_error();
  });
}

// FAULTS H2, SEMANTICS E8.
TEST(TeamsFaultH2, AxesForEverySizeAgainstAModel) {
  for (int n = 1; n <= 17; n += n < 8 ? 1 : 3) {
    run_threads(n, [&](Instance& instance) {
      const int me = instance.pe();
      for (int range = 1; range <= 20; ++range) {
        aclshmem_team_t x = 77;
        aclshmem_team_t y = 77;
        ASSERT_EQ(aclshmem_team_split_2d(0, range, &x, &y), 0) << last_error();
        const int width = std::min(range, n);
        std::vector<int> row;
        std::vector<int> column;
        for (int pe = 0; pe < n; ++pe) {
          if (pe / width == me / width) row.push_back(pe);
          if (pe % width == me % width) column.push_back(pe);
        }
        EXPECT_EQ(members_of(x), row);
        EXPECT_EQ(members_of(y), column);
        aclshmem_team_destroy(x);
        aclshmem_team_destroy(y);
      }
      aclshmem_team_t x = 77;
      aclshmem_team_t y = 77;
      EXPECT_EQ(aclshmem_team_split_2d(0, 0, &x, &y), -1);
      EXPECT_EQ(x, ACLSHMEM_TEAM_INVALID);
      EXPECT_EQ(y, ACLSHMEM_TEAM_INVALID);
      EXPECT_EQ(aclshmem_team_split_2d(0, 2, &x, nullptr), -1);
      EXPECT_EQ(x, ACLSHMEM_TEAM_INVALID);
    });
  }
}

TEST_P(Teams, SizesListsAndColours) {
  run_threads(n(), [&](Instance& instance) {
    const int me = instance.pe();
    auto* slots = static_cast<int32_t*>(aclshmem_calloc(64, sizeof(int32_t)));
    for (int size = 1; size <= n() + 1; ++size) {
      aclshmem_team_t team;
      ASSERT_EQ(aclshmemx_team_split_size(0, size, &team), 0);
      EXPECT_EQ(members_of(team).front(), me / size * size);
      EXPECT_EQ(aclshmem_team_n_pes(team), std::min(size, n() - me / size * size));
      exchange(team, slots, size);
      aclshmem_team_destroy(team);
    }
    aclshmem_barrier_all();
    std::vector<int> backwards;
    for (int pe = n() - 1; pe >= 0; pe -= 2) backwards.push_back(pe);
    aclshmem_team_t listed;
    ASSERT_EQ(
        aclshmemx_team_split_list(0, backwards.data(), static_cast<int>(backwards.size()), &listed),
        0);
    EXPECT_EQ(listed != ACLSHMEM_TEAM_INVALID,
              std::count(backwards.begin(), backwards.end(), me) == 1);
    if (listed != ACLSHMEM_TEAM_INVALID) {
      EXPECT_EQ(members_of(listed), backwards);
      exchange(listed, slots, 50);
    }
    aclshmem_team_destroy(listed);
    aclshmem_barrier_all();
    // Three colours, the first PE in none, in the reverse order.
    aclshmem_team_t coloured;
    ASSERT_EQ(aclshmemx_team_split_color(0, me == 0 ? -5 : me % 3, -me, &coloured), 0);
    if (me == 0) {
      EXPECT_EQ(coloured, ACLSHMEM_TEAM_INVALID);
    } else {
      const auto members = members_of(coloured);
      EXPECT_TRUE(std::is_sorted(members.rbegin(), members.rend()));
      for (int pe : members) EXPECT_EQ(pe % 3, me % 3);
      exchange(coloured, slots, 60);
      aclshmem_team_destroy(coloured);
    }
    aclshmem_free(slots);
    EXPECT_EQ(last_error(), "");
  });
}

TEST_P(Teams, PredefinedTeamsStay) {
  run_threads(n(), [&](Instance& instance) {
    auto* slots = static_cast<int32_t*>(aclshmem_calloc(64, sizeof(int32_t)));
    for (int team : {ACLSHMEM_TEAM_WORLD, ACLSHMEMX_TEAM_SHARED, ACLSHMEMX_TEAM_NODE}) {
      EXPECT_EQ(aclshmem_team_n_pes(team), n());
      EXPECT_EQ(aclshmem_team_my_pe(team), instance.pe());
      aclshmem_team_destroy(team);
      EXPECT_THAT(last_error(), HasSubstr("is made by the library and stays"));
      exchange(team, slots, team);
    }
    aclshmem_team_destroy(9);
    EXPECT_THAT(last_error(), HasSubstr("team 9 does not exist here"));
    aclshmem_team_destroy(ACLSHMEM_TEAM_INVALID);
    aclshmem_barrier(9);
    EXPECT_THAT(last_error(), HasSubstr("there is no team 9 here"));
    aclshmem_barrier(ACLSHMEM_TEAM_INVALID);
    EXPECT_EQ(last_error(), "");
    aclshmem_team_config_t config;
    std::memset(&config, 1, sizeof config);
    aclshmem_team_t team;
    ASSERT_EQ(aclshmem_team_split_strided(0, 0, 1, n(), &team), 0);
    EXPECT_EQ(aclshmem_team_get_config(team, &config), 0);
    EXPECT_EQ(config.num_contexts, 0);
    EXPECT_EQ(aclshmem_team_get_config(team, nullptr), 1);
    EXPECT_EQ(aclshmem_team_get_config(700, &config), -1);
    aclshmem_free(slots);
  });
}

// FAULTS H4: nested numbers, translation of non-members, PEs with different histories.
TEST(TeamsFaultH4, NestedSplitsCountInTheirParent) {
  run_threads(6, [](Instance& instance) {
    const int me = instance.pe();
    auto* slots = static_cast<int32_t*>(aclshmem_calloc(64, sizeof(int32_t)));
    aclshmem_team_t odd;
    ASSERT_EQ(aclshmem_team_split_strided(0, 1, 2, 3, &odd), 0);
    EXPECT_EQ(odd >= 1, me % 2 == 1);
    EXPECT_EQ(aclshmem_team_translate_pe(0, 2, odd), -1);
    if (me % 2 == 1) {
      EXPECT_EQ(aclshmem_team_translate_pe(0, 3, odd), 1);
      aclshmem_team_t inner;
      ASSERT_EQ(aclshmem_team_split_strided(odd, 0, 1, 2, &inner), 0);
      EXPECT_EQ(aclshmem_team_my_pe(inner), me == 1 ? 0 : me == 3 ? 1 : -1);
      if (me != 5) {
        EXPECT_EQ(members_of(inner), (std::vector<int>{1, 3}));
        EXPECT_EQ(aclshmem_team_translate_pe(odd, 2, inner), -1);
        exchange(inner, slots, 1);
        aclshmem_team_t innermost;
        ASSERT_EQ(aclshmem_team_split_strided(inner, 1, -1, 2, &innermost), 0);
        EXPECT_EQ(members_of(innermost), (std::vector<int>{3, 1}));
        exchange(innermost, slots, 2);
      }
    }
    aclshmem_barrier_all();
    EXPECT_EQ(last_error(), "");
  });
}

TEST(TeamsFaultH4, HistoriesDiffer) {
  run_threads(4, [](Instance& instance) {
    const int me = instance.pe();
    auto* slots = static_cast<int32_t*>(aclshmem_calloc(64, sizeof(int32_t)));
    // Alone, and a different number of them on every PE.
    for (int i = 0; i < 3 * me; ++i) {
      aclshmem_team_t alone;
      ASSERT_EQ(aclshmem_team_split_strided(0, me, 1, 1, &alone), 0);
      EXPECT_EQ(aclshmem_team_n_pes(alone), 1);
      aclshmem_barrier(alone);
    }
    for (int i = 0; i <= me / 2; ++i) {
      aclshmem_team_t half;
      ASSERT_EQ(aclshmem_team_split_strided(0, me / 2 * 2, 1, 2, &half), 0);
      exchange(half, slots, i);
    }
    aclshmem_barrier_all();
    aclshmem_team_t common;
    ASSERT_EQ(aclshmem_team_split_strided(0, 3, -1, 4, &common), 0);
    for (int i = 0; i < 100; ++i) exchange(common, slots, i);
    EXPECT_EQ(last_error(), "");
  });
}

// Members make overlapping teams in different orders: nobody waits for ever, and all teams work.
TEST(TeamsFaultH4, OrdersDiffer) {
  run_threads(3, [](Instance& instance) {
    const int me = instance.pe();
    auto* slots = static_cast<int32_t*>(aclshmem_calloc(64, sizeof(int32_t)));
    for (int round = 0; round < 20; ++round) {
      // Pair p holds all PEs but p; PE m makes them in an order that begins behind m.
      aclshmem_team_t pair[3] = {-1, -1, -1};
      for (int i = 1; i < 3; ++i) {
        const int without = (me + i) % 3;
        int list[2] = {without == 0 ? 1 : 0, without == 2 ? 1 : 2};
        ASSERT_EQ(aclshmemx_team_split_list(0, list, 2, &pair[without]), 0) << last_error();
      }
      for (int without = 0; without < 3; ++without) {
        if (without != me) exchange(pair[without], slots + 8 * without, round * 10 + without);
      }
      for (int i = 2; i > 0; --i) aclshmem_team_destroy(pair[(me + i) % 3]);
    }
    aclshmem_barrier_all();
    EXPECT_EQ(last_error(), "");
  });
}

// FAULTS H1: collectives on many overlapping teams, one after the other in a random order.
TEST(TeamsFaultH1, OverlappingTeamsInterleaved) {
  run_threads(4, [](Instance& instance) {
    const int me = instance.pe();
    auto* slots = static_cast<int32_t*>(aclshmem_calloc(64, sizeof(int32_t)));
    std::vector<aclshmem_team_t> teams = {ACLSHMEM_TEAM_WORLD, ACLSHMEMX_TEAM_SHARED};
    const std::vector<std::vector<int>> lists = {{0, 1}, {1, 2, 3}, {3, 0}, {2, 1}, {0, 1, 2, 3}};
    for (const auto& list : lists) {
      aclshmem_team_t team;
      ASSERT_EQ(aclshmemx_team_split_list(0, list.data(), static_cast<int>(list.size()), &team), 0);
      teams.push_back(team);
    }
    std::mt19937 random(7);
    for (int i = 0; i < 2000; ++i) {
      const aclshmem_team_t team = teams[random() % teams.size()];
      if (team != ACLSHMEM_TEAM_INVALID) aclshmem_sync(team);
    }
    for (aclshmem_team_t team : teams) {
      if (team != ACLSHMEM_TEAM_INVALID) exchange(team, slots, me * 0 + 9);
      aclshmem_barrier_all();
    }
    EXPECT_EQ(last_error(), "");
  });
}

// FAULTS H5: many teams of the same members live at once, and the limit is met by all alike.
TEST(TeamsFaultH5, ManyLiveTeamsAndTheLimit) {
  run_threads(2, [](Instance& instance) {
    std::vector<aclshmem_team_t> teams;
    for (int round = 0; round < 3; ++round) {
      for (int i = 0; i < 300; ++i) {
        aclshmem_team_t team;
        ASSERT_EQ(aclshmem_team_split_strided(0, 0, 1, 2, &team), 0) << last_error();
        aclshmem_sync(team);
        teams.push_back(team);
      }
      for (aclshmem_team_t team : teams) aclshmem_sync(team);
      for (aclshmem_team_t team : teams) aclshmem_team_destroy(team);
      teams.clear();
    }
    // PE 1 has fewer numbers left than PE 0.
    if (instance.pe() == 1) {
      for (int i = 0; i < 1000; ++i) {
        aclshmem_team_t alone;
        ASSERT_EQ(aclshmem_team_split_strided(0, 1, 1, 1, &alone), 0);
      }
    }
    int code = 0;
    while (code == 0) {
      aclshmem_team_t team;
      code = aclshmem_team_split_strided(0, 1, -1, 2, &team);
      if (code == 0) {
        teams.push_back(team);
      } else {
        EXPECT_EQ(team, ACLSHMEM_TEAM_INVALID);
      }
    }
    EXPECT_EQ(code, -4);
    EXPECT_THAT(last_error(), HasSubstr("all 2048 teams of PE 1 are in use"));
    EXPECT_GE(teams.size(), 1040u);
    for (int i = 0; i < 3; ++i) {
      aclshmem_team_t none;
      EXPECT_EQ(aclshmem_team_split_strided(0, 0, 1, 2, &none), -4);
      last_error();
    }
    aclshmem_team_destroy(teams.back());
    aclshmem_team_t again;
    EXPECT_EQ(aclshmem_team_split_strided(0, 0, 1, 2, &again), 0) << last_error();
    aclshmem_barrier(again);
    EXPECT_EQ(last_error(), "");
  });
}

// FAULTS I6: a wrong argument on one member ends the call on all members; the next call works.
TEST(TeamsFaultI6, WrongArgumentsOnOneMember) {
  run_threads(3, [](Instance& instance) {
    const int me = instance.pe();
    for (int bad = 0; bad < 3; ++bad) {
      for (int kind = 0; kind < 4; ++kind) {
        aclshmem_team_t team = 77;
        const bool mine = me == bad;
        const int code = kind == 0   ? aclshmem_team_split_strided(0, 0, 1, mine ? 9 : 3, &team)
                         : kind == 1 ? aclshmem_team_split_strided(mine ? 55 : 0, 0, 1, 3, &team)
                         : kind == 2
                             ? aclshmem_team_split_strided(0, 0, 1, 3, mine ? nullptr : &team)
                             : aclshmemx_team_split_size(0, mine ? 0 : 3, &team);
        EXPECT_EQ(code, -1);
        EXPECT_EQ(team, mine && kind == 2 ? 77 : ACLSHMEM_TEAM_INVALID);
        const std::string text = last_error();
        if (!mine) {
          EXPECT_THAT(text, HasSubstr("the call of PE " + std::to_string(bad)));
        }
        aclshmem_barrier_all();
        ASSERT_EQ(aclshmem_team_split_strided(0, 0, 1, 3, &team), 0) << last_error();
        aclshmem_barrier(team);
        aclshmem_team_destroy(team);
      }
    }
    EXPECT_EQ(last_error(), "");
  });
}

// FAULTS H7, in the size of a test: numbers and memory are used again.
TEST(TeamsFaultH7, SplitAndDestroyManyTimes) {
  run_threads(2, [](Instance&) {
    int highest = 0;
    for (int i = 0; i < 5000; ++i) {
      aclshmem_team_t team;
      ASSERT_EQ(aclshmem_team_split_strided(0, i % 2, 1 - 2 * (i % 2), 2, &team), 0)
          << last_error();
      highest = std::max(highest, team);
      if (i % 16 == 0) aclshmem_sync(team);
      aclshmem_team_destroy(team);
    }
    EXPECT_LE(highest, 8);
  });
}

TEST(TeamsMismatch, BarrierAndColourSplitMeet) {
  run_threads(
      3,
      [](Instance& instance) {
        aclshmem_team_t team = 77;
        if (instance.pe() == 1) {
          EXPECT_EQ(aclshmemx_team_split_color(0, 1, 1, &team), -1);
        } else {
          aclshmem_barrier_all();
        }
        EXPECT_THAT(last_error(), HasSubstr("collective mismatch"));
      },
      false);
}

// FAULTS C4: a memory call on one PE and a barrier on another end with an error on both.
TEST(TeamsMismatch, FaultC4MallocAndBarrierMeet) {
  run_threads(
      3,
      [](Instance& instance) {
        if (instance.pe() == 1) {
          EXPECT_EQ(aclshmem_malloc(64), nullptr);
        } else {
          aclshmem_barrier_all();
        }
        const std::string text = last_error();
        EXPECT_THAT(text, HasSubstr("collective mismatch"));
        EXPECT_THAT(text, HasSubstr("PE 1"));
      },
      false, [](InstanceOptions& options) { options.operation_timeout_s = 5; });
}

TEST(TeamsMismatch, SecondBarrierOfAThreadIsRefused) {
  run_threads(2, [](Instance& instance) {
    if (instance.pe() == 1) return aclshmem_barrier_all();

    auto enter = [&] {
      ScopedInstance scoped(&instance);
      aclshmem_barrier_all();
    };
    // Holds the place as a barrier that has not ended would.
    instance.epochs()[0] += 1;
    enter();
    EXPECT_THAT(last_error(), HasSubstr("another barrier or collective of the same team"));
    instance.epochs()[0] -= 1;
    enter();
    EXPECT_EQ(last_error(), "");
  });
}

}  // namespace
}  // namespace symm::test
