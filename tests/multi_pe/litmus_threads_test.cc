// The litmus tests with PEs as threads, where ThreadSanitizer looks on: it must see the order that
// the interface promises, so the data is read and written plainly.
#include "tests/multi_pe/litmus.h"
#include "tests/multi_pe/thread_job.h"

namespace symm::test {
namespace {

class LitmusThreads : public testing::TestWithParam<Litmus> {};
INSTANTIATE_TEST_SUITE_P(All, LitmusThreads, testing::ValuesIn(kLitmus),
                         [](const auto& one) { return std::string(one.param.name); });

TEST_P(LitmusThreads, NoForbiddenOutcome) {
#if defined(__SANITIZE_THREAD__) || defined(__SANITIZE_ADDRESS__)
  constexpr int64_t kRounds = 8 * kCells;
#else
  constexpr int64_t kRounds = 32 * kCells;
#endif
  run_threads(2, [&](Instance&) { EXPECT_EQ(GetParam().run(kRounds), 0); });
}

}  // namespace
}  // namespace symm::test
