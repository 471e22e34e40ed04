// TLS with certificates: mutual, with revocation, encrypted keys, and a message of its own for each
// wrong set-up.
#include <gmock/gmock.h>
#include <stdlib.h>

#include <algorithm>
#include <filesystem>

#include "certificates.h"
#include "local_job.h"
#include "net/expiry_watch.h"

namespace symm::test {
namespace {

using store::Client;
using testing::HasSubstr;

class Certificates : public testing::Test {
 protected:
  void SetUp() override {
    std::string pattern = testing::TempDir() + "symm_ca_XXXXXX";
    ASSERT_NE(mkdtemp(pattern.data()), nullptr);
    folder_ = pattern;
    ca_ = std::make_unique<Authority>(folder_, "ca");
    server_key_ = ca_->issue("server");
    client_key_ = ca_->issue("client");
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  std::string info(const std::string& name, const std::string& ca = "ca.pem",
                   const std::string& more = "") const {
    return fmt::format("tlsCaPath:{0};tlsCaFile:{1};tlsCert:{0}/{2}.pem;{3}", folder_, ca, name,
                       more);
  }
  std::string crl(const std::string& file) const {
    return fmt::format("tlsCrlPath:{};tlsCrlFile:{}", folder_, file);
  }

  static Result<std::shared_ptr<net::TlsContext>> context(net::Side side, const std::string& text,
                                                          net::PrivateKey key) {
    SYMM_ASSIGN(net::TlsInfo parsed, net::parse_tls_info(text));
    return net::TlsContext::from_certificate(side, parsed, key);
  }
  static std::shared_ptr<net::TlsContext> good(net::Side side, const std::string& text,
                                               const std::string& pem) {
    auto made = context(side, text, {pem, "", nullptr});
    EXPECT_TRUE(made.ok()) << made.status().to_string();
    return made.value();
  }

  struct Outcome {
    std::string client;  // the client's message, or "ok: " and what is in force
    std::string server;  // the server's log
  };
  // Connects one client to a server with these contexts; then a good client, after which the log is
  // complete.
  Outcome meet(std::shared_ptr<net::TlsContext> server, std::shared_ptr<net::TlsContext> client,
               std::shared_ptr<net::TlsContext> later) {
    testing::internal::CaptureStderr();
    Outcome out;
    {
      auto listeners =
          net::listen_on(net::parse_literal("127.0.0.1", 0).value(), Deadline::after_seconds(0));
      EXPECT_TRUE(listeners.ok());
      store::ConnectOptions options;
      options.address = net::parse_literal("127.0.0.1", listeners.value().port).value();
      options.hello.n_pes = 2;
      options.timeout_s = 20;
      store::Server::Options server_options;
      server_options.session.n_pes = 2;
      server_options.listeners = std::move(listeners.value());
      server_options.tls = std::move(server);
      auto started = store::Server::start(std::move(server_options));
      EXPECT_TRUE(started.ok());
      options.tls = std::move(client);
      auto first = Client::connect(options, nullptr);
      out.client =
          first.ok() ? "ok: " + first.value()->describe() : std::string(first.status().text());
      if (later != nullptr) {
        options.hello.pe = 1;
        options.tls = std::move(later);
        EXPECT_TRUE(Client::connect(options, nullptr).ok());
      }
    }
    out.server = testing::internal::GetCapturedStderr();
    return out;
  }

  std::string folder_;
  std::unique_ptr<Authority> ca_;
  std::string server_key_;
  std::string client_key_;
};

TEST_F(Certificates, BothSidesOfOneAuthority) {
  Outcome out = meet(good(net::Side::kServer, info("server"), server_key_),
                     good(net::Side::kClient, info("client"), client_key_), nullptr);
  EXPECT_THAT(out.client, HasSubstr("ok: TLSv1.3"));
  EXPECT_THAT(out.client, HasSubstr("certificate"));
}

TEST_F(Certificates, AClientOfAnotherAuthority) {
  Authority other(folder_, "other");
  std::string key = other.issue("stranger");
  Outcome out = meet(good(net::Side::kServer, info("server"), server_key_),
                     good(net::Side::kClient, info("stranger"), key),
                     good(net::Side::kClient, info("client"), client_key_));
  EXPECT_THAT(out.client, HasSubstr("PE 0 does not accept our certificate"));
  EXPECT_THAT(out.server, HasSubstr("its certificate is not accepted: unable to get local issuer"));
}

TEST_F(Certificates, AServerOfAnotherAuthority) {
  Authority other(folder_, "other");
  std::string key = other.issue("rogue");
  Outcome out = meet(good(net::Side::kServer, info("rogue", "ca.pem,other.pem"), key),
                     good(net::Side::kClient, info("client"), client_key_),
                     good(net::Side::kClient, info("client", "ca.pem,other.pem"), client_key_));
  EXPECT_THAT(out.client, HasSubstr("the certificate of PE 0 is not trusted"));
  EXPECT_THAT(out.server, HasSubstr("refused a connection"));
}

TEST_F(Certificates, ARevokedClient) {
  ca_->write_crl("none.crl", false);
  std::string key = ca_->issue("revoked");
  ca_->write_crl("some.crl", true);
  auto server = good(net::Side::kServer, info("server", "ca.pem", crl("some.crl")), server_key_);
  Outcome out =
      meet(server, good(net::Side::kClient, info("revoked"), key),
           good(net::Side::kClient, info("client", "ca.pem", crl("none.crl")), client_key_));
  EXPECT_THAT(out.client, HasSubstr("revoked"));
  EXPECT_THAT(out.server, HasSubstr("its certificate is not accepted: certificate revoked"));
}

TEST_F(Certificates, AKeyInsteadOfACertificate) {
  Outcome out = meet(good(net::Side::kServer, info("server"), server_key_),
                     key_context(net::Side::kClient, "a secret that is long enough"),
                     good(net::Side::kClient, info("client"), client_key_));
  EXPECT_THAT(out.client, HasSubstr("shows a certificate instead of our job secret"));
  EXPECT_THAT(out.server, HasSubstr("refused a connection"));
}

TEST_F(Certificates, ACertificateInsteadOfAKey) {
  Outcome out = meet(key_context(net::Side::kServer, "a secret that is long enough"),
                     good(net::Side::kClient, info("client"), client_key_),
                     key_context(net::Side::kClient, "a secret that is long enough"));
  EXPECT_THAT(out.client, HasSubstr("another kind of key than our certificate"));
  EXPECT_THAT(out.server, HasSubstr("it offers no pre-shared key"));
}

// "Encrypts" by turning the text round.
int turn_round(const char* cipher, size_t cipher_size, char* plain, size_t& plain_size) {
  if (cipher_size > plain_size) return 1;
  std::reverse_copy(cipher, cipher + cipher_size, plain);
  plain_size = cipher_size;
  return 0;
}
int refuse(const char*, size_t, char*, size_t&) { return 7; }
int lie(const char*, size_t, char*, size_t& plain_size) {
  plain_size += 1;
  return 0;
}

TEST_F(Certificates, EncryptedKeys) {
  std::string pem = ca_->issue("locked", 86400 * 365, "open sesame");
  std::string text = info("locked");
  auto failure = [&](net::PrivateKey key) {
    auto made = context(net::Side::kClient, text, std::move(key));
    EXPECT_FALSE(made.ok());
    return std::string(made.status().text());
  };
  EXPECT_TRUE(context(net::Side::kClient, text, {pem, "open sesame", nullptr}).ok());
  EXPECT_TRUE(context(net::Side::kClient, text, {pem, "emases nepo", turn_round}).ok());
  EXPECT_THAT(failure({pem, "", nullptr}), HasSubstr("password is missing"));
  EXPECT_THAT(failure({pem, "wrong", nullptr}), HasSubstr("password is wrong"));
  EXPECT_THAT(failure({pem, "x", refuse}), HasSubstr("decrypt callback failed with code 7"));
  EXPECT_THAT(failure({pem, "x", lie}), HasSubstr("decrypt callback failed"));
  EXPECT_THAT(failure({std::string(11000, 'x'), "", nullptr}), HasSubstr("longer than"));
}

TEST_F(Certificates, WrongFilesAreNamed) {
  auto failure = [&](const std::string& text, const std::string& pem) {
    auto made = context(net::Side::kServer, text, {pem, "", nullptr});
    EXPECT_FALSE(made.ok());
    EXPECT_EQ(made.status().code(), Code::kInvalidParam);
    return std::string(made.status().text());
  };
  EXPECT_THAT(failure(info("server", "missing.pem"), server_key_),
              HasSubstr("missing.pem cannot be read"));
  EXPECT_THAT(failure(info("absent"), server_key_), HasSubstr("absent.pem cannot be read"));
  EXPECT_THAT(failure(info("server"), ""), HasSubstr("has no private key"));
  EXPECT_THAT(failure(info("server"), "nonsense"), HasSubstr("cannot be read"));
  EXPECT_THAT(failure(info("server"), client_key_), HasSubstr("does not belong to certificate"));
  EXPECT_THAT(failure(info("server", "ca.pem", crl("missing.crl")), server_key_),
              HasSubstr("missing.crl"));
  EXPECT_THAT(failure(info("server", "ca.pem", crl("ca.pem")), server_key_),
              HasSubstr("holds no revocation list"));
}

// An own certificate that has expired is reported, but the other side decides: its message names
// it.
TEST_F(Certificates, ValidityIsKnown) {
  std::string key = ca_->issue("old", -60);
  auto made = context(net::Side::kServer, info("old"), {key, "", nullptr});
  ASSERT_TRUE(made.ok()) << made.status().to_string();
  net::Validity validity = net::validity_of(made.value()->native());
  EXPECT_NEAR(static_cast<double>(validity.until), static_cast<double>(std::time(nullptr) - 60),
              120);
  EXPECT_EQ(net::judge_validity(validity, {}, std::time(nullptr)).kind,
            net::ExpiryVerdict::Kind::kExpired);
}

}  // namespace
}  // namespace symm::test
