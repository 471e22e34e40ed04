// Each wrong set-up of TLS has a message of its own on both sides, which says what helps. FAULTS
// P1.
#include <gmock/gmock.h>
#include <stdlib.h>

#include <filesystem>
#include <set>

#include "bootstrap/security.h"
#include "certificates.h"
#include "local_job.h"

namespace symm::test {
namespace {

using net::Side;
using store::Client;
using testing::HasSubstr;
using Context = std::shared_ptr<net::TlsContext>;

constexpr const char* kSecret = "a secret of the test, long enough";

// Two authorities and all the certificates that can be wrong.
class Material {
 public:
  Material() {
    std::string pattern = testing::TempDir() + "symm_setup_XXXXXX";
    EXPECT_NE(mkdtemp(pattern.data()), nullptr);
    folder_ = pattern;
    ca_ = std::make_unique<Authority>(folder_, "ca");
    other_ = std::make_unique<Authority>(folder_, "other");
    keys_["good"] = ca_->issue("good");
    keys_["stranger"] = other_->issue("stranger");
    keys_["old"] = ca_->issue("old", -60);
    keys_["early"] = ca_->issue("early", 86400 * 365, "", 86400);
    keys_["revoked"] = ca_->issue("revoked");
    ca_->write_crl("list.crl", true);
  }
  ~Material() { std::filesystem::remove_all(folder_); }

  // `authorities` and whether the revocation list is looked at.
  Context certificate(Side side, const std::string& name, const std::string& authorities = "ca.pem",
                      bool list = false) const {
    std::string text =
        fmt::format("tlsCaPath:{0};tlsCaFile:{1};tlsCert:{0}/{2}.pem", folder_, authorities, name);
    if (list) text += fmt::format(";tlsCrlPath:{};tlsCrlFile:list.crl", folder_);
    auto info = net::parse_tls_info(text);
    EXPECT_TRUE(info.ok());
    auto made =
        net::TlsContext::from_certificate(side, info.value(), {keys_.at(name), "", nullptr});
    EXPECT_TRUE(made.ok()) << made.status().to_string();
    return made.value();
  }

 private:
  std::string folder_;
  std::unique_ptr<Authority> ca_;
  std::unique_ptr<Authority> other_;
  std::map<std::string, std::string> keys_;
};

struct WrongTls {
  const char* name;
  Context server;
  Context client;
  const char* client_says;
  const char* client_advice;
  const char* server_says;
  const char* server_advice;
};

constexpr const char* kAll = "all PEs";

std::vector<WrongTls> wrong_setups(const Material& material) {
  auto key = [](Side side, const char* secret, net::KeyKind kind = net::KeyKind::kJobSecret) {
    return key_context(side, secret, kind);
  };
  auto server = [&](const char* name, bool list = false) {
    return material.certificate(Side::kServer, name, "ca.pem", list);
  };
  auto client = [&](const char* name, bool list = false) {
    return material.certificate(Side::kClient, name, "ca.pem", list);
  };
  const Context secret = key(Side::kServer, kSecret);
  const Context good = server("good");
  return {
      {"another secret", secret, key(Side::kClient, "another secret, also long enough"),
       "PE 0 has another job secret", kAll, "its job secret differs from ours", kAll},
      {"another kind of secret", secret, key(Side::kClient, kSecret, net::KeyKind::kUserFile),
       "another kind of key than our user secret", kAll,
       "it uses the user secret, this store the job secret", kAll},
      {"plain at TLS", secret, nullptr, "PE 0 requires TLS, this PE speaks without", kAll,
       "it speaks without TLS, which this store requires", ""},
      {"TLS at plain", nullptr, key(Side::kClient, kSecret),
       "PE 0 answers without TLS, this PE requires it", kAll,
       "it speaks TLS, which is switched off in this store", ""},
      {"secret at certificate", good, key(Side::kClient, kSecret),
       "shows a certificate instead of our job secret", "PE 0 has other settings",
       "it uses the job secret, this store the certificate", kAll},
      {"certificate at secret", secret, client("good"), "another kind of key than our certificate",
       kAll, "it offers no pre-shared key", kAll},
      {"client of another authority", good, client("stranger"), "its authority is not known there",
       kAll, "unable to get local issuer certificate ('stranger', issued by 'other')", kAll},
      {"server of another authority",
       material.certificate(Side::kServer, "stranger", "ca.pem,other.pem"), client("good"),
       "the certificate of PE 0 is not trusted: self-signed certificate in certificate chain "
       "('stranger', issued by 'other')",
       kAll, "it does not accept our certificate", "its authority is not known there"},
      {"expired client", good, client("old"), "it has expired by the clock there", "renew it",
       "certificate has expired ('old', issued by 'ca')", "renew it"},
      {"client from the future", good, client("early"), "bad certificate",
       "is it valid already by the clock there?",
       "certificate is not yet valid ('early', issued by 'ca')", "check the clocks"},
      {"revoked client", server("good", true), client("revoked"), "it is revoked by the list there",
       "issue another one", "certificate revoked ('revoked', issued by 'ca')", "tlsCrlFile"},
      {"expired server", server("old"), client("good"),
       "the certificate of PE 0 is not trusted: certificate has expired ('old'", "renew it",
       "it does not accept our certificate", "it has expired by the clock there"},
      {"revoked server", server("revoked"), client("good", true),
       "the certificate of PE 0 is not trusted: certificate revoked ('revoked'", "tlsCrlFile",
       "it does not accept our certificate", "it is revoked by the list there"},
      {"unreadable key", good,
       net::TlsContext::for_trouble(net::KeyKind::kCertificate, 1, "its key password is wrong")
           .value(),
       "this PE cannot take part: its key password is wrong", "",
       "it cannot take part: its key password is wrong", ""},
  };
}

struct Said {
  std::string client;
  std::string server;
};

// One client with this set-up at a server with that one. The server's line is complete when the
// client has been answered and the server has ended.
Said meet(const WrongTls& setup) {
  testing::internal::CaptureStderr();
  Said out;
  {
    LocalJob job(2);
    auto listeners =
        net::listen_on(net::parse_literal("127.0.0.1", 0).value(), Deadline::after_seconds(0));
    EXPECT_TRUE(listeners.ok());
    store::ConnectOptions options = job.options(1);
    options.address.port = listeners.value().port;
    store::Server::Options server_options;
    server_options.session.n_pes = 2;
    server_options.listeners = std::move(listeners.value());
    server_options.tls = setup.server;
    auto server = store::Server::start(std::move(server_options));
    EXPECT_TRUE(server.ok());
    if (setup.client != nullptr) setup.client->introduce(1);
    options.tls = setup.client;
    auto connected = Client::connect(options, nullptr);
    EXPECT_FALSE(connected.ok()) << setup.name;
    out.client = connected.ok() ? "" : std::string(connected.status().text());
    // The server hears of an alert after the client is gone: wait until it has written its line.
    auto deadline = Deadline::after(kLong);
    while (server.value()->refusals().empty() && !deadline.expired()) std::this_thread::yield();
  }
  out.server = testing::internal::GetCapturedStderr();
  return out;
}

TEST(WrongSetup, FaultP1_EachHasAMessageOfItsOwnOnBothSides) {
  const Material material;
  std::set<std::string> client_texts;
  std::set<std::string> server_texts;
  const auto setups = wrong_setups(material);
  for (const WrongTls& setup : setups) {
    const Said said = meet(setup);
    EXPECT_THAT(said.client, HasSubstr(setup.client_says)) << setup.name;
    EXPECT_THAT(said.client, HasSubstr(setup.client_advice)) << setup.name;
    EXPECT_THAT(said.client, HasSubstr("PE 1 at the store 127.0.0.1")) << setup.name;
    EXPECT_THAT(said.server, HasSubstr(setup.server_says)) << setup.name;
    EXPECT_THAT(said.server, HasSubstr(setup.server_advice)) << setup.name;
    EXPECT_THAT(said.server, HasSubstr("refused a connection from 127.0.0.1")) << setup.name;
    client_texts.insert(said.client.substr(said.client.find(": ") + 2));
    server_texts.insert(said.server.substr(said.server.find(": ", said.server.find("127.0")) + 2));
  }
  EXPECT_EQ(client_texts.size(), setups.size());
  EXPECT_EQ(server_texts.size(), setups.size());
}

// A pre-shared key lets the client say which PE it is before anything is proved.
TEST(WrongSetup, FaultP1_TheServerNamesThePeWhereItIsKnown) {
  const Material material;
  const auto setups = wrong_setups(material);
  EXPECT_THAT(meet(setups.front()).server, HasSubstr("(says it is PE 1)"));
  EXPECT_THAT(meet(setups.back()).server, HasSubstr("(says it is PE 1)"));
}

}  // namespace
}  // namespace symm::test
