// Strangers at the port of a job that is being formed and of one that runs: what they cost PE 0 in
// descriptors, memory and threads is bounded, and nobody of the job notices. FAULTS P5.
#include <dirent.h>
#include <gmock/gmock.h>
#include <sys/resource.h>

#include <atomic>
#include <cstdio>

#include "local_job.h"

namespace symm::test {
namespace {

using std::chrono::milliseconds;
using testing::HasSubstr;

constexpr const char* kSecret = "a secret of the test, long enough";
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr bool kSanitized = true;
#else
constexpr bool kSanitized = false;
#endif
constexpr size_t kExtra = 64;  // Server::Options::extra_unauthenticated

size_t open_descriptors() {
  size_t count = 0;
  DIR* folder = opendir("/proc/self/fd");
  while (readdir(folder) != nullptr) ++count;
  closedir(folder);
  return count - 3;  // ".", ".." and the folder itself
}

size_t resident_bytes() {
  size_t pages = 0;
  FILE* file = std::fopen("/proc/self/statm", "r");
  EXPECT_EQ(std::fscanf(file, "%*s %zu", &pages), 1);
  std::fclose(file);
  return pages * static_cast<size_t>(sysconf(_SC_PAGESIZE));
}

struct Attack {
  const char* name;
  std::string bytes;
  enum class End { kStay, kClose, kReset } end;
};

std::vector<Attack> attacks() {
  using End = Attack::End;
  const std::string hello_4gib("SYMM\xCC\x0A\x02\x00\xFF\xFF\xFF\xFF", 12);
  const std::string tls_hello("\x16\x03\x01\x02\x00\x01\x00\x01\xFC\x03\x03", 11);
  const std::string largest_record =
      std::string("\x16\x03\x01\x40\x00", 5) + std::string(16384, 'x');
  return {{"silence", "", End::kStay},
          {"HTTP", "GET / HTTP/1.1\r\nHost: x\r\n\r\n", End::kStay},
          {"three bytes", "SYM", End::kStay},
          {"length of 4 GiB", hello_4gib, End::kStay},
          {"half a TLS hello", tls_hello, End::kStay},
          {"largest TLS record", largest_record, End::kStay},
          {"connect and close", "", End::kClose},
          {"connect and reset", "SYMM", End::kReset}};
}

// Opens `count` connections of one kind; those that stay are returned.
std::vector<UniqueFd> attack(const LocalJob& job, const Attack& how, int count) {
  std::vector<UniqueFd> staying;
  for (int i = 0; i < count; ++i) {
    UniqueFd fd = job.raw();
    // The store may have put it out already.
    (void)send(fd.get(), how.bytes.data(), how.bytes.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
    if (how.end == Attack::End::kReset) {
      linger hard{1, 0};
      setsockopt(fd.get(), SOL_SOCKET, SO_LINGER, &hard, sizeof hard);
    }
    if (how.end == Attack::End::kStay) staying.push_back(std::move(fd));
  }
  return staying;
}

class Hardening : public testing::TestWithParam<const char*> {
 protected:
  void SetUp() override {
    // Both ends of 1000 connections are in this process.
    rlimit limit{};
    ASSERT_EQ(getrlimit(RLIMIT_NOFILE, &limit), 0);
    limit.rlim_cur = std::min<rlim_t>(limit.rlim_max, 8192);
    ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &limit), 0);
    testing::internal::CaptureStderr();
  }
  void TearDown() override {
    const std::string log = testing::internal::GetCapturedStderr();
    // At most kLinesPerSecond a second, and the counts of those that were left out.
    EXPECT_LT(std::count(log.begin(), log.end(), '\n'), 400) << log.substr(0, 2000);
  }
};
INSTANTIATE_TEST_SUITE_P(Security, Hardening, testing::Values("", kSecret), [](const auto& item) {
  return std::string(item.param[0] != 0 ? "tls" : "plain");
});

// A barrier loop of two members that goes on until it is told to stop.
class RunningJob {
 public:
  RunningJob(store::Client& a, store::Client& b) : a_(a), b_(b) {
    for (store::Client* one : {&a_, &b_}) {
      threads_.emplace_back([this, one] {
        // Both must stop after the same barrier: PE 0's word goes round with it.
        for (bool on = true; on;) {
          auto words = one->allgather("go on", stop_.load() ? "0" : "1", kLong);
          if (!words.ok()) {
            ADD_FAILURE() << words.status().text();
            return;
          }
          on = words.value()[0] == '1';
          if (one == &a_) rounds_.fetch_add(1, std::memory_order_relaxed);
        }
      });
    }
  }
  ~RunningJob() {
    stop_ = true;
    for (std::thread& thread : threads_) thread.join();
  }
  // True when further rounds were completed within the limit.
  bool goes_on(int more) {
    const int wanted = rounds_.load(std::memory_order_relaxed) + more;
    auto deadline = Deadline::after(kLong);
    while (rounds_.load(std::memory_order_relaxed) < wanted && !deadline.expired()) {
      std::this_thread::yield();
    }
    return rounds_.load(std::memory_order_relaxed) >= wanted;
  }

 private:
  store::Client& a_;
  store::Client& b_;
  std::atomic<bool> stop_{false};  // sequentially consistent: a flag of a test
  std::atomic<int> rounds_{0};     // relaxed: only a count
  std::vector<std::thread> threads_;
};

// The number of descriptors when it has come down to `wanted`, or what it is after the limit.
size_t settled_descriptors(size_t wanted) {
  auto deadline = Deadline::after(kLong);
  size_t now = open_descriptors();
  while (now > wanted && !deadline.expired()) {
    std::this_thread::yield();
    now = open_descriptors();
  }
  return now;
}

TEST_P(Hardening, FaultP5_ThousandStrangersOfEachKindDoNotDisturbARunningJob) {
  LocalJob job(2, GetParam());
  auto a = job.client(0);
  auto b = job.client(1);
  RunningJob running(*a, *b);
  ASSERT_TRUE(running.goes_on(10));
  const size_t descriptors = open_descriptors();
  const size_t memory = resident_bytes();
  for (const Attack& how : attacks()) {
    auto staying = attack(job, how, 1000);
    EXPECT_TRUE(running.goes_on(10)) << how.name;
    // Ours, and on the side of the store no more than it allows for.
    EXPECT_LE(settled_descriptors(descriptors + staying.size() + 2 + kExtra),
              descriptors + staying.size() + 2 + kExtra)
        << how.name;
  }
  EXPECT_LE(settled_descriptors(descriptors), descriptors);
  EXPECT_TRUE(running.goes_on(10));
  // 8000 connections passed; 66 at a time hold some kilobytes each. Sanitizers keep freed memory.
  if (!kSanitized) {
    EXPECT_LT(resident_bytes(), memory + (size_t{16} << 20));
  }
  EXPECT_LE(job.server->refusals().size(), store::Refusals::kMaxKept);
}

TEST_P(Hardening, FaultP5_ThousandStrangersOfEachKindDoNotDisturbInit) {
  for (const Attack& how : attacks()) {
    LocalJob job(2, GetParam());
    auto before = attack(job, how, 500);
    auto a = job.client(0);
    auto between = attack(job, how, 500);
    auto b = job.client(1);
    std::thread other([&] { EXPECT_TRUE(b->barrier("formed", kLong).ok()) << how.name; });
    EXPECT_TRUE(a->barrier("formed", kLong).ok()) << how.name;
    other.join();
  }
}

// A byte now and then does not extend the time that a stranger has.
TEST_P(Hardening, FaultP5_DripFeedEndsAtTheTimeLimit) {
  LocalJob job(1, GetParam(), milliseconds(300));
  auto a = job.client(0);
  UniqueFd fd = job.raw();
  const std::string drip =
      GetParam()[0] != 0
          ? std::string("\x16\x03\x01\x40\x00", 5) + std::string(16384, 'x')
          : std::string("SYMM\xCC\x0A\x02\x00\x00\x01\x00\x00", 12) + std::string(256, 'x');
  bool ended = false;
  auto deadline = Deadline::after(kLong);
  for (size_t at = 0; at < drip.size() && !ended && !deadline.expired(); ++at) {
    ended = send(fd.get(), &drip[at], 1, MSG_NOSIGNAL) != 1;
    pollfd item{fd.get(), POLLIN, 0};
    char byte;
    if (poll(&item, 1, 20) == 1 && recv(fd.get(), &byte, 1, MSG_DONTWAIT) <= 0) ended = true;
  }
  EXPECT_TRUE(ended);
  EXPECT_TRUE(a->set("still", "here").ok());
}

// Without the key nothing of what goes over the wire can be read, and nobody joins. FAULTS P1.
TEST(HardeningTls, FaultP1_TheWireCarriesNoReadableText) {
  auto listeners =
      net::listen_on(net::parse_literal("127.0.0.1", 0).value(), Deadline::after_seconds(0));
  ASSERT_TRUE(listeners.ok());
  LocalJob job(1, kSecret);
  const int listening = listeners.value().fds.front().get();
  std::string seen;
  // A wire-tap: forwards between the client and the store, and keeps everything.
  std::thread tap([&] {
    pollfd incoming{listening, POLLIN, 0};
    if (poll(&incoming, 1, 20000) != 1) return;
    UniqueFd client(accept4(listening, nullptr, nullptr, SOCK_CLOEXEC));
    UniqueFd store = job.raw();
    char buffer[4096];
    while (true) {
      pollfd ends[2] = {{client.get(), POLLIN, 0}, {store.get(), POLLIN, 0}};
      if (poll(ends, 2, 20000) <= 0) return;
      for (int i = 0; i < 2; ++i) {
        if (ends[i].revents == 0) continue;
        ssize_t count = recv(ends[i].fd, buffer, sizeof buffer, 0);
        if (count <= 0) return;
        seen.append(buffer, static_cast<size_t>(count));
        send(ends[1 - i].fd, buffer, static_cast<size_t>(count), MSG_NOSIGNAL);
      }
    }
  });
  store::ConnectOptions options = job.options(0);
  options.address.port = listeners.value().port;
  auto client = store::Client::connect(options, nullptr);
  ASSERT_TRUE(client.ok()) << client.status().text();
  EXPECT_EQ(client.value()->tls_state().version, "TLSv1.3");
  EXPECT_TRUE(client.value()->set("a-readable-key", "a-readable-value").ok());
  EXPECT_EQ(client.value()->get("a-readable-key", kLong).value(), "a-readable-value");
  client.value()->close();
  client.value().reset();
  tap.join();
  EXPECT_GT(seen.size(), 500U);
  EXPECT_EQ(seen.find("readable"), std::string::npos);
  EXPECT_EQ(seen.find(kSecret), std::string::npos);
}

}  // namespace
}  // namespace symm::test
