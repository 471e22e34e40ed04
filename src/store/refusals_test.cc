// What is kept and written about refused connections, and the audit log. FAULTS P5.
#include "store/refusals.h"

#include <gmock/gmock.h>
#include <sys/stat.h>

#include <cstdlib>
#include <fstream>
#include <nlohmann/json.hpp>

#include "base/audit.h"

namespace symm::store {
namespace {

using testing::HasSubstr;

class AuditLog : public testing::Test {
 protected:
  void SetUp() override {
    std::string pattern = testing::TempDir() + "symm_audit_XXXXXX";
    ASSERT_NE(mkdtemp(pattern.data()), nullptr);
    folder_ = pattern;
    path_ = folder_ + "/audit.log";
    setenv("SHMEM_AUDIT_LOG", path_.c_str(), 1);
  }
  void TearDown() override {
    unsetenv("SHMEM_AUDIT_LOG");
    unlink(path_.c_str());
    rmdir(folder_.c_str());
  }
  std::vector<nlohmann::json> lines() const {
    std::vector<nlohmann::json> out;
    std::ifstream file(path_);
    for (std::string line; std::getline(file, line);) out.push_back(nlohmann::json::parse(line));
    return out;
  }
  std::string folder_;
  std::string path_;
};

TEST_F(AuditLog, FaultP5_ALineHoldsWhoAndWhyWhateverThePeerSent) {
  Refusals refusals;
  refusals.add("1.2.3.4:5 (PE 3)", std::string("begins with '\"\\\n\0\xFF'", 18));
  auto got = lines();
  ASSERT_EQ(got.size(), 1U);
  EXPECT_EQ(got[0]["event"], "refused-connection");
  EXPECT_EQ(got[0]["subject"], "1.2.3.4:5 (PE 3)");
  EXPECT_EQ(got[0]["pid"], getpid());
  EXPECT_THAT(got[0]["reason"].get<std::string>(), HasSubstr("begins with '\"\\\n"));
  EXPECT_THAT(got[0]["time"].get<std::string>(), testing::EndsWith("Z"));
  struct stat info = {};
  ASSERT_EQ(stat(path_.c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 0777, 0600U);
}

TEST_F(AuditLog, FaultP5_TheRateIsBoundedAndWhatIsLeftOutIsCounted) {
  Refusals refusals;
  const Clock::time_point start = Clock::now();
  for (int i = 0; i < 1000; ++i) refusals.add("1.2.3.4:5", "junk", start);
  EXPECT_EQ(lines().size(), static_cast<size_t>(Refusals::kLinesPerSecond));
  refusals.add("1.2.3.4:5", "junk", start + std::chrono::seconds(2));
  auto got = lines();
  ASSERT_EQ(got.size(), static_cast<size_t>(Refusals::kLinesPerSecond) + 2);
  EXPECT_EQ(got[Refusals::kLinesPerSecond]["count"], 1000 - Refusals::kLinesPerSecond);
  EXPECT_EQ(refusals.total(), 1001U);
}

TEST_F(AuditLog, StraysDoNotPushOutAReason) {
  Refusals refusals;
  for (int i = 0; i < 5000; ++i) refusals.add("9.9.9.9:1", "closed without a word");
  refusals.add("1.2.3.4:5 (PE 3)", "its job secret differs");
  for (int i = 0; i < 5000; ++i) refusals.add("9.9.9.9:1", fmt::format("junk {}", i));
  ASSERT_EQ(refusals.kept().size(), Refusals::kMaxKept);
  EXPECT_EQ(refusals.kept()[0].count, 5000U);
  EXPECT_EQ(refusals.kept()[1].peer, "1.2.3.4:5 (PE 3)");
  EXPECT_EQ(refusals.kept()[1].why, "its job secret differs");
}

TEST_F(AuditLog, AFileThatCannotBeUsedIsAnError) {
  EXPECT_TRUE(audit::check().ok());
  setenv("SHMEM_AUDIT_LOG", "relative.log", 1);
  EXPECT_THAT(std::string(audit::check().text()), HasSubstr("give an absolute path"));
  setenv("SHMEM_AUDIT_LOG", (folder_ + "/no/such/folder").c_str(), 1);
  EXPECT_THAT(std::string(audit::check().text()), HasSubstr("cannot be opened for writing"));
  setenv("SHMEM_AUDIT_LOG", folder_.c_str(), 1);
  EXPECT_EQ(audit::check().code(), Code::kInvalidValue);
}

}  // namespace
}  // namespace symm::store
