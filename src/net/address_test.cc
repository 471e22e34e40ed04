#include "net/address.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "net/interfaces.h"
#include "net/tls_info.h"

namespace symm::net {
namespace {

using testing::HasSubstr;

TEST(ParseUrl, Good) {
  auto a = parse_url("tcp://127.0.0.1:1025");
  ASSERT_TRUE(a.ok());
  EXPECT_EQ(a.value().to_string(), "127.0.0.1:1025");
  EXPECT_TRUE(a.value().literal);
  EXPECT_EQ(a.value().family, Family::kV4);
  auto b = parse_url("tcp6://[fe80::1%eth0]:65535");
  ASSERT_TRUE(b.ok());
  EXPECT_EQ(b.value().host, "fe80::1");
  EXPECT_EQ(b.value().scope, "eth0");
  EXPECT_EQ(b.value().to_string(), "[fe80::1%eth0]:65535");
  EXPECT_TRUE(parse_url("tcp://[::1]:2000").ok());
  auto c = parse_url("tcp://node-1.example.org:8666");
  ASSERT_TRUE(c.ok());
  EXPECT_FALSE(c.value().literal);
  EXPECT_EQ(c.value().family, Family::kAny);
  auto d = parse_url("tcp6://localhost:8666");
  ASSERT_TRUE(d.ok());
  EXPECT_EQ(d.value().family, Family::kV6);
}

TEST(ParseUrl, Bad) {
  std::string long_name(254, 'a');
  for (const std::string& text : {std::string(""),
                                  std::string("tcp://"),
                                  std::string("127.0.0.1:2000"),
                                  std::string("udp://127.0.0.1:2000"),
                                  std::string("tcp://127.0.0.1"),
                                  std::string("tcp://127.0.0.1:"),
                                  std::string("tcp://127.0.0.1:0"),
                                  std::string("tcp://127.0.0.1:1024"),
                                  std::string("tcp://127.0.0.1:65536"),
                                  std::string("tcp://127.0.0.1:99999999999"),
                                  std::string("tcp://127.0.0.1:20x"),
                                  std::string("tcp://127.0.0.1:-2000"),
                                  std::string("tcp://127.0.0.1: 2000"),
                                  std::string("tcp://256.0.0.1:2000"),
                                  std::string("tcp://1.2.3:2000"),
                                  std::string("tcp://::1:2000"),
                                  std::string("tcp6://::1:2000"),
                                  std::string("tcp6://[::1:2000"),
                                  std::string("tcp6://[::1]"),
                                  std::string("tcp6://[::1]2000"),
                                  std::string("tcp6://127.0.0.1:2000"),
                                  std::string("tcp6://[127.0.0.1]:2000"),
                                  std::string("tcp6://[::1%]:2000"),
                                  std::string("tcp6://[::1%a/b]:2000"),
                                  std::string("tcp://a_b:2000"),
                                  std::string("tcp://a b:2000"),
                                  std::string("tcp://[name]:2000"),
                                  std::string("tcp://:2000"),
                                  std::string("tcp://127.0.0.1%eth0:2000"),
                                  "tcp://" + long_name + ":2000"}) {
    auto parsed = parse_url(text);
    EXPECT_FALSE(parsed.ok()) << text;
    EXPECT_EQ(parsed.status().code(), Code::kInvalidParam) << text;
  }
}

TEST(ParseSessionId, Good) {
  EXPECT_EQ(parse_session_id("10.0.0.1:1024").value().to_string(), "10.0.0.1:1024");
  EXPECT_EQ(parse_session_id("[::1]:8899").value().family, Family::kV6);
  EXPECT_EQ(parse_session_id("[fe80::1%eth0]:8899").value().scope, "eth0");
  EXPECT_EQ(parse_session_id("localhost:8899").value().host, "localhost");
  EXPECT_EQ(parse_session_id("[localhost]:8899").value().family, Family::kV6);
  auto bare = parse_session_id("fe80::2:8899");
  ASSERT_TRUE(bare.ok());
  EXPECT_EQ(bare.value().host, "fe80::2");
  EXPECT_EQ(bare.value().port, 8899);
}

TEST(ParseSessionId, Bad) {
  for (const char* text : {"", "10.0.0.1", "10.0.0.1:", "[::1]", "[::1]:", "[::1:8899", "host:1023",
                           "host:886", ":8899", "host:port", "[]:8899"}) {
    EXPECT_EQ(parse_session_id(text).status().code(), Code::kInvalidParam) << text;
  }
}

// Found by fuzzing.
TEST(ParseSessionId, AZeroByteDoesNotEndALiteral) {
  EXPECT_FALSE(parse_session_id(std::string("88::2\0]:65535", 13)).ok());
  EXPECT_FALSE(parse_session_id(std::string("[::1\0x]:2000", 12)).ok());
  EXPECT_FALSE(parse_url(std::string("tcp://127.0.0.1\0x:2000", 22)).ok());
}

TEST(ParseInterfaceSpec, Forms) {
  auto a = parse_interface_spec("eth0:inet6");
  ASSERT_TRUE(a.ok());
  EXPECT_EQ(a.value().family, Family::kV6);
  EXPECT_THAT(a.value().prefixes, testing::ElementsAre("eth0"));
  auto b = parse_interface_spec("^docker,veth:inet4");
  ASSERT_TRUE(b.ok());
  EXPECT_TRUE(b.value().exclude);
  EXPECT_EQ(b.value().family, Family::kV4);
  EXPECT_THAT(b.value().prefixes, testing::ElementsAre("docker", "veth"));
  auto c = parse_interface_spec("eth:ipv9");
  ASSERT_TRUE(c.ok());
  EXPECT_EQ(c.value().unknown_suffix, "ipv9");
  EXPECT_EQ(c.value().family, Family::kAny);
  for (const char* text : {"", ":inet4", "^", "a,,b", "an_interface_name_of_22"}) {
    EXPECT_FALSE(parse_interface_spec(text).ok()) << text;
  }
}

InterfaceAddress make(const char* name, const char* host, bool up = true, bool loopback = false) {
  InterfaceAddress out;
  out.name = name;
  out.address = resolve(parse_literal(host, 0).value()).value().front();
  out.up = up;
  out.loopback = loopback;
  return out;
}

std::vector<InterfaceAddress> zoo() {
  return {make("lo", "127.0.0.1", true, true),
          make("lo", "::1", true, true),
          make("docker0", "172.17.0.1"),
          make("veth12", "10.1.1.1"),
          make("eth9", "10.9.9.9", false),
          make("eth0", "fe80::5"),
          make("eth0", "fd00::5"),
          make("eth1", "192.168.1.5"),
          make("eth2", "192.168.2.5")};
}

std::string chosen(const std::vector<InterfaceAddress>& list, const char* spec_text = nullptr,
                   std::vector<SocketAddress> preferred = {}) {
  std::optional<InterfaceSpec> spec;
  if (spec_text != nullptr) spec = parse_interface_spec(spec_text).value();
  auto out = choose_address(list, spec, preferred);
  return out.ok() ? out.value().address.host() : std::string(out.status().text());
}

// FAULTS A1, A7.
TEST(ChooseAddress, Automatic) {
  EXPECT_EQ(chosen(zoo()), "192.168.1.5");
  EXPECT_EQ(chosen(zoo(), nullptr, {make("", "192.168.2.5").address}), "192.168.2.5");
  EXPECT_EQ(chosen({make("lo", "127.0.0.1", true, true), make("eth0", "fe80::5"),
                    make("eth0", "fd00::5")}),
            "fd00::5");
  EXPECT_EQ(chosen({make("docker0", "172.17.0.1"), make("lo", "127.0.0.1", true, true)}),
            "127.0.0.1");
  EXPECT_EQ(chosen({make("lo", "::1", true, true)}), "::1");
  EXPECT_THAT(chosen({make("docker0", "172.17.0.1"), make("eth9", "10.9.9.9", false)}),
              HasSubstr("docker0 172.17.0.1 (virtual), eth9 10.9.9.9 (down)"));
  EXPECT_THAT(chosen({}), HasSubstr("seen: none"));
}

TEST(ChooseAddress, BySpec) {
  EXPECT_EQ(chosen(zoo(), "eth2"), "192.168.2.5");
  EXPECT_EQ(chosen(zoo(), "eth"), "192.168.1.5");  // a prefix; IPv4 first
  EXPECT_EQ(chosen(zoo(), "eth:inet6"), "fd00::5");
  EXPECT_EQ(chosen(zoo(), "docker"), "172.17.0.1");
  EXPECT_EQ(chosen(zoo(), "lo:inet6"), "::1");
  EXPECT_EQ(chosen(zoo(), "^eth1"), "192.168.2.5");
  std::string none = chosen(zoo(), "wlan");
  EXPECT_THAT(none, HasSubstr("fits SHMEM_UID_SOCK_IFNAME"));
  EXPECT_THAT(none, HasSubstr("eth1 192.168.1.5 (not selected)"));
  EXPECT_THAT(chosen(zoo(), "eth9"), HasSubstr("eth9 10.9.9.9 (down)"));
}

TEST(Interfaces, ListHasLoopback) {
  auto list = list_interfaces();
  ASSERT_TRUE(list.ok());
  EXPECT_TRUE(std::any_of(list.value().begin(), list.value().end(),
                          [](const auto& item) { return item.loopback; }));
}

TEST(Resolve, LiteralsAndNames) {
  auto scoped = parse_literal("fe80::1%lo", 5).value();
  EXPECT_EQ(resolve(scoped).value().front().to_string(), "[fe80::1%lo]:5");
  auto missing = parse_literal("fe80::1%nowhere9", 5).value();
  EXPECT_THAT(std::string(resolve(missing).status().text()), HasSubstr("no interface 'nowhere9'"));
  auto local = resolve(parse_url("tcp://localhost:2000").value());
  ASSERT_TRUE(local.ok());
  EXPECT_TRUE(local.value().front().is_loopback());
  EXPECT_EQ(local.value().front().port(), 2000);
  EXPECT_EQ(resolve(parse_url("tcp://no-such-host.invalid:2000").value()).status().code(),
            Code::kInvalidParam);
}

TEST(ParseTlsInfo, Good) {
  auto info = parse_tls_info(
      " tlsCaPath : /ca ; tlsCaFile: a.pem , b.pem;tlsCert:/c.pem;tlsCrlPath:/crl;"
      "tlsCrlFile:x.pem; tlsPk:ignored; packagePath:/usr/lib;;");
  ASSERT_TRUE(info.ok()) << info.status().to_string();
  EXPECT_EQ(info.value().ca_path, "/ca");
  EXPECT_THAT(info.value().ca_files, testing::ElementsAre("a.pem", "b.pem"));
  EXPECT_EQ(info.value().certificate, "/c.pem");
  EXPECT_EQ(info.value().crl_path, "/crl");
  EXPECT_THAT(info.value().crl_files, testing::ElementsAre("x.pem"));
  EXPECT_EQ(join_path("/ca", "a.pem"), "/ca/a.pem");
  EXPECT_EQ(join_path("/ca/", "a.pem"), "/ca/a.pem");
  EXPECT_EQ(join_path("/ca", "/b.pem"), "/b.pem");
}

TEST(ParseTlsInfo, Bad) {
  EXPECT_THAT(std::string(parse_tls_info("tlsCaPath:/ca;tlsCert:/c").status().text()),
              HasSubstr("tlsCaFile is missing"));
  EXPECT_FALSE(parse_tls_info("").ok());
  EXPECT_FALSE(parse_tls_info("nothing").ok());
  EXPECT_FALSE(parse_tls_info("tlsCaPath:/ca;tlsCaPath:/cb;tlsCaFile:a;tlsCert:c").ok());
  EXPECT_FALSE(parse_tls_info("tlsCaPath:;tlsCaFile:a;tlsCert:c").ok());
  EXPECT_FALSE(parse_tls_info("tlsCaPath:/a,/b;tlsCaFile:a;tlsCert:c").ok());
  EXPECT_FALSE(parse_tls_info("tlsCaPath:c:/a;tlsCaFile:a;tlsCert:c").ok());
  EXPECT_FALSE(parse_tls_info("tlsCaPath:/a;tlsCaFile:,;tlsCert:c").ok());
  EXPECT_FALSE(parse_tls_info(std::string(kMaxTlsInfo + 1, 'x')).ok());
  EXPECT_FALSE(parse_tls_info(std::string("tlsCaPath:/a\0b", 14)).ok());
}

}  // namespace
}  // namespace symm::net
