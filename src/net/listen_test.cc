#include "net/listen.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace symm::net {
namespace {

using testing::HasSubstr;

const auto kAtOnce = Deadline::after_seconds(0);

bool can_connect(const char* host, uint16_t port) {
  auto to = resolve(parse_literal(host, port).value()).value().front();
  UniqueFd fd(socket(to.family(), SOCK_STREAM | SOCK_CLOEXEC, 0));
  return fd.valid() && connect(fd.get(), to.get(), to.size()) == 0;
}

bool has_v6() {
  UniqueFd fd(socket(AF_INET6, SOCK_STREAM | SOCK_CLOEXEC, 0));
  auto loopback = resolve(parse_literal("::1", 0).value()).value().front();
  return fd.valid() && bind(fd.get(), loopback.get(), loopback.size()) == 0;
}

TEST(Listen, Literal) {
  auto out = listen_on(parse_literal("127.0.0.1", 0).value(), kAtOnce);
  ASSERT_TRUE(out.ok()) << out.status().to_string();
  ASSERT_EQ(out.value().fds.size(), 1u);
  EXPECT_NE(out.value().port, 0);
  EXPECT_TRUE(can_connect("127.0.0.1", out.value().port));
  EXPECT_NE(fcntl(out.value().fds[0].get(), F_GETFD) & FD_CLOEXEC, 0);
}

// FAULTS A9: a name serves both families.
TEST(Listen, LocalhostServesBothFamilies) {
  Address address;
  address.host = "localhost";
  auto out = listen_on(address, kAtOnce);
  ASSERT_TRUE(out.ok()) << out.status().to_string();
  EXPECT_TRUE(can_connect("127.0.0.1", out.value().port));
  auto resolved = resolve(address).value();
  bool named_v6 =
      std::any_of(resolved.begin(), resolved.end(), [](const auto& a) { return a.is_v6(); });
  EXPECT_EQ(can_connect("::1", out.value().port), named_v6 && has_v6());
}

TEST(Listen, V6Literal) {
  auto out = listen_on(parse_literal("::1", 0).value(), kAtOnce);
  ASSERT_EQ(out.ok(), has_v6());
  if (!out.ok()) return;
  EXPECT_TRUE(can_connect("::1", out.value().port));
}

// FAULTS A6.
TEST(Listen, ABusyPortIsNamed) {
  auto holder = listen_on(parse_literal("127.0.0.1", 0).value(), kAtOnce);
  ASSERT_TRUE(holder.ok());
  uint16_t port = holder.value().port;
  auto out = listen_on(parse_literal("127.0.0.1", port).value(), Deadline::after_seconds(0.05));
  ASSERT_FALSE(out.ok());
  EXPECT_EQ(out.status().code(), Code::kInternal);
  EXPECT_THAT(std::string(out.status().text()),
              HasSubstr(fmt::format("port {} is held by another process", port)));
}

TEST(Listen, APortOfClosedConnectionsIsNoObstacle) {
  auto first = listen_on(parse_literal("127.0.0.1", 0).value(), kAtOnce);
  ASSERT_TRUE(first.ok());
  uint16_t port = first.value().port;
  {
    auto to = resolve(parse_literal("127.0.0.1", port).value()).value().front();
    UniqueFd client(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
    ASSERT_EQ(connect(client.get(), to.get(), to.size()), 0);
    UniqueFd accepted(accept4(first.value().fds[0].get(), nullptr, nullptr, SOCK_CLOEXEC));
    ASSERT_TRUE(accepted.valid());
    accepted.reset();  // the server side closes first and keeps the port in TIME_WAIT
    char byte;
    EXPECT_EQ(recv(client.get(), &byte, 1, 0), 0);
  }
  first.value().fds.clear();
  auto second = listen_on(parse_literal("127.0.0.1", port).value(), kAtOnce);
  EXPECT_TRUE(second.ok()) << second.status().to_string();
}

TEST(Listen, AForeignAddressIsNamed) {
  auto out = listen_on(parse_literal("192.0.2.7", 0).value(), kAtOnce);
  ASSERT_FALSE(out.ok());
  EXPECT_THAT(std::string(out.status().text()), HasSubstr("not an address of this host"));
}

TEST(Listen, AdoptsABoundSocket) {
  UniqueFd fd(socket(AF_INET, SOCK_STREAM, 0));
  auto at = resolve(parse_literal("127.0.0.1", 0).value()).value().front();
  EXPECT_THAT(std::string(adopt_listener(fd.get()).status().text()), HasSubstr("not bound"));
  ASSERT_EQ(bind(fd.get(), at.get(), at.size()), 0);
  auto out = adopt_listener(fd.get());
  ASSERT_TRUE(out.ok()) << out.status().to_string();
  fd.release();
  EXPECT_TRUE(can_connect("127.0.0.1", out.value().port));
}

TEST(Listen, DoesNotAdoptOtherThings) {
  EXPECT_EQ(adopt_listener(-1).status().code(), Code::kInvalidParam);
  UniqueFd file(open("/dev/null", O_RDONLY | O_CLOEXEC));
  EXPECT_EQ(adopt_listener(file.get()).status().code(), Code::kInvalidParam);
  UniqueFd datagram(socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0));
  EXPECT_EQ(adopt_listener(datagram.get()).status().code(), Code::kInvalidParam);
}

}  // namespace
}  // namespace symm::net
