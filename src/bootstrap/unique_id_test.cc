#include "bootstrap/unique_id.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <stdlib.h>

#include <cstring>

#include "base/unique_fd.h"
#include "net/listen.h"

namespace symm::bootstrap {
namespace {

using testing::HasSubstr;

UniqueId sample(const char* host) {
  UniqueId id;
  id.my_pe = 3;
  id.n_pes = 8;
  id.listen_fd = 17;
  id.address = net::resolve(net::parse_literal(host, 4711).value()).value().front();
  id.magic = 0x1122334455667788u;
  id.secret = std::string(32, 's');
  return id;
}

TEST(UniqueId, RoundTrip) {
  for (const char* host : {"127.0.0.1", "fd00::1"}) {
    auto bytes = encode(sample(host));
    auto back = decode_unique_id(bytes.data());
    ASSERT_TRUE(back.ok()) << back.status().to_string();
    EXPECT_EQ(back.value().my_pe, 3);
    EXPECT_EQ(back.value().n_pes, 8);
    EXPECT_EQ(back.value().listen_fd, 17);
    EXPECT_EQ(back.value().address.host(), host);
    EXPECT_EQ(back.value().address.port(), 4711);
    EXPECT_EQ(back.value().magic, 0x1122334455667788u);
    EXPECT_EQ(back.value().secret, std::string(32, 's'));
  }
}

// Programs overlay this struct on the bytes.
struct Overlay {
  int32_t version;
  int my_pe;
  int n_pes;
  int32_t fd;
  union {
    sockaddr any;
    sockaddr_in v4;
    sockaddr_in6 v6;
  } address;
  int family;
  uint64_t magic;
};

TEST(UniqueId, HasTheKnownLayout) {
  auto bytes = encode(sample("127.0.0.1"));
  Overlay overlay;
  std::memcpy(&overlay, bytes.data(), sizeof overlay);
  EXPECT_EQ(overlay.version, 65672);
  EXPECT_EQ(overlay.my_pe, 3);
  EXPECT_EQ(overlay.fd, 17);
  EXPECT_EQ(overlay.address.v4.sin_family, AF_INET);
  EXPECT_EQ(ntohs(overlay.address.v4.sin_port), 4711);
  EXPECT_EQ(overlay.family, 0);
  EXPECT_EQ(overlay.magic, 0x1122334455667788u);
  bytes = encode(sample("fd00::1"));
  std::memcpy(&overlay, bytes.data(), sizeof overlay);
  EXPECT_EQ(overlay.address.v6.sin6_family, AF_INET6);
  EXPECT_EQ(overlay.family, 1);
}

// FAULTS A14, SEMANTICS H17.
TEST(UniqueId, BadBytesAreRefused) {
  EXPECT_EQ(decode_unique_id(nullptr).status().code(), Code::kInvalidParam);
  UniqueIdBytes zeros{};
  EXPECT_THAT(std::string(decode_unique_id(zeros.data()).status().text()), HasSubstr("version 0"));
  int32_t version = kUniqueIdVersion;
  std::memcpy(zeros.data(), &version, sizeof version);
  EXPECT_THAT(std::string(decode_unique_id(zeros.data()).status().text()),
              HasSubstr("no IPv4 or IPv6 address"));
  auto good = encode(sample("127.0.0.1"));
  for (size_t at : {20u, 50u, 70u, 95u, 100u}) {
    auto damaged = good;
    damaged[at] ^= 0x40;
    auto decoded = decode_unique_id(damaged.data());
    EXPECT_FALSE(decoded.ok()) << at;
  }
  good[4] = 99;  // my_pe is the program's
  EXPECT_TRUE(decode_unique_id(good.data()).ok());
}

class MakeUniqueId : public testing::Test {
 protected:
  void TearDown() override {
    unsetenv("SHMEM_UID_SESSION_ID");
    unsetenv("SHMEM_UID_SOCK_IFNAME");
  }
};

TEST_F(MakeUniqueId, ListensAtTheAddressInside) {
  setenv("SHMEM_UID_SOCK_IFNAME", "lo:inet4", 1);
  auto id = make_unique_id();
  ASSERT_TRUE(id.ok()) << id.status().to_string();
  UniqueFd fd(id.value().listen_fd);
  EXPECT_EQ(id.value().address.host(), "127.0.0.1");
  EXPECT_EQ(net::local_address(fd.get()).value().port(), id.value().address.port());
  EXPECT_EQ(id.value().secret.size(), 32u);
  auto other = make_unique_id();
  ASSERT_TRUE(other.ok());
  UniqueFd other_fd(other.value().listen_fd);
  EXPECT_NE(other.value().magic, id.value().magic);
  EXPECT_NE(other.value().secret, id.value().secret);
}

TEST_F(MakeUniqueId, AutomaticChoiceWorks) {
  auto id = make_unique_id();
  ASSERT_TRUE(id.ok()) << id.status().to_string();
  UniqueFd fd(id.value().listen_fd);
  EXPECT_NE(id.value().address.port(), 0);
}

TEST_F(MakeUniqueId, SessionIdWinsAndItsErrorsAreInvalidParam) {
  setenv("SHMEM_UID_SOCK_IFNAME", "no_such_if", 1);
  EXPECT_THAT(std::string(make_unique_id().status().text()),
              HasSubstr("fits SHMEM_UID_SOCK_IFNAME"));
  for (const char* text : {"", "127.0.0.1", "127.0.0.1:", "[::1:8000", "no-such-host.invalid:8000",
                           "127.0.0.1:1000"}) {
    setenv("SHMEM_UID_SESSION_ID", text, 1);
    EXPECT_EQ(make_unique_id().status().code(), Code::kInvalidParam) << text;
  }
  auto holder =
      net::listen_on(net::parse_literal("127.0.0.1", 0).value(), Deadline::after_seconds(0));
  ASSERT_TRUE(holder.ok());
  setenv("SHMEM_UID_SESSION_ID", fmt::format("127.0.0.1:{}", holder.value().port).c_str(), 1);
  auto busy = make_unique_id();
  EXPECT_EQ(busy.status().code(), Code::kInvalidParam);
  EXPECT_THAT(std::string(busy.status().text()), HasSubstr("held by another process"));
  holder.value().fds.clear();
  auto good = make_unique_id();
  ASSERT_TRUE(good.ok()) << good.status().to_string();
  UniqueFd fd(good.value().listen_fd);
  EXPECT_EQ(good.value().address.port(), holder.value().port);
}

}  // namespace
}  // namespace symm::bootstrap
