// Mapping, shared memory, digests and the exchange of descriptors.
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cstring>
#include <thread>

#include "os/fd_exchange.h"
#include "os/identity.h"
#include "os/mapping.h"
#include "os/sha256.h"
#include "os/shared_memory.h"

namespace symm::os {
namespace {

std::string hex(const Digest& digest) {
  std::string text;
  for (uint8_t byte : digest) text += fmt::format("{:02x}", byte);
  return text;
}

TEST(Sha256, KnownAnswers) {
  EXPECT_EQ(hex(sha256("")), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  EXPECT_EQ(hex(sha256("abc")), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  EXPECT_EQ(hex(sha256("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq")),
            "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
  EXPECT_EQ(hex(sha256(std::string(1000000, 'a'))),
            "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
}

TEST(Sha256, KnownHmacs) {
  std::string key(20, '\x0b');
  std::span<const uint8_t> bytes(reinterpret_cast<const uint8_t*>(key.data()), key.size());
  EXPECT_EQ(hex(hmac_sha256(bytes, "Hi There")),
            "b0344c61d8db38535ca8afceaf0bf12b881dc200c9833da726e9376c2e32cff7");
  std::string longer(131, '\xaa');
  bytes = {reinterpret_cast<const uint8_t*>(longer.data()), longer.size()};
  EXPECT_EQ(hex(hmac_sha256(bytes, "Test Using Larger Than Block-Size Key - Hash Key First")),
            "60e431591ee0b67f0d8a26aacbf5b77f8e0bc6213728c5140546040f0ee37f54");
}

TEST(Mapping, ReservesAlignedAddressesAndMapsIntoThem) {
  auto range = Mapping::reserve(3 * page_size(), 1 << 21);
  ASSERT_TRUE(range.ok());
  Mapping& mapping = range.value();
  EXPECT_EQ(reinterpret_cast<uintptr_t>(mapping.data()) % (1 << 21), 0u);
  auto memory = SharedMemory::create("test", 2 * page_size());
  ASSERT_TRUE(memory.ok());
  ASSERT_TRUE(mapping.map_shared(0, page_size(), memory.value().fd(), 0, false).ok());
  ASSERT_TRUE(mapping.map_shared(page_size(), page_size(), memory.value().fd(), 0, true).ok());
  mapping.data()[5] = std::byte{42};
  EXPECT_EQ(mapping.data()[page_size() + 5], std::byte{42});
  EXPECT_FALSE(
      mapping.map_shared(2 * page_size(), 2 * page_size(), memory.value().fd(), 0, false).ok());
  EXPECT_TRUE(mapping.contains(mapping.data() + 3 * page_size() - 1));
  EXPECT_FALSE(mapping.contains(mapping.data() + 3 * page_size()));
}

TEST(Mapping, TooMuchIsAnErrorWithNumbers) {
  auto range = Mapping::reserve(1UL << 60, 0);
  ASSERT_FALSE(range.ok());
  EXPECT_EQ(range.status().code(), Code::kNoMemory);
  EXPECT_NE(range.status().text().find("1152921504606846976 bytes"), std::string::npos);
}

TEST(SharedMemory, CannotBeShrunkAndIsChecked) {
  auto memory = SharedMemory::create("test", 1 << 20);
  ASSERT_TRUE(memory.ok());
  EXPECT_NE(::ftruncate(memory.value().fd(), 4096), 0);
  EXPECT_TRUE(check_sealed(memory.value().fd(), 1 << 20).ok());
  EXPECT_FALSE(check_sealed(memory.value().fd(), 1 << 21).ok());
  UniqueFd loose(::memfd_create("loose", MFD_CLOEXEC));
  ASSERT_EQ(::ftruncate(loose.get(), 1 << 20), 0);
  EXPECT_FALSE(check_sealed(loose.get(), 1 << 20).ok());
}

TEST(Identity, IsStable) {
  Identity first = identity();
  Identity second = identity();
  EXPECT_EQ(first.host, second.host);
  EXPECT_EQ(first.process, second.process);
  EXPECT_EQ(first.pid, static_cast<uint32_t>(::getpid()));
}

class FdExchangeTest : public testing::Test {
 protected:
  // What one member reads at the start of each descriptor it received.
  using Seen = std::vector<int>;

  static FdSink collect(Seen& seen) {
    return [&seen](size_t index, UniqueFd fd) -> Status {
      int value = -1;
      if (::pread(fd.get(), &value, sizeof(value), 0) != sizeof(value)) {
        return SYMM_ERROR(kInternal, "descriptor {} cannot be read", index);
      }
      seen.push_back(value);
      return {};
    };
  }
  static SharedMemory memory_with(int value) {
    auto memory = SharedMemory::create("member", 4096);
    EXPECT_EQ(::pwrite(memory.value().fd(), &value, sizeof(value), 0),
              static_cast<ssize_t>(sizeof(value)));
    return std::move(memory).value();
  }
  static std::string fresh_name() {
    uint64_t number;
    random_bytes(&number, sizeof(number));
    return fmt::format("symm-test-{:x}", number);
  }
  // Members 0..n-1 exchange; returns what each saw.
  std::vector<Seen> run(int n, bool by_path) {
    std::vector<int> members;
    for (int pe = 0; pe < n; ++pe) members.push_back(pe);
    std::string name = fresh_name();
    std::string path = "/tmp/" + name;
    auto listener = FdListener::bind(name, 128);
    EXPECT_TRUE(listener.ok());
    if (by_path) {
      EXPECT_TRUE(listener.value().bind_path(path, 128).ok());
    }
    std::vector<Seen> seen(static_cast<size_t>(n));
    std::vector<std::thread> threads;
    for (int pe = 1; pe < n; ++pe) {
      threads.emplace_back([&, pe] {
        SharedMemory own = memory_with(100 + pe);
        FdExchangeClient client{key_, name, by_path ? path : "", 0, pe};
        Status status = fetch_fds(client, own.fd(), static_cast<size_t>(n), limit_,
                                  collect(seen[static_cast<size_t>(pe)]));
        EXPECT_TRUE(status.ok()) << status.to_string();
      });
    }
    SharedMemory own = memory_with(100);
    Status status = listener.value().serve(key_, members, own.fd(), limit_, collect(seen[0]));
    EXPECT_TRUE(status.ok()) << status.to_string();
    for (std::thread& thread : threads) thread.join();
    { FdListener gone = std::move(listener).value(); }
    EXPECT_NE(::access(path.c_str(), F_OK), 0);
    return seen;
  }

  Digest key_ = sha256("secret of the job");
  static ExchangeLimit limit_of(Deadline deadline) {
    return {deadline, [] { return Status(); }};
  }
  ExchangeLimit limit_ = limit_of(Deadline::after_seconds(20));
};

TEST_F(FdExchangeTest, EveryMemberGetsAllInOrder) {
  for (int n : {2, 3, 8}) {
    auto seen = run(n, false);
    for (const Seen& one : seen) {
      ASSERT_EQ(one.size(), static_cast<size_t>(n));
      for (int pe = 0; pe < n; ++pe) EXPECT_EQ(one[static_cast<size_t>(pe)], 100 + pe);
    }
  }
}

TEST_F(FdExchangeTest, MoreThanOneBatch) {
  auto seen = run(100, false);
  for (const Seen& one : seen) EXPECT_EQ(one.size(), 100u);
}

TEST_F(FdExchangeTest, WorksOverAFileAndRemovesIt) {
  auto seen = run(3, true);
  for (const Seen& one : seen) EXPECT_EQ(one.size(), 3u);
}

TEST_F(FdExchangeTest, AStrangerGetsNothingAndDisturbsNobody) {
  std::string name = fresh_name();
  auto listener = FdListener::bind(name, 128);
  ASSERT_TRUE(listener.ok());
  SharedMemory own = memory_with(100);
  Seen leader_saw;
  std::thread leader([&] {
    Status status = listener.value().serve(key_, {0, 1}, own.fd(), limit_, collect(leader_saw));
    EXPECT_TRUE(status.ok()) << status.to_string();
  });
  SharedMemory bad = memory_with(666);
  Seen stranger_saw;
  FdExchangeClient stranger{sha256("guess"), name, "", 0, 1};
  Status refused = fetch_fds(stranger, bad.fd(), 2, limit_, collect(stranger_saw));
  EXPECT_FALSE(refused.ok());
  EXPECT_TRUE(stranger_saw.empty());
  Seen member_saw;
  SharedMemory good = memory_with(101);
  FdExchangeClient member{key_, name, "", 0, 1};
  EXPECT_TRUE(fetch_fds(member, good.fd(), 2, limit_, collect(member_saw)).ok());
  leader.join();
  EXPECT_EQ(leader_saw, (Seen{100, 101}));
  EXPECT_EQ(member_saw, (Seen{100, 101}));
}

// Somebody took the leader's name: the member must not hand its memory over.
TEST_F(FdExchangeTest, AFalseLeaderGetsNoMemory) {
  std::string name = fresh_name();
  auto listener = FdListener::bind(name, 128);
  ASSERT_TRUE(listener.ok());
  Seen thief_saw;
  std::thread thief([&] {
    SharedMemory own = memory_with(666);
    Status status = listener.value().serve(
        sha256("guess"), {0, 1}, own.fd(),
        limit_of(Deadline::after(std::chrono::milliseconds(300))), collect(thief_saw));
    EXPECT_FALSE(status.ok());
  });
  SharedMemory own = memory_with(101);
  Seen seen;
  FdExchangeClient member{key_, name, "", 0, 1};
  EXPECT_FALSE(fetch_fds(member, own.fd(), 2, limit_, collect(seen)).ok());
  thief.join();
  EXPECT_TRUE(thief_saw.empty());
  EXPECT_TRUE(seen.empty());
}

TEST_F(FdExchangeTest, ATimeOutNamesTheMissing) {
  std::string name = fresh_name();
  auto listener = FdListener::bind(name, 128);
  ASSERT_TRUE(listener.ok());
  SharedMemory own = memory_with(100);
  Seen seen;
  Status status = listener.value().serve(key_, {0, 4, 7}, own.fd(),
                                         limit_of(Deadline::after(std::chrono::milliseconds(50))),
                                         collect(seen));
  EXPECT_EQ(status.code(), Code::kTimeout);
  EXPECT_NE(status.text().find("PEs 4, 7"), std::string::npos) << status.text();
}

// A PE dies between two steps of init: neither side may wait for it until the time is over.
TEST_F(FdExchangeTest, ALossEndsBothSides) {
  std::string name = fresh_name();
  auto listener = FdListener::bind(name, 128);
  ASSERT_TRUE(listener.ok());
  std::atomic<bool> lost{false};
  ExchangeLimit limit{Deadline::after_seconds(20), [&]() -> Status {
                        if (!lost.load()) return {};
                        return SYMM_ERROR(kPeerLost, "PE 2 is lost");
                      }};
  SharedMemory own = memory_with(100);
  Seen leader_saw;
  Seen member_saw;
  Status leader_status;
  std::thread leader([&] {
    leader_status = listener.value().serve(key_, {0, 1, 2}, own.fd(), limit, collect(leader_saw));
  });
  SharedMemory mine = memory_with(101);
  FdExchangeClient member{key_, name, "", 0, 1};
  Status member_status;
  std::thread other(
      [&] { member_status = fetch_fds(member, mine.fd(), 3, limit, collect(member_saw)); });
  lost.store(true);
  leader.join();
  other.join();
  EXPECT_EQ(leader_status.code(), Code::kPeerLost) << leader_status.text();
  // The member either learns of the loss itself or sees that the leader is gone.
  EXPECT_FALSE(member_status.ok());
  EXPECT_FALSE(limit.deadline.expired());
}

// Running out of descriptors is an error with a cure, not a wait. The member is a process of its
// own, so that the limit meets the leader only; and nothing with virtual functions runs under the
// limit, since the sanitizer's check of such objects needs descriptors, too.
TEST_F(FdExchangeTest, TooFewDescriptorsIsAnError) {
  std::string name = fresh_name();
  auto listener = FdListener::bind(name, 128);
  ASSERT_TRUE(listener.ok());
  SharedMemory own = memory_with(100);
  SharedMemory mine = memory_with(101);
  pid_t child = ::fork();
  if (child == 0) {
    Seen seen;
    FdExchangeClient member{key_, name, "", 0, 1};
    ::_exit(fetch_fds(member, mine.fd(), 2, limit_, collect(seen)).ok() ? 1 : 0);
  }
  const Digest key = key_;
  const ExchangeLimit limit = limit_;
  Seen seen;
  const FdSink sink = collect(seen);
  UniqueFd probe(::dup(own.fd()));
  const auto next = static_cast<rlim_t>(probe.get());
  probe.reset();
  rlimit before;
  ASSERT_EQ(::getrlimit(RLIMIT_NOFILE, &before), 0);
  rlimit small{next, before.rlim_max};
  ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &small), 0);
  Status status = listener.value().serve(key, {0, 1}, own.fd(), limit, sink);
  ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &before), 0);
  { FdListener gone = std::move(listener).value(); }
  EXPECT_NE(status.text().find("ulimit -n"), std::string::npos) << status.text();
  int ended = -1;
  ASSERT_EQ(::waitpid(child, &ended, 0), child);
  EXPECT_TRUE(WIFEXITED(ended) && WEXITSTATUS(ended) == 0) << ended;
}

}  // namespace
}  // namespace symm::os
