// The PMI-1 client and the steps over it, against a stand-in for a launcher's server.
#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <string>
#include <thread>
#include <vector>

#include "base/status.h"
#include "bootstrap/pmix/kvs_group.h"
#include "bootstrap/pmix/pmi1_client.h"
#include "bootstrap/pmix/pmi1_server.h"

namespace symm::bootstrap {
namespace {

using testing::HasSubstr;

Deadline soon() { return Deadline::after_seconds(30); }

symm_bootstrap_config unset_config() {
  symm_bootstrap_config config{};
  config.size = sizeof config;
  config.pe = -1;
  config.connect_timeout_s = 30;
  config.operation_timeout_s = 30;
  return config;
}

template <typename Body>
void run_pes(int n_pes, Body body) {
  std::vector<std::thread> threads;
  for (int pe = 0; pe < n_pes; ++pe) threads.emplace_back(body, pe);
  for (std::thread& thread : threads) thread.join();
}

std::unique_ptr<KvsGroup> open_group(Pmi1Server& server, int pe, int n_pes,
                                     symm_bootstrap_config config = unset_config()) {
  auto client = Pmi1Client::open(server.fd(pe), pe, n_pes, soon());
  EXPECT_TRUE(client.ok()) << client.status().to_string();
  if (!client.ok()) return nullptr;
  auto group = KvsGroup::open(client.value(), 0, config);
  EXPECT_TRUE(group.ok()) << group.status().to_string();
  if (!group.ok()) return nullptr;
  EXPECT_EQ(config.pe, pe);
  EXPECT_EQ(config.n_pes, n_pes);
  return std::move(group).value();
}

TEST(Pmi1Line, Words) {
  auto words = parse_pmi1_line("cmd=get_result rc=-1 msg=key not found value=a=b");
  EXPECT_EQ(words["cmd"], "get_result");
  EXPECT_EQ(words["rc"], "-1");
  EXPECT_EQ(words["msg"], "key not found");
  EXPECT_EQ(words["value"], "a=b");
  EXPECT_TRUE(parse_pmi1_line("").empty());
  EXPECT_TRUE(parse_pmi1_line("  junk junk ").empty());
}

class Steps : public testing::TestWithParam<int> {};

TEST_P(Steps, AllgatherBarrierAndKey) {
  int n_pes = GetParam();
  Pmi1Server server(n_pes, {});
  std::vector<std::string> keys(static_cast<size_t>(n_pes));
  run_pes(n_pes, [&](int pe) {
    auto group = open_group(server, pe, n_pes);
    ASSERT_NE(group, nullptr);
    for (size_t bytes : {size_t{0}, size_t{1}, size_t{455}, size_t{456}, size_t{5000}}) {
      std::string mine(bytes, static_cast<char>('a' + pe));
      std::string all(bytes * static_cast<size_t>(n_pes), '?');
      Status status = group->allgather(mine.data(), bytes, all.data(), "numbers");
      ASSERT_TRUE(status.ok()) << status.to_string();
      for (int other = 0; other < n_pes; ++other) {
        EXPECT_EQ(all.substr(static_cast<size_t>(other) * bytes, bytes),
                  std::string(bytes, static_cast<char>('a' + other)));
      }
    }
    EXPECT_TRUE(group->barrier("end").ok());
    uint8_t key[32];
    EXPECT_TRUE(group->job_key(key).ok());
    keys[pe].assign(reinterpret_cast<char*>(key), sizeof key);
  });
  server.stop();
  for (const std::string& key : keys) EXPECT_EQ(key, keys[0]);
  EXPECT_NE(keys[0], std::string(32, '\0'));
  EXPECT_EQ(server.goodbyes(), n_pes);
  EXPECT_LT(server.longest_value(), 1024U);
  EXPECT_LE(server.longest_key(), 64U);
}

INSTANTIATE_TEST_SUITE_P(Sizes, Steps, testing::Values(1, 2, 3, 8));

TEST(Pmi1, ShortValuesMakeMoreParts) {
  Pmi1Server server(2, {.vallen_max = 128});
  run_pes(2, [&](int pe) {
    auto group = open_group(server, pe, 2);
    ASSERT_NE(group, nullptr);
    std::string mine(300, static_cast<char>('a' + pe));
    std::string all(600, '?');
    ASSERT_TRUE(group->allgather(mine.data(), 300, all.data(), "parts").ok());
    EXPECT_EQ(all, std::string(300, 'a') + std::string(300, 'b'));
  });
  server.stop();
  EXPECT_LT(server.longest_value(), 128U);
}

TEST(Pmi1, MismatchReachesAll) {
  Pmi1Server server(3, {});
  run_pes(3, [&](int pe) {
    auto group = open_group(server, pe, 3);
    ASSERT_NE(group, nullptr);
    char all[24];
    Status status = pe == 1 ? group->barrier("free") : group->allgather("x", 1, all, "malloc");
    EXPECT_EQ(status.code(), Code::kInternal);
    EXPECT_THAT(std::string(status.text()), HasSubstr("barrier 'free'"));
    EXPECT_THAT(std::string(status.text()), HasSubstr("allgather 'malloc' of 1 bytes"));
    status = group->allgather("12345678", pe == 2 ? 8 : 4, all, "sizes");
    EXPECT_EQ(status.code(), Code::kInternal);
    EXPECT_TRUE(group->barrier("goes on").ok());
  });
}

TEST(Pmi1, ClaimsAreComparedOnAllPes) {
  Pmi1Server server(2, {});
  run_pes(2, [&](int pe) {
    auto client = Pmi1Client::open(server.fd(pe), pe, 2, soon());
    ASSERT_TRUE(client.ok());
    symm_bootstrap_config config = unset_config();
    config.pe = 0;
    config.n_pes = 2;
    auto group = KvsGroup::open(client.value(), 0, config);
    ASSERT_FALSE(group.ok());
    EXPECT_THAT(std::string(group.status().text()), HasSubstr("PE 1 says my_pe 0 of n_pes 2"));
  });
}

TEST(Pmi1, TimeOutIsNamedAndFinal) {
  Pmi1Server server(1, {.silent_barrier = true});
  auto client = Pmi1Client::open(server.fd(0), 0, 1, soon());
  ASSERT_TRUE(client.ok());
  symm_bootstrap_config config = unset_config();
  config.connect_timeout_s = 0.05;
  auto group = KvsGroup::open(client.value(), 0, config);
  ASSERT_FALSE(group.ok());
  EXPECT_EQ(group.status().code(), Code::kSmem);
  EXPECT_THAT(std::string(group.status().text()), HasSubstr("time limit of 0.05 s of PE 0"));
}

TEST(Pmi1, LauncherThatIsGone) {
  Pmi1Server server(1, {.close_at_barrier = true});
  auto client = Pmi1Client::open(server.fd(0), 0, 1, soon());
  ASSERT_TRUE(client.ok());
  symm_bootstrap_config config = unset_config();
  auto group = KvsGroup::open(client.value(), 0, config);
  ASSERT_FALSE(group.ok());
  EXPECT_EQ(group.status().code(), Code::kBootstrap);
  EXPECT_THAT(std::string(group.status().text()), HasSubstr("PMI server"));
}

TEST(Pmi1, RefusedHello) {
  Pmi1Server refuses(1, {.init_answer = "cmd=response_to_init rc=-1 msg=version 2 only"});
  auto client = Pmi1Client::open(refuses.fd(0), 0, 1, soon());
  ASSERT_FALSE(client.ok());
  EXPECT_THAT(std::string(client.status().text()), HasSubstr("rc=-1 version 2 only"));
  Pmi1Server junk(1, {.init_answer = "HTTP/1.0 400 Bad Request"});
  client = Pmi1Client::open(junk.fd(0), 0, 1, soon());
  ASSERT_FALSE(client.ok());
  EXPECT_THAT(std::string(client.status().text()), HasSubstr("HTTP/1.0"));
}

TEST(Pmi1, DescriptorThatIsNoSocket) {
  auto closed = Pmi1Client::open(1000000, 0, 2, soon());
  ASSERT_FALSE(closed.ok());
  EXPECT_EQ(closed.status().code(), Code::kBootstrap);
  EXPECT_THAT(std::string(closed.status().text()), HasSubstr("PMI_FD=1000000"));
  UniqueFd file(::open("/dev/null", O_RDWR | O_CLOEXEC));
  auto other = Pmi1Client::open(file.get(), 0, 2, soon());
  ASSERT_FALSE(other.ok());
  EXPECT_THAT(std::string(other.status().text()), HasSubstr("not an open socket"));
}

TEST(Pmi1, AbortCarriesTheCode) {
  Pmi1Server server(1, {});
  {
    auto group = open_group(server, 0, 1);
    ASSERT_NE(group, nullptr);
    EXPECT_TRUE(group->abort(9).ok());
  }
  server.stop();
  EXPECT_EQ(server.abort_code(), 9);
}

}  // namespace
}  // namespace symm::bootstrap
