#include "shmem-run/hosts.h"

#include <gtest/gtest.h>

namespace symm::launcher {
namespace {

TEST(Hosts, NamesAndSlots) {
  auto hosts = parse_hosts("one,two:4,[fd00::1]:2,[fe80::1%eth0],user@three,one:2");
  ASSERT_TRUE(hosts.ok()) << hosts.status().text();
  const std::vector<std::pair<std::string, int>> wanted = {
      {"one", 3}, {"two", 4}, {"fd00::1", 2}, {"fe80::1%eth0", 1}, {"user@three", 1}};
  ASSERT_EQ(hosts.value().size(), wanted.size());
  for (size_t i = 0; i < wanted.size(); ++i) {
    EXPECT_EQ(hosts.value()[i].name, wanted[i].first);
    EXPECT_EQ(hosts.value()[i].slots, wanted[i].second);
  }
  EXPECT_EQ(total_slots(hosts.value()), 11);
}

TEST(Hosts, MistakesAreQuoted) {
  for (const char* text :
       {"", ",", "a,,b", ":4", "a:", "a:0", "a:x", "a:-1", "a:99999", "fd00::1", "[fd00::1",
        "[fd00::1]4", "[fd00::1]:", "-oProxyCommand=x", "a b", "a;b", "$(x)"}) {
    EXPECT_EQ(parse_hosts(text).status().code(), Code::kInvalidParam) << text;
  }
}

TEST(Hosts, PlacementFillsEachHost) {
  auto hosts = parse_hosts("a:2,b,c:3").value();
  auto placed = place_pes(hosts, 4, false);
  ASSERT_TRUE(placed.ok());
  EXPECT_EQ(placed.value(), (std::vector<std::vector<int>>{{0, 1}, {2}, {3}}));
}

TEST(Hosts, MorePesThanSlots) {
  auto hosts = parse_hosts("a:2,b").value();
  EXPECT_EQ(place_pes(hosts, 4, false).status().code(), Code::kInvalidParam);
  EXPECT_EQ(place_pes(hosts, 7, true).value(),
            (std::vector<std::vector<int>>{{0, 1, 3, 4, 6}, {2, 5}}));
}

TEST(Hosts, ThisHost) {
  EXPECT_TRUE(is_this_host("localhost"));
  EXPECT_TRUE(is_this_host("::1"));
  EXPECT_FALSE(is_this_host("127.0.0.2"));
}

}  // namespace
}  // namespace symm::launcher
