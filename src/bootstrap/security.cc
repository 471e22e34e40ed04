#include "bootstrap/security.h"

#include <fcntl.h>
#include <openssl/crypto.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "base/audit.h"
#include "base/config.h"
#include "base/log.h"
#include "base/scope_exit.h"
#include "base/unique_fd.h"

namespace symm::bootstrap {
namespace {

// Where the parts of certificate mode come from; the program's own settings win one by one.
struct CertificateSource {
  std::string info;
  net::PrivateKey key;
  CertificateSource() = default;
  CertificateSource(CertificateSource&&) = default;
  ~CertificateSource() {
    OPENSSL_cleanse(key.pem.data(), key.pem.size());
    OPENSSL_cleanse(key.password.data(), key.password.size());
  }
};

// A file with a key or a password: ours alone, and small.
Result<std::string> read_private_file(const char* option, const std::string& path) {
  UniqueFd fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  if (!fd.valid()) {
    return SYMM_ERROR(kInvalidValue, "{}={}: {}", option, path, std::strerror(errno));
  }
  struct stat info = {};
  if (::fstat(fd.get(), &info) != 0 || !S_ISREG(info.st_mode)) {
    return SYMM_ERROR(kInvalidValue, "{}={} is not a regular file", option, path);
  }
  if ((info.st_uid != ::geteuid() && info.st_uid != 0) || (info.st_mode & 077) != 0) {
    return SYMM_ERROR(kInvalidValue,
                      "{}={} belongs to user {} and has mode {:04o}: others may have read it; it "
                      "must be ours with mode 0600",
                      option, path, info.st_uid, info.st_mode & 07777);
  }
  std::string text(net::kMaxKeyText + 1, '\0');
  const ssize_t count = ::read(fd.get(), text.data(), text.size());
  if (count < 0) return SYMM_ERROR(kInvalidValue, "{}={}: {}", option, path, std::strerror(errno));
  if (static_cast<size_t>(count) > net::kMaxKeyText) {
    return SYMM_ERROR(kInvalidValue, "{}={} is longer than {} bytes", option, path,
                      net::kMaxKeyText);
  }
  text.resize(static_cast<size_t>(count));
  return text;
}

std::string text_or_empty(const char* text) { return text != nullptr ? text : ""; }

Result<CertificateSource> find_certificates(const symm_tls_options& tls) {
  CertificateSource out;
  out.info = text_or_empty(tls.info);
  if (out.info.empty()) out.info = config::text("SHMEM_TLS_CONFIG");
  out.key.pem = text_or_empty(tls.private_key);
  out.key.password = text_or_empty(tls.key_password);
  out.key.decrypt = reinterpret_cast<net::PrivateKey::Decrypt>(tls.decrypt);
  if (out.info.empty()) {
    for (const char* lonely : {"SHMEM_TLS_KEY_FILE", "SHMEM_TLS_KEY_PASSWORD_FILE"}) {
      if (config::text(lonely).empty()) continue;
      return SYMM_ERROR(kInvalidValue,
                        "{} is set but no certificate is: set SHMEM_TLS_CONFIG, too, or unset it",
                        lonely);
    }
    return out;
  }
  if (out.key.pem.empty()) {
    const std::string path = config::text("SHMEM_TLS_KEY_FILE");
    if (!path.empty()) {
      SYMM_ASSIGN(out.key.pem, read_private_file("SHMEM_TLS_KEY_FILE", path));
    }
  }
  if (out.key.password.empty()) {
    const std::string path = config::text("SHMEM_TLS_KEY_PASSWORD_FILE");
    if (!path.empty()) {
      SYMM_ASSIGN(out.key.password, read_private_file("SHMEM_TLS_KEY_PASSWORD_FILE", path));
      while (out.key.password.ends_with('\n') || out.key.password.ends_with('\r')) {
        out.key.password.pop_back();
      }
    }
  }
  return out;
}

Result<Security> with_certificates(const CertificateSource& from, int pe) {
  Security out;
  SYMM_ASSIGN(net::TlsInfo info, net::parse_tls_info(from.info));
  SYMM_ASSIGN(out.server, net::TlsContext::from_certificate(net::Side::kServer, info, from.key));
  SYMM_ASSIGN(out.client, net::TlsContext::from_certificate(net::Side::kClient, info, from.key));
  out.client->introduce(pe);
  out.source = "certificate " + info.certificate;
  const net::Validity validity = net::validity_of(out.server->native());
  out.certificate_expires = validity.until;
  SYMM_ASSIGN(out.watch, net::ExpiryWatch::start(info.certificate, validity, net::expiry_rules()));
  return out;
}

Result<Security> with_secret(std::string_view unique_id_secret, int pe) {
  Security out;
  SYMM_ASSIGN(net::Secret secret, net::find_secret(unique_id_secret));
  SYMM_ASSIGN(out.server, net::TlsContext::from_secret(net::Side::kServer, secret));
  SYMM_ASSIGN(out.client, net::TlsContext::from_secret(net::Side::kClient, secret));
  out.client->introduce(pe);
  out.one_launch = secret.kind == net::KeyKind::kJobSecret;
  out.secret = std::move(secret.bytes);
  out.source = std::move(secret.source);
  return out;
}

Result<Security> find_keys(const symm_tls_options& tls, std::string_view unique_id_secret, int pe) {
  auto certificates = find_certificates(tls);
  Result<Security> out = certificates.ok() && certificates.value().info.empty()
                             ? with_secret(unique_id_secret, pe)
                         : certificates.ok() ? with_certificates(certificates.value(), pe)
                                             : Result<Security>(std::move(certificates.status()));
  if (!out.ok()) {
    const bool secret = certificates.ok() && certificates.value().info.empty();
    audit::write(secret ? audit::Event::kSecretRefused : audit::Event::kCertificateRefused,
                 fmt::format("PE {}", pe), out.status().text());
  }
  return out;
}

}  // namespace

bool wants_tls(const symm_tls_options& tls) {
  if (tls.enabled == 0) return false;
  return tls.chosen_by_user != 0 || config::flag("SHMEM_TLS");
}

Result<Security> find_security(const symm_tls_options& tls, std::string_view unique_id_secret,
                               int pe) {
  if (wants_tls(tls)) return find_keys(tls, unique_id_secret, pe);
  Security out;
  constexpr const char* kText =
      "TLS of the control plane is switched off: anyone who reaches the port can read and join";
  SYMM_LOG(kWarn, "{}", kText);
  audit::write(audit::Event::kTlsOff, fmt::format("PE {}", pe), kText);
  out.secret = config::text("SHMEM_JOB_SECRET");
  if (out.secret.empty()) out.secret = unique_id_secret;
  return out;
}

std::shared_ptr<net::TlsContext> trouble_context(const symm_tls_options& tls, int pe,
                                                 const std::string& why) {
  if (!wants_tls(tls)) return nullptr;
  const bool certificates =
      (tls.info != nullptr && *tls.info != '\0') || !config::text("SHMEM_TLS_CONFIG").empty();
  auto made = net::TlsContext::for_trouble(
      certificates ? net::KeyKind::kCertificate : net::KeyKind::kUserFile, pe, why);
  return made.ok() ? made.value() : nullptr;
}

std::string describe_security() {
  symm_tls_options tls{};
  tls.enabled = 1;
  if (!wants_tls(tls)) return "off (SHMEM_TLS=0): anyone who reaches the port can read and join";
  auto certificates = find_certificates(tls);
  if (!certificates.ok()) return "unusable: " + std::string(certificates.status().text());
  constexpr const char* kOn = "on, TLSv1.3, key: ";
  if (certificates.value().info.empty()) {
    auto secret = net::find_secret("");
    if (!secret.ok()) return "unusable: " + std::string(secret.status().text());
    ScopeExit wipe(
        [&] { OPENSSL_cleanse(secret.value().bytes.data(), secret.value().bytes.size()); });
    return fmt::format("{}{} ({}), unless a unique id carries its own", kOn,
                       net::key_kind_name(secret.value().kind), secret.value().source);
  }
  auto info = net::parse_tls_info(certificates.value().info);
  if (!info.ok()) return "unusable: " + std::string(info.status().text());
  auto context =
      net::TlsContext::from_certificate(net::Side::kServer, info.value(), certificates.value().key);
  if (!context.ok()) return "unusable: " + std::string(context.status().text());
  const net::Validity validity = net::validity_of(context.value()->native());
  return fmt::format("{}certificate {}, valid from {} until {}", kOn, info.value().certificate,
                     net::time_text(validity.from), net::time_text(validity.until));
}

}  // namespace symm::bootstrap
