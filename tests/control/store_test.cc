// Server and clients over real sockets, plain and TLS.
#include <gmock/gmock.h>

#include <atomic>
#include <condition_variable>
#include <mutex>

#include "local_job.h"

namespace symm::test {
namespace {

using std::chrono::milliseconds;
using store::Client;
using testing::HasSubstr;

constexpr const char* kSecret = "a secret of the test, long enough";

class StoreOverBoth : public testing::TestWithParam<const char*> {};
INSTANTIATE_TEST_SUITE_P(Security, StoreOverBoth, testing::Values("", kSecret),
                         [](const auto& item) {
                           return std::string(item.param[0] != 0 ? "tls" : "plain");
                         });

TEST_P(StoreOverBoth, KeysAndCounters) {
  LocalJob job(1, GetParam());
  auto client = job.client(0);
  EXPECT_TRUE(client->set("a", "1").ok());
  EXPECT_EQ(client->get("a", milliseconds(0)).value(), "1");
  EXPECT_EQ(client->get("b", milliseconds(0)).value(), std::nullopt);
  EXPECT_EQ(client->add("a", 41).value(), 42);
  EXPECT_EQ(client->append("a", "!").value(), 3u);
  EXPECT_FALSE(client->add("a", 1).ok());
  EXPECT_EQ(client->compare_and_swap("c", "", "new").value(), std::nullopt);
  EXPECT_EQ(client->compare_and_swap("c", "other", "newer").value(), "new");
  EXPECT_EQ(client->get("c", milliseconds(0)).value(), "new");
  EXPECT_TRUE(client->remove("c").value());
  EXPECT_FALSE(client->remove("c").value());
  std::string big(5 << 20, 'x');
  EXPECT_TRUE(client->set("big", big).ok());
  EXPECT_EQ(client->get("big", milliseconds(0)).value(), big);
  EXPECT_EQ(client->set("too big", std::string(11 << 20, 'x')).code(), Code::kInvalidValue);
  EXPECT_EQ(client->get("never", milliseconds(30)).status().code(), Code::kSmem);
  client->close();
  job.server->stop(kLong);
}

TEST_P(StoreOverBoth, GetWaitsForSet) {
  LocalJob job(2, GetParam());
  run_pes(2, [&](int pe) {
    auto client = job.client(pe);
    std::string mine = std::to_string(pe);
    std::string other = std::to_string(1 - pe);
    EXPECT_TRUE(client->set("key" + mine, "value" + mine).ok());
    EXPECT_EQ(client->get("key" + other, milliseconds(-1)).value(), "value" + other);
    client->close();
  });
  job.server->stop(kLong);
}

TEST_P(StoreOverBoth, BarriersAndAllgathers) {
  constexpr int kPes = 8;
  LocalJob job(kPes, GetParam());
  std::atomic<int> arrived{0};
  run_pes(kPes, [&](int pe) {
    auto client = job.client(pe);
    for (int round = 0; round < 20; ++round) {
      arrived.fetch_add(1);
      ASSERT_TRUE(client->barrier("b", kLong).ok());
      EXPECT_GE(arrived.load(), (round + 1) * kPes);
      auto all = client->allgather("g", fmt::format("{:03}", pe * 20 + round), kLong);
      ASSERT_TRUE(all.ok()) << all.status().to_string();
      std::string wanted;
      for (int i = 0; i < kPes; ++i) wanted += fmt::format("{:03}", i * 20 + round);
      EXPECT_EQ(all.value(), wanted);
    }
    client->close();
  });
  job.server->stop(kLong);
}

TEST_P(StoreOverBoth, LargeAllgather) {
  constexpr size_t kBytes = size_t{3} << 20;
  LocalJob job(4, GetParam());
  run_pes(4, [&](int pe) {
    auto client = job.client(pe);
    auto all = client->allgather("large", std::string(kBytes, static_cast<char>('a' + pe)), kLong);
    ASSERT_TRUE(all.ok()) << all.status().to_string();
    ASSERT_EQ(all.value().size(), 4 * kBytes);
    for (size_t i = 0; i < 4; ++i)
      EXPECT_EQ(all.value()[i * kBytes + kBytes / 2], static_cast<char>('a' + i));
    client->close();
  });
  job.server->stop(kLong);
}

// Large enough for the ways that only large results take, with more PEs than share a file.
TEST_P(StoreOverBoth, AllgatherOfEqualAndOfDifferentRecords) {
  constexpr int kPes = 9;
  constexpr size_t kBytes = size_t{20} << 10;
  LocalJob job(kPes, GetParam());
  run_pes(kPes, [&](int pe) {
    auto client = job.client(pe);
    auto equal = client->allgather("equal", std::string(kBytes, 'e'), kLong);
    ASSERT_TRUE(equal.ok()) << equal.status().to_string();
    EXPECT_EQ(equal.value(), std::string(kPes * kBytes, 'e'));
    auto all = client->allgather("all", std::string(kBytes, static_cast<char>('a' + pe)), kLong);
    ASSERT_TRUE(all.ok()) << all.status().to_string();
    std::string wanted;
    for (int i = 0; i < kPes; ++i) wanted += std::string(kBytes, static_cast<char>('a' + i));
    EXPECT_EQ(all.value(), wanted);
    client->close();
  });
  job.server->stop(kLong);
}

// FAULTS A5, G7: the message names who is missing.
TEST_P(StoreOverBoth, ExpiryNamesTheMissingPe) {
  LocalJob job(3, GetParam());
  auto a = job.client(0);
  auto b = job.client(1);
  Status status = a->barrier("start", milliseconds(50));
  EXPECT_EQ(status.code(), Code::kSmem);
  EXPECT_THAT(std::string(status.text()), HasSubstr("PE 2 never connected"));
  EXPECT_THAT(std::string(status.text()), HasSubstr("PE 1 connected but did not arrive"));
  EXPECT_THAT(std::string(status.text()), HasSubstr("'start'"));
  EXPECT_EQ(b->barrier("start", kLong).code(), Code::kSmem);
}

class Events {
 public:
  Client::OnEvent handler() {
    return [this](Client::Event event, int value, const std::string& text) {
      std::lock_guard lock(mutex_);
      event_ = event;
      value_ = value;
      text_ = text;
      changed_.notify_all();
    };
  }
  bool wait() {
    std::unique_lock lock(mutex_);
    return changed_.wait_for(lock, kLong, [this] { return event_.has_value(); });
  }
  std::optional<Client::Event> event() {
    std::lock_guard lock(mutex_);
    return event_;
  }
  int value() {
    std::lock_guard lock(mutex_);
    return value_;
  }
  std::string text() {
    std::lock_guard lock(mutex_);
    return text_;
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  std::optional<Client::Event> event_;
  int value_ = -1;
  std::string text_;
};

// FAULTS L6: a connection that ends without goodbye is a death.
TEST_P(StoreOverBoth, ADeathIsToldAndEndsWaits) {
  LocalJob job(3, GetParam());
  Events events;
  auto a = job.client(0, events.handler());
  auto b = job.client(1);
  auto c = job.client(2);
  ASSERT_TRUE(c->set("x", "y").ok());
  std::thread waiter([&] {
    EXPECT_EQ(b->get("never", milliseconds(-1)).status().code(), Code::kPeerLost);
    EXPECT_EQ(b->barrier("b", kLong).code(), Code::kPeerLost);
  });
  c.reset();
  ASSERT_TRUE(events.wait());
  EXPECT_EQ(events.event(), Client::Event::kPeerLost);
  EXPECT_EQ(events.value(), 2);
  waiter.join();
  Status status = a->barrier("b", kLong);
  EXPECT_EQ(status.code(), Code::kPeerLost);
  EXPECT_THAT(std::string(status.text()), HasSubstr("PE 2 is lost"));
  a->close();
  b->close();
  job.server->stop(kLong);
}

TEST_P(StoreOverBoth, AGoodbyeIsNoDeath) {
  LocalJob job(2, GetParam());
  Events events;
  auto a = job.client(0, events.handler());
  auto b = job.client(1);
  b->close();
  Status status = a->barrier("late", kLong);
  EXPECT_EQ(status.code(), Code::kInternal);
  EXPECT_THAT(std::string(status.text()), HasSubstr("PE 1 has already finalized"));
  EXPECT_FALSE(events.event());
  a->close();
  job.server->stop(kLong);
  EXPECT_FALSE(events.event());
}

TEST_P(StoreOverBoth, GlobalExitReachesAll) {
  LocalJob job(2, GetParam());
  Events events;
  auto a = job.client(0, events.handler());
  auto b = job.client(1);
  ASSERT_TRUE(b->global_exit(7).ok());
  ASSERT_TRUE(events.wait());
  EXPECT_EQ(events.event(), Client::Event::kGlobalExit);
  EXPECT_EQ(events.value(), 7);
  EXPECT_THAT(events.text(), HasSubstr("PE 1 called global_exit(7)"));
}

TEST_P(StoreOverBoth, TheEndOfTheStoreIsToldAsSuch) {
  LocalJob job(1, GetParam());
  Events events;
  auto a = job.client(0, events.handler());
  job.server.reset();
  ASSERT_TRUE(events.wait());
  EXPECT_EQ(events.event(), Client::Event::kStoreLost);
  EXPECT_THAT(events.text(), HasSubstr("PE 0"));
  EXPECT_EQ(a->set("a", "b").code(), Code::kPeerLost);
}

TEST_P(StoreOverBoth, StopWaitsForGoodbyes) {
  LocalJob job(2, GetParam());
  auto a = job.client(0);
  auto b = job.client(1);
  a->close();
  std::atomic<bool> stopped{false};
  std::thread server([&] {
    job.server->stop(kLong);
    stopped.store(true);
  });
  EXPECT_TRUE(b->set("still", "served").ok());
  EXPECT_FALSE(stopped.load());
  b->close();
  server.join();
}

TEST_P(StoreOverBoth, StopIsBounded) {
  LocalJob job(2, GetParam());
  Events events;
  auto b = job.client(1, events.handler());
  job.server->stop(milliseconds(20));
  ASSERT_TRUE(events.wait());
  EXPECT_EQ(events.event(), Client::Event::kStoreLost);
  EXPECT_THAT(events.text(), HasSubstr("PE 0 has ended"));
}

// FAULTS B6: contradictions fail the job on all PEs.
TEST_P(StoreOverBoth, ContradictionsFailAll) {
  struct Case {
    int pe;
    int n_pes;
    const char* text;
  };
  for (const Case& item :
       {Case{1, 3, "two processes claim PE 1"}, Case{2, 4, "n_pes differs: PEs 0-1: 3, PE 2: 4"},
        Case{7, 3, "PE 7 is out of range"}}) {
    LocalJob job(3, GetParam());
    auto a = job.client(0);
    auto b = job.client(1);
    Status of_a;
    std::thread waiter([&] { of_a = a->barrier("open", kLong); });
    auto options = job.options(item.pe);
    options.hello.n_pes = item.n_pes;
    auto refused = Client::connect(options, nullptr);
    EXPECT_FALSE(refused.ok());
    EXPECT_THAT(std::string(refused.status().text()), HasSubstr(item.text));
    waiter.join();
    EXPECT_THAT(std::string(of_a.text()), HasSubstr(item.text));
    EXPECT_THAT(std::string(b->barrier("open", kLong).text()), HasSubstr(item.text));
  }
}

// FAULTS A15: the one with the other version hears both, and so do the others.
TEST_P(StoreOverBoth, AnotherVersionFailsAllWithBothVersions) {
  LocalJob job(2, GetParam());
  auto a = job.client(0);
  Status of_a;
  std::thread waiter([&] { of_a = a->barrier("open", kLong); });
  auto options = job.options(1);
  options.hello.version = 9;
  options.hello.library = "9.9";
  auto refused = Client::connect(options, nullptr);
  ASSERT_FALSE(refused.ok());
  waiter.join();
  for (const std::string& text : {std::string(refused.status().text()), std::string(of_a.text())}) {
    EXPECT_THAT(text, HasSubstr("PE 0: test (protocol 2), PE 1: 9.9 (protocol 9)"));
  }
}

TEST_P(StoreOverBoth, ALateDuplicateDoesNotDisturbARunningJob) {
  LocalJob job(2, GetParam());
  auto a = job.client(0);
  auto b = job.client(1);
  std::thread other([&] { EXPECT_TRUE(b->barrier("open", kLong).ok()); });
  EXPECT_TRUE(a->barrier("open", kLong).ok());
  other.join();
  EXPECT_FALSE(Client::connect(job.options(1), nullptr).ok());
  std::thread again([&] { EXPECT_TRUE(b->barrier("go on", kLong).ok()); });
  EXPECT_TRUE(a->barrier("go on", kLong).ok());
  again.join();
}

// FAULTS A14: another job.
TEST_P(StoreOverBoth, AnotherJobIsRefusedByName) {
  LocalJob job(2, GetParam(), kLong, 0x1234);
  auto options = job.options(0);
  options.hello.magic = 0x4321;
  auto foreign = Client::connect(options, nullptr);
  ASSERT_FALSE(foreign.ok());
  EXPECT_THAT(std::string(foreign.status().text()), HasSubstr("store of another job"));
  options.hello.magic = 0x1234;
  options.hello.cookie = 99;
  auto mismatch = Client::connect(options, nullptr);
  ASSERT_FALSE(mismatch.ok());
  EXPECT_THAT(std::string(mismatch.status().text()), HasSubstr("id mismatch"));
  options.hello.cookie = 0;
  auto good = Client::connect(options, nullptr);
  EXPECT_TRUE(good.ok()) << good.status().to_string();
}

TEST(Store, AClientThatComesFirstWaitsForTheServer) {
  // The port is known before anybody listens: bound, but not yet listening, connections are
  // refused.
  UniqueFd fd(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_in at{};
  at.sin_family = AF_INET;
  at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  ASSERT_EQ(bind(fd.get(), reinterpret_cast<sockaddr*>(&at), sizeof at), 0);
  uint16_t port = net::local_address(fd.get()).value().port();
  store::ConnectOptions options;
  options.address = net::parse_literal("127.0.0.1", port).value();
  options.hello.n_pes = 1;
  options.timeout_s = 0.05;
  auto early = Client::connect(options, nullptr);
  ASSERT_FALSE(early.ok());
  EXPECT_EQ(early.status().code(), Code::kInternal);
  EXPECT_THAT(std::string(early.status().text()),
              HasSubstr(fmt::format("cannot reach PE 0 at 127.0.0.1:{}", port)));
  options.timeout_s = 20;
  Result<std::unique_ptr<Client>> late = SYMM_ERROR(kInternal, "not run");
  std::thread client([&] { late = Client::connect(options, nullptr); });
  store::Server::Options server_options;
  server_options.session.n_pes = 1;
  server_options.listeners = net::adopt_listener(fd.release()).value();
  auto server = store::Server::start(std::move(server_options));
  ASSERT_TRUE(server.ok());
  client.join();
  EXPECT_TRUE(late.ok()) << late.status().to_string();
}

TEST(Store, TlsIsReallyUsed) {
  LocalJob job(1, kSecret);
  auto client = job.client(0);
  EXPECT_THAT(client->describe(), HasSubstr("TLSv1.3"));
  EXPECT_THAT(client->describe(), HasSubstr("job secret"));
}

}  // namespace
}  // namespace symm::test
