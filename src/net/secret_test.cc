#include "net/secret.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <thread>
#include <vector>

namespace symm::net {
namespace {

using testing::HasSubstr;

class SecretFile : public testing::Test {
 protected:
  void SetUp() override {
    std::string pattern = testing::TempDir() + "symm_secret_XXXXXX";
    ASSERT_NE(mkdtemp(pattern.data()), nullptr);
    folder_ = pattern;
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }
  std::string path(const char* name = "secret") const { return folder_ + "/a/b/" + name; }
  void write(const std::string& bytes, mode_t mode) {
    std::filesystem::create_directories(folder_ + "/a/b");
    std::ofstream(path()) << bytes;
    ASSERT_EQ(chmod(path().c_str(), mode), 0);
  }
  std::string failure() {
    auto secret = user_secret(path());
    EXPECT_FALSE(secret.ok());
    EXPECT_EQ(secret.status().code(), Code::kInvalidValue);
    return std::string(secret.status().text());
  }
  std::string folder_;
};

TEST_F(SecretFile, IsMadeOnceWithTheRightMode) {
  auto first = user_secret(path());
  ASSERT_TRUE(first.ok()) << first.status().to_string();
  EXPECT_EQ(first.value().size(), kSecretBytes);
  struct stat info;
  ASSERT_EQ(stat(path().c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 07777, 0600u);
  ASSERT_EQ(stat((folder_ + "/a").c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 07777, 0700u);
  EXPECT_EQ(user_secret(path()).value(), first.value());
  EXPECT_NE(user_secret(path("other")).value(), first.value());
}

TEST_F(SecretFile, ManyAtOnceAgree) {
  std::vector<std::string> seen(16);
  std::vector<std::thread> threads;
  for (std::string& slot : seen) {
    threads.emplace_back([&] {
      auto secret = user_secret(path());
      if (secret.ok()) slot = secret.value();
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (const std::string& slot : seen) EXPECT_EQ(slot, seen.front());
  EXPECT_EQ(seen.front().size(), kSecretBytes);
  // No temporary file is left behind.
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(folder_ + "/a/b"), {}), 1);
}

TEST_F(SecretFile, OpenToOthersIsRefused) {
  write(std::string(32, 'x'), 0640);
  EXPECT_THAT(failure(), HasSubstr("mode 0640"));
}

TEST_F(SecretFile, TooShortIsRefused) {
  write("short", 0600);
  EXPECT_THAT(failure(), HasSubstr("5 bytes"));
}

TEST_F(SecretFile, ALinkIsRefused) {
  write(std::string(32, 'x'), 0600);
  std::filesystem::rename(path(), path("target"));
  std::filesystem::create_symlink(path("target"), path());
  EXPECT_THAT(failure(), HasSubstr("symbolic link"));
}

TEST_F(SecretFile, AFolderIsRefused) {
  std::filesystem::create_directories(path());
  EXPECT_THAT(failure(), HasSubstr("not a regular file"));
}

TEST_F(SecretFile, AnotherOwnerIsRefused) {
  write(std::string(32, 'x'), 0600);
  if (chown(path().c_str(), geteuid() + 1, static_cast<gid_t>(-1)) != 0) {
    // Without the right to give files away, a foreign file is simply not readable.
    ASSERT_NE(geteuid(), 0u);
    return;
  }
  EXPECT_THAT(failure(), HasSubstr("belongs to user"));
}

class SecretChoice : public SecretFile {
 protected:
  void SetUp() override {
    SecretFile::SetUp();
    unsetenv("SHMEM_JOB_SECRET");
    setenv("SHMEM_SECRET_FILE", path().c_str(), 1);
  }
  void TearDown() override {
    unsetenv("SHMEM_JOB_SECRET");
    unsetenv("SHMEM_SECRET_FILE");
    SecretFile::TearDown();
  }
};

TEST_F(SecretChoice, Order) {
  std::string id(32, 'u');
  auto file = find_secret("");
  ASSERT_TRUE(file.ok());
  EXPECT_EQ(file.value().kind, KeyKind::kUserFile);
  EXPECT_THAT(file.value().source, HasSubstr(path()));
  auto unique = find_secret(id);
  ASSERT_TRUE(unique.ok());
  EXPECT_EQ(unique.value().kind, KeyKind::kUniqueId);
  EXPECT_EQ(unique.value().bytes, id);
  setenv("SHMEM_JOB_SECRET", "0123456789abcdef", 1);
  auto job = find_secret(id);
  ASSERT_TRUE(job.ok());
  EXPECT_EQ(job.value().kind, KeyKind::kJobSecret);
  setenv("SHMEM_JOB_SECRET", "short", 1);
  EXPECT_EQ(find_secret(id).status().code(), Code::kInvalidValue);
}

TEST_F(SecretChoice, PathMustBeAbsolute) {
  setenv("SHMEM_SECRET_FILE", "relative/secret", 1);
  EXPECT_EQ(user_secret_path().status().code(), Code::kInvalidValue);
  unsetenv("SHMEM_SECRET_FILE");
  EXPECT_TRUE(user_secret_path().value().ends_with("/.config/anyshmem/secret"));
}

// RFC 5869, test case 1, first 32 bytes.
TEST(DeriveKey, KnownAnswer) {
  std::string secret(22, '\x0b');
  std::string salt;
  for (int i = 0; i <= 12; ++i) salt += static_cast<char>(i);
  std::string info;
  for (int i = 0xf0; i <= 0xf9; ++i) info += static_cast<char>(i);
  Key expected = {0x3c, 0xb2, 0x5f, 0x25, 0xfa, 0xac, 0xd5, 0x7a, 0x90, 0x43, 0x4f,
                  0x64, 0xd0, 0x36, 0x2f, 0x2a, 0x2d, 0x2d, 0x0a, 0x90, 0xcf, 0x1a,
                  0x5a, 0x4c, 0x5d, 0xb0, 0x2d, 0x56, 0xec, 0xc4, 0xc5, 0xbf};
  EXPECT_EQ(derive_key(secret, salt, info).value(), expected);
}

TEST(DeriveKey, AnEmptySecretStillGivesAKey) {
  auto a = derive_key("", "salt", "info");
  ASSERT_TRUE(a.ok()) << a.status().to_string();
  EXPECT_NE(a.value(), derive_key("", "other salt", "info").value());
}

}  // namespace
}  // namespace symm::net
