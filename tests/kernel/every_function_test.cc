// Runs the generated cases: every function of the kernel side for every type, with 2, 3 and 8 PEs
// of 1, 3, 20 and 48 cores each, whose engines are slow.
#define __CCE_AICORE__ 220
#include "tests/kernel/checks.h"
#include "tests/kernel/world.h"

namespace symm::test {

#define SYMM_GROUPS(FUNC) \
  FUNC(amo)               \
  FUNC(mte) FUNC(p2p) FUNC(rdma) FUNC(rma) FUNC(sdma) FUNC(simt) FUNC(so) FUNC(ub) FUNC(udma)
#define SYMM_GROUP(name) std::vector<Case> cases_of_##name();
SYMM_GROUPS(SYMM_GROUP)
#undef SYMM_GROUP

namespace {

struct Group {
  const char* name;
  std::vector<Case> (*cases)();
};
void PrintTo(const Group& group, std::ostream* out) { *out << group.name; }

struct Shape {
  int pes;
  uint32_t blocks;
};
void PrintTo(const Shape& shape, std::ostream* out) {
  *out << shape.pes << " PEs of " << shape.blocks << " blocks";
}

class EveryFunction : public testing::TestWithParam<std::tuple<Group, Shape>> {};

TEST_P(EveryFunction, HasItsEffect) {
  const auto& [group, shape] = GetParam();
  const auto [pes, blocks] = shape;
  // Many cores share the queue to a PE, so they wait for each other's descriptors too.
  World world({.pes = pes, .depth = 4, .delay_us = blocks > 3 ? 2u : 20u});
  const std::vector<Case> cases = group.cases();
  EXPECT_GT(cases.size(), 50u);
  for (const Case& c : cases) {
    current_case = c.label;
    world.run_ok(blocks, [&](int) { c.run(); });
    if (HasFailure()) break;
  }
  RecordProperty("cases", static_cast<int>(cases.size()));
}

#if defined(__SANITIZE_THREAD__)
constexpr Shape kShapes[] = {{2, 1}, {2, 3}, {3, 1}, {8, 1}};  // a fiber takes it a millisecond
#else
constexpr Shape kShapes[] = {{2, 1},  {2, 3}, {2, 20}, {2, 48}, {3, 1},
                             {3, 20}, {8, 1}, {8, 3},  {8, 48}};
#endif

#define SYMM_GROUP(name) Group{#name, cases_of_##name},
INSTANTIATE_TEST_SUITE_P(Groups, EveryFunction,
                         testing::Combine(testing::ValuesIn({SYMM_GROUPS(SYMM_GROUP)}),
                                          testing::ValuesIn(kShapes)),
                         [](const auto& param) {
                           return std::string(std::get<0>(param.param).name) + "_" +
                                  std::to_string(std::get<1>(param.param).pes) + "PEs_" +
                                  std::to_string(std::get<1>(param.param).blocks) + "blocks";
                         });

}  // namespace
}  // namespace symm::test
