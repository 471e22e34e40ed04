// When the end of a certificate is reported: at the start, at the moment it happens, and again.
#include "net/expiry_watch.h"

#include <gmock/gmock.h>

#include <cstdlib>
#include <fstream>
#include <sstream>

#include "base/deadline.h"

namespace symm::net {
namespace {

using testing::HasSubstr;
using Kind = ExpiryVerdict::Kind;
constexpr std::time_t kNow = 1800000000;
constexpr std::time_t kHour = 3600;
constexpr std::time_t kDay = 24 * kHour;

TEST(Expiry, VerdictsAndWhenToLookAgain) {
  const ExpiryRules rules;  // 168 h, 30 days
  struct Row {
    std::time_t from, until;
    Kind kind;
    std::time_t next;
  };
  const Row rows[] = {
      {kNow - kDay, kNow + 365 * kDay, Kind::kGood, kNow + 7 * kDay},
      {kNow - kDay, kNow + 32 * kDay, Kind::kGood, kNow + 2 * kDay},  // then it is soon
      {kNow - kDay, kNow + 30 * kDay, Kind::kSoon, kNow + 7 * kDay},
      {kNow - kDay, kNow + kHour, Kind::kSoon, kNow + kHour + 1},
      {kNow - kDay, kNow, Kind::kSoon, kNow + 1},
      {kNow - kDay, kNow - 1, Kind::kExpired, kNow + 7 * kDay},
      {kNow + kHour, kNow + 365 * kDay, Kind::kEarly, kNow + kHour},
  };
  for (const Row& row : rows) {
    const ExpiryVerdict verdict = judge_validity({row.from, row.until}, rules, kNow);
    EXPECT_EQ(verdict.kind, row.kind) << row.until - kNow;
    EXPECT_EQ(verdict.next, row.next) << row.until - kNow;
    EXPECT_GT(verdict.next, kNow);
  }
}

TEST(Expiry, RulesComeFromTheEnvironmentAndBadValuesAreReplaced) {
  auto rules = [](const char* period, const char* ahead) {
    setenv("ACCLINK_CHECK_PERIOD_HOURS", period, 1);
    setenv("ACCLINK_CERT_CHECK_AHEAD_DAYS", ahead, 1);
    testing::internal::CaptureStderr();
    ExpiryRules out = expiry_rules();
    std::string text = testing::internal::GetCapturedStderr();
    unsetenv("ACCLINK_CHECK_PERIOD_HOURS");
    unsetenv("ACCLINK_CERT_CHECK_AHEAD_DAYS");
    return std::make_tuple(out.period_hours, out.ahead_days, text);
  };
  EXPECT_EQ(rules("24", "7"), std::make_tuple(24, 7, ""));
  EXPECT_EQ(std::get<0>(rules("23", "30")), 168);
  EXPECT_EQ(std::get<1>(rules("168", "x")), 30);
  auto [period, ahead, text] = rules("720", "7");  // the period is longer than 7 days
  EXPECT_EQ(period, 168);
  EXPECT_EQ(ahead, 30);
  EXPECT_THAT(text, HasSubstr("is shorter than"));
}

// A certificate of a few seconds stands for one of a year: it ends while the job runs.
TEST(Expiry, ARunningJobIsToldWhenItsCertificateEnds) {
  std::string pattern = testing::TempDir() + "symm_expiry_XXXXXX";
  ASSERT_NE(mkdtemp(pattern.data()), nullptr);
  const std::string log = pattern + "/audit.log";
  setenv("SHMEM_AUDIT_LOG", log.c_str(), 1);
  testing::internal::CaptureStderr();
  auto contents = [&] {
    std::stringstream text;
    text << std::ifstream(log).rdbuf();
    return text.str();
  };
  {
    const std::time_t now = std::time(nullptr);
    auto watch = ExpiryWatch::start("/etc/pe.pem", {now - 60, now + 2}, {});
    ASSERT_TRUE(watch.ok());
    EXPECT_THAT(contents(), HasSubstr("\"certificate-expiring\",\"subject\":\"/etc/pe.pem\""));
    auto deadline = Deadline::after_seconds(60);
    while (contents().find("certificate-expired") == std::string::npos && !deadline.expired()) {
      std::this_thread::yield();
    }
  }
  EXPECT_THAT(contents(), HasSubstr("\"certificate-expired\",\"subject\":\"/etc/pe.pem\""));
  std::string said = testing::internal::GetCapturedStderr();
  EXPECT_THAT(said, HasSubstr("TLS: certificate /etc/pe.pem expires within 30 days"));
  EXPECT_THAT(said, HasSubstr("TLS: certificate /etc/pe.pem has expired on"));
  unsetenv("SHMEM_AUDIT_LOG");
  unlink(log.c_str());
  rmdir(pattern.c_str());
}

// A good certificate says nothing, and the end of the watch does not wait for the next look.
TEST(Expiry, AGoodCertificateIsSilent) {
  testing::internal::CaptureStderr();
  {
    const std::time_t now = std::time(nullptr);
    auto watch = ExpiryWatch::start("good", {now - 60, now + 365 * kDay}, {});
    ASSERT_TRUE(watch.ok());
  }
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "");
}

}  // namespace
}  // namespace symm::net
