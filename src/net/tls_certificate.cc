#include "net/tls_certificate.h"

#include <openssl/bio.h>
#include <openssl/pem.h>
#include <openssl/x509_vfy.h>

#include <algorithm>
#include <ctime>
#include <memory>

#include "base/config.h"
#include "base/log.h"
#include "base/scope_exit.h"

namespace symm::net {
namespace {

// Name, default and range of a number that is outside our option table because another library
// defined it.
int environment_number(const char* name, int fallback, int low, int high) {
  auto value = config::raw(name);
  if (!value) return fallback;
  auto parsed = config::parse_integer(*value, low, high);
  if (parsed.ok()) return static_cast<int>(parsed.value());
  SYMM_LOG(kWarn, "{}: {}; {} is used", name, parsed.status().text(), fallback);
  return fallback;
}

// The password in the clear; the caller wipes it.
Result<std::string> clear_password(const PrivateKey& key) {
  if (key.password.size() > kMaxKeyText) {
    return SYMM_ERROR(kInvalidParam, "TLS: the key password is longer than {} bytes", kMaxKeyText);
  }
  if (key.decrypt == nullptr || key.password.empty()) return key.password;
  std::string plain(kMaxKeyText, '\0');
  size_t size = plain.size();
  int code = key.decrypt(key.password.data(), key.password.size(), plain.data(), size);
  if (code != 0 || size > plain.size()) {
    OPENSSL_cleanse(plain.data(), plain.size());
    return SYMM_ERROR(kInvalidParam, "TLS: the decrypt callback failed with code {}", code);
  }
  OPENSSL_cleanse(plain.data() + size, plain.size() - size);
  plain.resize(size);
  return plain;
}

int give_password(char* out, int size, int, void* user) {
  const auto& password = *static_cast<const std::string*>(user);
  if (password.empty() || password.size() > static_cast<size_t>(size)) return -1;
  std::copy(password.begin(), password.end(), out);
  return static_cast<int>(password.size());
}

Status load_private_key(SSL_CTX* context, const PrivateKey& key, const std::string& certificate) {
  if (key.pem.empty()) {
    return SYMM_ERROR(kInvalidParam,
                      "TLS: certificate {} has no private key; call "
                      "aclshmemx_set_config_store_tls_key before init",
                      certificate);
  }
  if (key.pem.size() > kMaxKeyText) {
    return SYMM_ERROR(kInvalidParam, "TLS: the private key is longer than {} bytes", kMaxKeyText);
  }
  SYMM_ASSIGN(std::string password, clear_password(key));
  ScopeExit wipe([&] { OPENSSL_cleanse(password.data(), password.size()); });
  std::unique_ptr<BIO, int (*)(BIO*)> source(
      BIO_new_mem_buf(key.pem.data(), static_cast<int>(key.pem.size())), &BIO_free);
  std::unique_ptr<EVP_PKEY, void (*)(EVP_PKEY*)> parsed(
      PEM_read_bio_PrivateKey(source.get(), nullptr, &give_password, &password), &EVP_PKEY_free);
  if (!parsed) {
    return SYMM_ERROR(kInvalidParam,
                      "TLS: the private key cannot be read ({}): not PEM, or its password is {}",
                      openssl_error(), password.empty() ? "missing" : "wrong");
  }
  if (SSL_CTX_use_PrivateKey(context, parsed.get()) != 1) {
    return SYMM_ERROR(kInvalidParam, "TLS: the private key does not belong to certificate {}: {}",
                      certificate, openssl_error());
  }
  return {};
}

Status load_crl(X509_STORE* store, const std::string& path) {
  std::unique_ptr<BIO, int (*)(BIO*)> source(BIO_new_file(path.c_str(), "r"), &BIO_free);
  if (!source)
    return SYMM_ERROR(kInvalidParam, "TLS: revocation list {}: {}", path, openssl_error());
  int count = 0;
  while (X509_CRL* crl = PEM_read_bio_X509_CRL(source.get(), nullptr, nullptr, nullptr)) {
    X509_STORE_add_crl(store, crl);
    X509_CRL_free(crl);
    ++count;
  }
  std::string error = openssl_error();  // the end of the file also leaves an entry
  if (count == 0)
    return SYMM_ERROR(kInvalidParam, "TLS: {} holds no revocation list: {}", path, error);
  return {};
}

std::time_t seconds_of(const ASN1_TIME* time) {
  tm parts{};
  return ASN1_TIME_to_tm(time, &parts) == 1 ? timegm(&parts) : 0;
}

}  // namespace

Status load_certificates(SSL_CTX* context, const TlsInfo& info, const PrivateKey& key) {
  for (const std::string& file : info.ca_files) {
    std::string path = join_path(info.ca_path, file);
    if (SSL_CTX_load_verify_file(context, path.c_str()) != 1) {
      return SYMM_ERROR(kInvalidParam, "TLS: CA file {} cannot be read: {}", path, openssl_error());
    }
  }
  if (SSL_CTX_use_certificate_chain_file(context, info.certificate.c_str()) != 1) {
    return SYMM_ERROR(kInvalidParam, "TLS: certificate {} cannot be read: {}", info.certificate,
                      openssl_error());
  }
  SYMM_TRY(load_private_key(context, key, info.certificate));
  X509_STORE* store = SSL_CTX_get_cert_store(context);
  for (const std::string& file : info.crl_files) {
    SYMM_TRY(load_crl(store, join_path(info.crl_path, file)));
  }
  if (!info.crl_files.empty()) X509_STORE_set_flags(store, X509_V_FLAG_CRL_CHECK);
  return {};
}

std::string common_name(const X509_NAME* name) {
  char text[128] = "";
  if (X509_NAME_get_text_by_NID(const_cast<X509_NAME*>(name), NID_commonName, text,
                                static_cast<int>(sizeof(text))) < 0) {
    return "(no name)";
  }
  std::string out(text);
  // A peer chooses it, and it goes to logs.
  std::replace_if(
      out.begin(), out.end(), [](unsigned char c) { return c < 0x20 || c >= 0x7F; }, '.');
  return out;
}

Validity validity_of(SSL_CTX* context) {
  X509* certificate = SSL_CTX_get0_certificate(context);
  if (certificate == nullptr) return {};
  return {seconds_of(X509_get0_notBefore(certificate)),
          seconds_of(X509_get0_notAfter(certificate))};
}

ExpiryRules expiry_rules() {
  ExpiryRules out;
  out.period_hours = environment_number("ACCLINK_CHECK_PERIOD_HOURS", 168, 24, 720);
  out.ahead_days = environment_number("ACCLINK_CERT_CHECK_AHEAD_DAYS", 30, 7, 180);
  if (out.ahead_days * 24 >= out.period_hours) return out;
  SYMM_LOG(
      kWarn,
      "ACCLINK_CERT_CHECK_AHEAD_DAYS={} is shorter than ACCLINK_CHECK_PERIOD_HOURS={}: 30 days "
      "and 168 hours are used",
      out.ahead_days, out.period_hours);
  return {};
}

}  // namespace symm::net
