// Wrong keys, TLS on one side only, strangers and junk. FAULTS P1, P5.
#include <gmock/gmock.h>

#include <fcntl.h>
#include <unistd.h>

#include "local_job.h"

namespace symm::test {
namespace {

using std::chrono::milliseconds;
using store::Client;
using testing::HasSubstr;

constexpr const char* kSecret = "a secret of the test, long enough";

std::string failure(const store::ConnectOptions& options) {
  auto client = Client::connect(options, nullptr);
  EXPECT_FALSE(client.ok());
  return std::string(client.status().text());
}

// A PE that comes later is served after the refusals before it were logged: one thread does both.
void let_the_server_finish(const LocalJob& job) {
  auto good = job.client(0);
  EXPECT_TRUE(good->set("a", "b").ok());
}

// Captures what the log writes to stderr while it lives.
class CapturedLog {
 public:
  CapturedLog() { testing::internal::CaptureStderr(); }
  std::string text() { return testing::internal::GetCapturedStderr(); }
};

TEST(Security, WrongSecret) {
  CapturedLog log;
  {
    LocalJob job(1, kSecret);
    auto options = job.options(0);
    options.tls = key_context(net::Side::kClient, "another secret, also long enough");
    EXPECT_THAT(failure(options), HasSubstr("PE 0 has another job secret"));
    let_the_server_finish(job);
  }
  EXPECT_THAT(log.text(), HasSubstr("its job secret differs from ours"));
}

TEST(Security, AnotherKindOfKey) {
  CapturedLog log;
  {
    LocalJob job(1, kSecret);
    auto options = job.options(0);
    options.tls = key_context(net::Side::kClient, kSecret, net::KeyKind::kUserFile);
    EXPECT_THAT(failure(options), HasSubstr("another kind of key than our user secret"));
    let_the_server_finish(job);
  }
  EXPECT_THAT(log.text(), HasSubstr("it uses the user secret, this store the job secret"));
}

TEST(Security, PlainClientAtTlsServer) {
  CapturedLog log;
  {
    LocalJob job(1, kSecret);
    auto options = job.options(0);
    options.tls = nullptr;
    EXPECT_THAT(failure(options), HasSubstr("PE 0 requires TLS, this PE speaks without"));
    let_the_server_finish(job);
  }
  EXPECT_THAT(log.text(), HasSubstr("it speaks without TLS, which this store requires"));
}

TEST(Security, TlsClientAtPlainServer) {
  CapturedLog log;
  {
    LocalJob job(1);
    auto options = job.options(0);
    options.tls = key_context(net::Side::kClient, kSecret);
    EXPECT_THAT(failure(options), HasSubstr("PE 0 answers without TLS, this PE requires it"));
    let_the_server_finish(job);
  }
  EXPECT_THAT(log.text(), HasSubstr("it speaks TLS, which is switched off in this store"));
}

struct Junk {
  const char* name;
  std::string bytes;
  bool close_write;  // end our side after the bytes
};

std::vector<Junk> all_junk() {
  std::string half_hello("SYMM\xCC\x0A\x01", 7);
  std::string huge("SYMM\xCC\x0A\x01\x00\xFF\xFF\xFF\xFF", 12);
  std::string client_hello("\x16\x03\x01\xFF\xFF rest of a broken client hello", 32);
  return {{"http", "GET / HTTP/1.1\r\nHost: x\r\n\r\n", false},
          {"connect and close", "", true},
          {"half a hello", half_hello, true},
          {"length of 4 GiB", huge, false},
          {"broken TLS hello", client_hello, true},
          {"zeros", std::string(64, '\0'), false}};
}

class JunkAt : public testing::TestWithParam<const char*> {};
INSTANTIATE_TEST_SUITE_P(Security, JunkAt, testing::Values("", kSecret), [](const auto& item) {
  return std::string(item.param[0] != 0 ? "tls" : "plain");
});

TEST_P(JunkAt, IsRefusedAndDisturbsNobody) {
  CapturedLog log;
  {
    LocalJob job(2, GetParam());
    auto a = job.client(0);
    for (const Junk& junk : all_junk()) {
      UniqueFd fd = job.raw();
      ASSERT_EQ(send(fd.get(), junk.bytes.data(), junk.bytes.size(), MSG_NOSIGNAL),
                static_cast<ssize_t>(junk.bytes.size()));
      if (junk.close_write) shutdown(fd.get(), SHUT_WR);
      EXPECT_TRUE(closed_by_peer(fd.get())) << junk.name;
      EXPECT_TRUE(a->set("a", junk.name).ok());
    }
    auto b = job.client(1);
    std::thread other([&] { EXPECT_TRUE(b->barrier("b", kLong).ok()); });
    EXPECT_TRUE(a->barrier("b", kLong).ok());
    other.join();
  }
  EXPECT_THAT(log.text(), HasSubstr("refused a connection from 127.0.0.1"));
}

TEST_P(JunkAt, SilenceEndsAtTheTimeLimit) {
  CapturedLog log;
  {
    LocalJob job(1, GetParam(), milliseconds(50));
    UniqueFd fd = job.raw();
    EXPECT_TRUE(closed_by_peer(fd.get()));
    UniqueFd slow = job.raw();
    ASSERT_EQ(send(slow.get(), GetParam()[0] != 0 ? "\x16\x03\x01" : "SYM", 3, MSG_NOSIGNAL), 3);
    EXPECT_TRUE(closed_by_peer(slow.get()));
  }
  EXPECT_THAT(log.text(), HasSubstr("no complete hello within the time limit"));
}

TEST_P(JunkAt, ManyConnectionsDoNotKeepAPeOut) {
  CapturedLog log;
  {
    LocalJob job(2, GetParam());
    auto a = job.client(0);
    std::vector<UniqueFd> silent;
    for (int i = 0; i < 200; ++i) silent.push_back(job.raw());
    auto b = job.client(1);
    std::thread other([&] { EXPECT_TRUE(b->barrier("b", kLong).ok()); });
    EXPECT_TRUE(a->barrier("b", kLong).ok());
    other.join();
    // The first ones were put out to make room.
    EXPECT_TRUE(closed_by_peer(silent.front().get()));
  }
  std::string text = log.text();
  EXPECT_THAT(text, HasSubstr("too many connections that have not said who they are"));
  EXPECT_LT(std::count(text.begin(), text.end(), '\n'), 100);  // rate-limited
}

// A member (it has the key) that breaks the rules is put out; its death is told like any other.
TEST(Security, AMemberThatSendsJunkIsLost) {
  LocalJob job(2);
  auto a = job.client(0);
  UniqueFd fd = job.raw();
  store::Hello hello;
  hello.pe = 1;
  hello.n_pes = 2;
  std::string bytes = store::encode(hello);
  store::Header header{store::Type::kSet, 0, 0xFFFFFFFF, 1};
  bytes += store::encode(header);
  ASSERT_EQ(send(fd.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL),
            static_cast<ssize_t>(bytes.size()));
  EXPECT_TRUE(closed_by_peer(fd.get()));
  Status status = a->barrier("b", kLong);
  EXPECT_EQ(status.code(), Code::kPeerLost);
  EXPECT_THAT(std::string(status.text()), HasSubstr("PE 1 is lost: it sent a bad frame"));
}

// A server that has no key but a certificate of its own making must not be taken for PE 0.
TEST(Security, ARogueServerWithACertificateIsRejected) {
  std::unique_ptr<EVP_PKEY, void (*)(EVP_PKEY*)> key(EVP_EC_gen("P-256"), &EVP_PKEY_free);
  std::unique_ptr<X509, void (*)(X509*)> certificate(X509_new(), &X509_free);
  ASN1_INTEGER_set(X509_get_serialNumber(certificate.get()), 1);
  X509_gmtime_adj(X509_getm_notBefore(certificate.get()), 0);
  X509_gmtime_adj(X509_getm_notAfter(certificate.get()), 3600);
  X509_set_pubkey(certificate.get(), key.get());
  ASSERT_GT(X509_sign(certificate.get(), key.get(), EVP_sha256()), 0);
  std::unique_ptr<SSL_CTX, void (*)(SSL_CTX*)> context(SSL_CTX_new(TLS_server_method()),
                                                       &SSL_CTX_free);
  ASSERT_EQ(SSL_CTX_use_certificate(context.get(), certificate.get()), 1);
  ASSERT_EQ(SSL_CTX_use_PrivateKey(context.get(), key.get()), 1);

  auto listeners =
      net::listen_on(net::parse_literal("127.0.0.1", 0).value(), Deadline::after_seconds(0));
  ASSERT_TRUE(listeners.ok());
  int listener = listeners.value().fds.front().get();
  fcntl(listener, F_SETFL, 0);  // blocking
  std::thread rogue([&] {
    UniqueFd fd(accept4(listener, nullptr, nullptr, SOCK_CLOEXEC));
    std::unique_ptr<SSL, void (*)(SSL*)> ssl(SSL_new(context.get()), &SSL_free);
    SSL_set_fd(ssl.get(), fd.get());
    SSL_accept(ssl.get());
  });
  store::ConnectOptions options;
  options.address = net::parse_literal("127.0.0.1", listeners.value().port).value();
  options.hello.n_pes = 1;
  options.tls = key_context(net::Side::kClient, kSecret);
  options.timeout_s = 20;
  EXPECT_THAT(failure(options), HasSubstr("shows a certificate instead of our job secret"));
  rogue.join();
}

}  // namespace
}  // namespace symm::test
