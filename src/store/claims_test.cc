#include "store/claims.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace symm::store {
namespace {

using testing::HasSubstr;

Hello hello(int pe, int n_pes, uint64_t token = 0) {
  Hello out;
  out.pe = pe;
  out.n_pes = n_pes;
  out.token = token;
  out.library = "1.0.0";
  return out;
}

Claims claims_of(int n_pes) { return Claims({n_pes, false, 0, ""}); }

TEST(Claims, FaultB6_EveryValueOfNPesIsShownWithItsPes) {
  Claims claims = claims_of(4);
  EXPECT_FALSE(claims.contradicts(hello(0, 4), false));
  EXPECT_TRUE(claims.contradicts(hello(2, 5), false));
  for (int pe : {0, 1, 3}) claims.note(hello(pe, 4));
  EXPECT_FALSE(claims.complete());
  claims.note(hello(2, 5));
  EXPECT_TRUE(claims.complete());
  EXPECT_EQ(claims.text(), "n_pes differs: PEs 0-1, 3: 4, PE 2: 5");
}

TEST(Claims, FaultB6_TwoProcessesWithOneNumberAndNumbersOutOfRange) {
  Claims claims = claims_of(3);
  EXPECT_TRUE(claims.contradicts(hello(3, 3), false));
  EXPECT_TRUE(claims.contradicts(hello(-1, 3), false));
  EXPECT_TRUE(claims.contradicts(hello(1, 3), true));
  claims.note(hello(1, 3, 5));
  claims.note(hello(1, 3, 5));  // a second attempt of the same process
  EXPECT_THAT(claims.text(), testing::Not(HasSubstr("claim PE 1")));
  claims.note(hello(1, 3, 6));
  claims.note(hello(7, 3, 8));
  EXPECT_THAT(claims.text(), HasSubstr("two processes claim PE 1"));
  EXPECT_THAT(claims.text(), HasSubstr("PE 7 is out of range: this job has PEs 0 to 2"));
  EXPECT_THAT(claims.text(), HasSubstr("(not heard from: PEs 0, 2)"));
}

TEST(Claims, FaultB5_VersionAndTls) {
  Claims claims({2, true, 1, ""});
  Hello other = hello(1, 2, 2);
  other.tls = 1;
  EXPECT_FALSE(claims.contradicts(other, false));
  other.tls = 0;
  EXPECT_TRUE(claims.contradicts(other, false));
  other.version = 9;
  other.library = "9.9";
  EXPECT_TRUE(claims.contradicts(other, false));
  claims.note(other);
  EXPECT_THAT(claims.text(), HasSubstr("TLS differs: PE 0: on, PE 1: off"));
  EXPECT_THAT(claims.text(), HasSubstr("version of the library differs: PE 0: "));
  EXPECT_THAT(claims.text(), HasSubstr("PE 1: 9.9 (protocol 9)"));
}

TEST(Claims, ASecondPe0IsKnownByItsToken) {
  Claims claims({2, false, 4, ""});
  EXPECT_FALSE(claims.contradicts(hello(0, 2, 4), false));
  EXPECT_TRUE(claims.contradicts(hello(0, 2, 5), false));
}

TEST(Claims, TroublesComeFirstAndAreFew) {
  Claims claims({9, false, 1, "its disk is full"});
  for (int pe = 1; pe < 9; ++pe) {
    Hello one = hello(pe, 9, 10);
    one.trouble = "so is mine";
    claims.note(one);
  }
  EXPECT_THAT(claims.text(), testing::StartsWith("PE 0 cannot take part: its disk is full; PE 1"));
  EXPECT_THAT(claims.text(), HasSubstr("and 5 more"));
}

TEST(Claims, TheyAreBounded) {
  Claims claims = claims_of(2);
  for (uint64_t i = 1; i < 10000; ++i) claims.note(hello(static_cast<int>(i), 2, i));
  EXPECT_LT(claims.text().size(), 8000u);
}

}  // namespace
}  // namespace symm::store
