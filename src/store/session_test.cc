#include "store/session.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace symm::store {
namespace {

using std::chrono::milliseconds;
using testing::HasSubstr;

const Clock::time_point kStart{};

class SessionTest : public testing::Test {
 protected:
  SessionTest() : session_(options()) {}
  static Session::Options options() {
    Session::Options out;
    out.n_pes = 3;
    out.nonce.fill(7);
    return out;
  }
  HelloReply hello(int pe, int n_pes = 3) {
    Hello out;
    out.pe = pe;
    out.n_pes = n_pes;
    return session_.admit(out, kStart, sends_);
  }
  void request(int pe, uint32_t seq, Request what) {
    session_.handle(pe, seq, std::move(what), kStart, sends_);
  }
  Request step(const char* name, int limit_ms = 1000) {
    return {Type::kBarrier, name, "", "", limit_ms};
  }
  // The frames that went to a PE so far, as "type:result:seq:body".
  std::vector<std::string> to(int pe) {
    std::vector<std::string> out;
    for (const Session::Send& send : sends_) {
      if (send.pe != pe) continue;
      const Header& header = send.frame.header;
      EXPECT_EQ(header.length, send.frame.body->size());
      std::string body = *send.frame.body;
      if (header.type != Type::kReply) body = decode_notice(body).value().text;
      out.push_back(fmt::format("{}:{}:{}:{}", static_cast<int>(header.type), header.result,
                                header.seq, body));
    }
    return out;
  }
  void form() {
    for (int pe = 0; pe < 3; ++pe) {
      EXPECT_EQ(hello(pe).result, 0);
      request(pe, 1, step("open"));
    }
    sends_.clear();
  }

  Session session_;
  Session::Sends sends_;
};

TEST_F(SessionTest, AdmitsAndGivesTheNonce) {
  HelloReply reply = hello(1);
  EXPECT_EQ(reply.result, 0);
  EXPECT_EQ(reply.nonce[0], 7);
  EXPECT_THAT(session_.present(), testing::ElementsAre(1));
}

TEST_F(SessionTest, ARefusalTellsNothing) {
  Hello foreign;
  foreign.magic = 1;
  HelloReply reply = session_.admit(foreign, kStart, sends_);
  EXPECT_NE(reply.result, 0);
  EXPECT_EQ(reply.nonce[0], 0);
}

TEST_F(SessionTest, ContradictionBeforeFormingBreaksTheJobForGood) {
  hello(0);
  request(0, 1, step("open"));
  EXPECT_EQ(hello(1, 4).result, kResultRetry);
  EXPECT_TRUE(to(0).empty());
  EXPECT_EQ(session_.untold(), 3);  // PEs 1 and 2, and the process that was sent away
  // The last value is known: all are told.
  EXPECT_THAT(hello(2).text, HasSubstr("n_pes differs: PEs 0, 2: 3, PE 1: 4"));
  EXPECT_THAT(to(0), testing::ElementsAre(HasSubstr("n_pes differs")));
  Hello again;
  again.pe = 1;
  again.n_pes = 4;
  again.token = 5;  // tokens of the others are unknown here
  EXPECT_THAT(session_.admit(again, kStart, sends_).text, HasSubstr("n_pes differs"));
  // Who has heard and comes again means the next start.
  EXPECT_EQ(session_.admit(again, kStart, sends_).result, kResultRetry);
}

TEST_F(SessionTest, AContradictionWaitsOnlyALittleForTheOthers) {
  hello(0);
  request(0, 1, step("open"));
  EXPECT_EQ(hello(0).result, kResultRetry);
  ASSERT_TRUE(session_.next_deadline());
  EXPECT_LE(*session_.next_deadline(), kStart + milliseconds(500));
  session_.tick(*session_.next_deadline(), sends_);
  EXPECT_THAT(to(0), testing::ElementsAre(HasSubstr("two processes claim PE 0")));
  EXPECT_THAT(to(0), testing::ElementsAre(HasSubstr("not heard from: PEs 1-2")));
}

TEST_F(SessionTest, FaultA14_AWrongIdOfTheSameLaunchFailsTheJob) {
  Session::Options launched = options();
  launched.one_launch = true;
  Session session(launched);
  Hello zero;
  zero.n_pes = 3;
  EXPECT_EQ(session.admit(zero, kStart, sends_).result, 0);
  session.handle(0, 1, step("open"), kStart, sends_);
  Hello wrong = zero;
  wrong.pe = 2;
  wrong.cookie = 99;
  EXPECT_THAT(session.admit(wrong, kStart, sends_).text, HasSubstr("id mismatch"));
  EXPECT_THAT(to(0), testing::ElementsAre(HasSubstr("PE 2: id mismatch")));
}

TEST_F(SessionTest, APeThatCannotTakePartFailsTheJobForAll) {
  Hello sick;
  sick.pe = 1;
  sick.n_pes = 3;
  sick.trouble = "local_mem_size is 0";
  hello(0);
  request(0, 1, step("open"));
  hello(2);
  EXPECT_THAT(session_.admit(sick, kStart, sends_).text,
              HasSubstr("PE 1 cannot take part: local_mem_size is 0"));
  EXPECT_THAT(to(0), testing::ElementsAre(HasSubstr("PE 1 cannot take part")));
}

TEST_F(SessionTest, FaultB5_PesHearWhyPe0CannotTakePartWhileItCloses) {
  Session::Options sick = options();
  sick.trouble = "local_mem_size is 0";
  Session session(sick);
  session.begin_closing();
  Hello other;
  other.n_pes = 3;
  other.pe = 1;
  EXPECT_THAT(session.admit(other, kStart, sends_).text, HasSubstr("the PEs disagree"));
  EXPECT_EQ(session.untold(), 3);  // PEs 1 and 2, and the one that was sent away
  other.pe = 2;
  EXPECT_THAT(session.admit(other, kStart, sends_).text,
              HasSubstr("PE 0 cannot take part: local_mem_size is 0"));
  other.pe = 1;
  EXPECT_NE(session.admit(other, kStart, sends_).result, kResultRetry);
  EXPECT_EQ(session.untold(), 0);
}

TEST_F(SessionTest, StrangersDoNotBreakTheJob) {
  hello(0);
  Hello foreign;
  foreign.magic = 1;
  foreign.n_pes = 99;
  session_.admit(foreign, kStart, sends_);
  EXPECT_EQ(hello(1).result, 0);
}

TEST_F(SessionTest, ContradictionAfterFormingIsRefusedOnly) {
  form();
  EXPECT_THAT(hello(1).text, HasSubstr("two processes claim PE 1"));
  EXPECT_TRUE(sends_.empty());
  for (int pe = 0; pe < 3; ++pe) request(pe, 2, step("next"));
  EXPECT_THAT(to(2), testing::ElementsAre("32:0:2:"));
}

TEST_F(SessionTest, TheNextRunIsToldToComeBack) {
  form();
  request(1, 2, {Type::kGoodbye, "", "", "", 0});
  EXPECT_EQ(hello(1).result, kResultRetry);
  EXPECT_EQ(hello(1, 2).result, kResultRetry);
  EXPECT_THAT(session_.present(), testing::ElementsAre(0, 2));
}

TEST_F(SessionTest, ClosingSendsNewcomersAway) {
  hello(0);
  session_.begin_closing();
  EXPECT_EQ(hello(1).result, kResultRetry);
}

TEST_F(SessionTest, ADeathTellsAllAndEndsAllWaits) {
  form();
  request(0, 2, step("b"));
  request(1, 2, {Type::kGet, "never", "", "", -1});
  session_.disconnect(2, "killed", sends_);
  EXPECT_THAT(to(0),
              testing::ElementsAre("33:0:0:PE 2 is lost: killed", "32:-12:2:PE 2 is lost: killed"));
  EXPECT_THAT(to(1),
              testing::ElementsAre("33:0:0:PE 2 is lost: killed", "32:-12:2:PE 2 is lost: killed"));
  EXPECT_TRUE(session_.anyone_lost());
  sends_.clear();
  request(1, 3, {Type::kGet, "never", "", "", -1});  // a wait that begins after the death
  request(1, 4, {Type::kSet, "never", "x", "", 0});
  request(1, 5, {Type::kGet, "never", "", "", -1});
  EXPECT_THAT(to(1), testing::ElementsAre("32:-12:3:PE 2 is lost: killed", "32:0:4:", "32:0:5:x"));
}

TEST_F(SessionTest, AGoodbyeIsNoDeath) {
  form();
  request(2, 2, {Type::kGoodbye, "", "", "", 0});
  session_.disconnect(2, "closed", sends_);
  EXPECT_TRUE(to(0).empty());
  EXPECT_FALSE(session_.anyone_lost());
}

TEST_F(SessionTest, EqualRecordsOfAnAllgatherAreSentOnce) {
  form();
  const std::string same(3000, 's');
  const std::string other = same.substr(1) + "o";
  auto gather = [&](uint32_t seq, const std::string& of_pe_2) {
    for (int pe = 0; pe < 3; ++pe) {
      request(pe, seq, {Type::kAllgather, "g", pe == 2 ? of_pe_2 : same, "", 1000});
    }
  };
  gather(2, same);
  for (int pe = 0; pe < 3; ++pe) {
    EXPECT_THAT(to(pe), testing::ElementsAre(fmt::format("32:1:2:{}", same)));
  }
  sends_.clear();
  gather(3, other);
  for (int pe = 0; pe < 3; ++pe) {
    EXPECT_THAT(to(pe), testing::ElementsAre(fmt::format("32:0:3:{}{}{}", same, same, other)));
  }
}

TEST_F(SessionTest, AWaiterThatDisconnectsIsForgotten) {
  form();
  request(2, 2, {Type::kGet, "k", "", "", -1});
  session_.disconnect(2, "killed", sends_);
  sends_.clear();
  request(0, 2, {Type::kSet, "k", "v", "", 0});
  EXPECT_TRUE(to(2).empty());
}

TEST_F(SessionTest, GetWaitsAndExpires) {
  form();
  request(0, 2, {Type::kGet, "k", "", "", 50});
  request(1, 2, {Type::kGet, "k", "", "", 0});
  EXPECT_THAT(to(1), testing::ElementsAre("32:-404:2:"));
  EXPECT_TRUE(to(0).empty());
  EXPECT_EQ(*session_.next_deadline(), kStart + milliseconds(50));
  session_.tick(kStart + milliseconds(50), sends_);
  EXPECT_THAT(to(0), testing::ElementsAre(HasSubstr("32:-3:2:nobody set the key")));
}

TEST_F(SessionTest, HugeTimeLimitsDoNotOverflow) {
  form();
  request(0, 2, {Type::kGet, "k", "", "", INT64_MAX});
  request(1, 2, step("b"));
  Request forever = step("b");
  forever.number = INT64_MAX;
  request(2, 2, forever);
  session_.tick(kStart, sends_);
  EXPECT_TRUE(sends_.empty());
}

TEST_F(SessionTest, StepsExpireOnAll) {
  for (int pe = 0; pe < 2; ++pe) {
    hello(pe);
    request(pe, 1, step("open", 100 * (pe + 1)));
  }
  session_.tick(kStart + milliseconds(100), sends_);
  EXPECT_THAT(to(0), testing::ElementsAre(HasSubstr("PE 2 never connected")));
  EXPECT_THAT(to(1), testing::ElementsAre(HasSubstr("PE 2 never connected")));
}

TEST_F(SessionTest, GlobalExitGoesToAll) {
  form();
  request(1, 2, {Type::kGlobalExit, "", "", "", 5});
  EXPECT_THAT(to(0), testing::ElementsAre("34:0:0:PE 1 called global_exit(5)"));
  EXPECT_EQ(to(1).size(), 2u);
}

TEST_F(SessionTest, TheEndOfTheStoreIsAnnounced) {
  form();
  session_.announce_end(sends_);
  EXPECT_THAT(to(2), testing::ElementsAre(HasSubstr("35:0:0:PE 0 has ended")));
}

}  // namespace
}  // namespace symm::store
