#include "store/rounds.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace symm::store {
namespace {

using std::chrono::milliseconds;
using testing::HasSubstr;

const Clock::time_point kStart{};

Rounds::Entry barrier(int pe, const std::string& what = "b", int limit_ms = 1000) {
  Rounds::Entry entry;
  entry.pe = pe;
  entry.ticket = static_cast<uint64_t>(100 + pe);
  entry.what = what;
  entry.limit = milliseconds(limit_ms);
  entry.now = kStart;
  return entry;
}

Rounds::Entry gather(int pe, const std::string& data, const std::string& what = "g") {
  Rounds::Entry entry = barrier(pe, what);
  entry.kind = Rounds::Kind::kAllgather;
  entry.data = data;
  return entry;
}

TEST(FormatPes, RangesAndLimit) {
  EXPECT_EQ(format_pes({3}), "PE 3");
  EXPECT_EQ(format_pes({0, 2, 3, 4, 9}), "PEs 0, 2-4, 9");
  std::vector<int> many;
  for (int i = 0; i < 100; ++i) many.push_back(2 * i);
  EXPECT_THAT(format_pes(many), HasSubstr("30 and 84 more"));
}

TEST(Rounds, BarrierCompletesWithTheLast) {
  Rounds rounds(3);
  Rounds::Outcomes out;
  rounds.enter(barrier(2), out);
  rounds.enter(barrier(0), out);
  EXPECT_TRUE(out.empty());
  rounds.enter(barrier(1), out);
  ASSERT_EQ(out.size(), 3u);
  for (const auto& outcome : out) EXPECT_EQ(outcome.code, Code::kOk);
  EXPECT_FALSE(rounds.next_deadline());
}

TEST(Rounds, AllgatherIsInPeOrderAndShared) {
  Rounds rounds(3);
  Rounds::Outcomes out;
  rounds.enter(gather(1, "bb"), out);
  rounds.enter(gather(2, "cc"), out);
  rounds.enter(gather(0, "aa"), out);
  ASSERT_EQ(out.size(), 3u);
  EXPECT_EQ(*out[0].payload, "aabbcc");
  EXPECT_EQ(out[0].payload.get(), out[2].payload.get());
}

TEST(Rounds, StepsOfAFastPeDoNotMix) {
  Rounds rounds(2);
  Rounds::Outcomes out;
  rounds.enter(gather(0, "1"), out);
  rounds.enter(gather(0, "2"), out);
  rounds.enter(gather(1, "x"), out);
  ASSERT_EQ(out.size(), 2u);
  EXPECT_EQ(*out[0].payload, "1x");
  out.clear();
  rounds.enter(gather(1, "y"), out);
  ASSERT_EQ(out.size(), 2u);
  EXPECT_EQ(*out[0].payload, "2y");
}

TEST(Rounds, DifferentStepsFailOnAll) {
  Rounds rounds(3);
  Rounds::Outcomes out;
  rounds.enter(barrier(0, "malloc"), out);
  rounds.enter(barrier(1, "free"), out);
  ASSERT_EQ(out.size(), 2u);
  EXPECT_EQ(out[0].code, Code::kInternal);
  EXPECT_THAT(out[0].text,
              HasSubstr("PE 1 is in barrier 'free' while PE 0 is in barrier 'malloc'"));
  out.clear();
  rounds.enter(barrier(2, "malloc"), out);
  ASSERT_EQ(out.size(), 1u);
  EXPECT_THAT(out[0].text, HasSubstr("collective mismatch"));
}

TEST(Rounds, DifferentSizesFailOnAll) {
  Rounds rounds(2);
  Rounds::Outcomes out;
  rounds.enter(gather(0, "abc"), out);
  rounds.enter(gather(1, "abcd"), out);
  ASSERT_EQ(out.size(), 2u);
  EXPECT_THAT(out[1].text, HasSubstr("PE 1 brings 4 bytes, PE 0 brings 3 bytes"));
}

TEST(Rounds, ExpiryNamesTheMissing) {
  Rounds rounds(4);
  Rounds::Outcomes out;
  for (int pe : {0, 1, 3}) rounds.join(pe);
  rounds.enter(barrier(0, "open", 5000), out);
  rounds.enter(barrier(1, "open", 9000), out);
  ASSERT_TRUE(rounds.next_deadline());
  EXPECT_EQ(*rounds.next_deadline(), kStart + milliseconds(5000));
  rounds.expire(kStart + milliseconds(4999), out);
  EXPECT_TRUE(out.empty());
  rounds.expire(kStart + milliseconds(5000), out);
  ASSERT_EQ(out.size(), 2u);
  EXPECT_EQ(out[0].code, Code::kSmem);
  EXPECT_THAT(out[0].text, HasSubstr("PE 2 never connected; PE 3 connected but did not arrive"));
  EXPECT_THAT(out[0].text, HasSubstr("5 s"));
  out.clear();
  rounds.enter(barrier(3, "open"), out);
  ASSERT_EQ(out.size(), 1u);
  EXPECT_EQ(out[0].code, Code::kSmem);
}

TEST(Rounds, TheNextStepWorksAfterAnExpiredOne) {
  Rounds rounds(2);
  Rounds::Outcomes out;
  rounds.enter(barrier(0), out);
  rounds.expire(kStart + milliseconds(1000), out);
  rounds.enter(barrier(1), out);
  ASSERT_EQ(out.size(), 2u);
  out.clear();
  rounds.enter(barrier(0), out);
  rounds.enter(barrier(1), out);
  ASSERT_EQ(out.size(), 2u);
  EXPECT_EQ(out[0].code, Code::kOk);
}

TEST(Rounds, ALostPeFailsPresentAndFutureSteps) {
  Rounds rounds(3);
  Rounds::Outcomes out;
  rounds.enter(barrier(0), out);
  rounds.lose(2, "PE 2 is lost", out);
  ASSERT_EQ(out.size(), 1u);
  EXPECT_EQ(out[0].code, Code::kPeerLost);
  out.clear();
  rounds.enter(barrier(1), out);
  rounds.enter(barrier(1), out);
  ASSERT_EQ(out.size(), 2u);
  EXPECT_EQ(out[1].code, Code::kPeerLost);
  EXPECT_EQ(out[1].text, "PE 2 is lost");
}

TEST(Rounds, ALostPeThatHadEnteredDoesNotFailTheStep) {
  Rounds rounds(2);
  Rounds::Outcomes out;
  rounds.enter(barrier(1), out);
  rounds.lose(1, "PE 1 is lost", out);
  EXPECT_TRUE(out.empty());
  rounds.enter(barrier(0), out);
  ASSERT_EQ(out.size(), 2u);
  EXPECT_EQ(out[0].code, Code::kOk);
}

TEST(Rounds, APeThatSaidGoodbyeIsNamed) {
  Rounds rounds(2);
  Rounds::Outcomes out;
  rounds.leave(1, out);
  rounds.enter(barrier(0), out);
  ASSERT_EQ(out.size(), 1u);
  EXPECT_THAT(out[0].text, HasSubstr("PE 1 has already finalized"));
}

TEST(Rounds, BreakAllFailsEverything) {
  Rounds rounds(2);
  Rounds::Outcomes out;
  rounds.enter(barrier(0), out);
  rounds.break_all(Code::kInvalidValue, "n_pes differs", out);
  ASSERT_EQ(out.size(), 1u);
  rounds.enter(barrier(1), out);
  rounds.enter(barrier(1), out);
  ASSERT_EQ(out.size(), 3u);
  EXPECT_EQ(out[2].text, "n_pes differs");
}

TEST(Rounds, AnAllgatherThatIsTooLargeIsRefused) {
  Rounds rounds(16384);
  Rounds::Outcomes out;
  rounds.enter(gather(0, std::string(Rounds::kMaxResult / 16384 + 1, 'x')), out);
  ASSERT_EQ(out.size(), 1u);
  EXPECT_EQ(out[0].code, Code::kInvalidValue);
}

TEST(Rounds, LongStepsAreReportedAtDoublingIntervals) {
  Rounds rounds(3);
  rounds.set_report_after(milliseconds(10000));
  Rounds::Outcomes out;
  rounds.join(0);
  rounds.join(1);
  rounds.enter(barrier(0, "comparing attributes", 120000), out);
  ASSERT_TRUE(rounds.next_deadline());
  EXPECT_EQ(*rounds.next_deadline(), kStart + milliseconds(10000));
  EXPECT_TRUE(rounds.take_reports(kStart + milliseconds(9999)).empty());
  auto first = rounds.take_reports(kStart + milliseconds(10000));
  ASSERT_EQ(first.size(), 1u);
  EXPECT_EQ(first[0].text,
            "waits for 10 s in barrier 'comparing attributes': 2 of 3 PEs connected, 1 of them "
            "here; PE 2 never connected; PE 1 connected but did not arrive; 110 s left");
  EXPECT_THAT(first[0].waiting, testing::ElementsAre(0));
  EXPECT_TRUE(rounds.take_reports(kStart + milliseconds(19999)).empty());
  EXPECT_EQ(rounds.take_reports(kStart + milliseconds(20000)).size(), 1u);
  EXPECT_EQ(*rounds.next_deadline(), kStart + milliseconds(40000));
}

// Whoever was turned away may be the PE that is missing: the text must say so.
TEST(Rounds, ATimeOutTellsOfRefusals) {
  Rounds rounds(2);
  Rounds::Outcomes out;
  rounds.join(0);
  rounds.note_refusal("127.0.0.1:5", "junk");
  rounds.note_refusal("127.0.0.1:6", "the key is wrong");
  rounds.enter(barrier(0, "b", 1000), out);
  rounds.expire(kStart + milliseconds(1000), out);
  ASSERT_EQ(out.size(), 1u);
  EXPECT_THAT(out[0].text,
              HasSubstr("PE 1 never connected (2 refused or broken connections: from 127.0.0.1:5: "
                        "junk; from 127.0.0.1:6: the key is wrong)"));
}

TEST(Rounds, StrayRefusalsDoNotHideTheUsefulOne) {
  Rounds rounds(2);
  Rounds::Outcomes out;
  rounds.join(0);
  rounds.note_refusal("127.0.0.1:6", "the key is wrong");
  for (int i = 0; i < 1000; ++i) rounds.note_refusal("127.0.0.1:5", "junk");
  for (int i = 0; i < 1000; ++i) rounds.note_refusal("127.0.0.1:5", fmt::format("junk {}", i));
  rounds.enter(barrier(0, "b", 1000), out);
  rounds.expire(kStart + milliseconds(1000), out);
  ASSERT_EQ(out.size(), 1u);
  EXPECT_THAT(out[0].text, HasSubstr("2001 refused or broken connections"));
  EXPECT_THAT(out[0].text, HasSubstr("the key is wrong"));
  EXPECT_THAT(out[0].text, HasSubstr("junk (1000 times)"));
  EXPECT_LT(out[0].text.size(), 600u);
}

}  // namespace
}  // namespace symm::store
