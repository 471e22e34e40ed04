// A certificate authority for tests: makes keys, certificates and revocation lists as PEM files in
// a folder.
#pragma once

#include <gtest/gtest.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/x509.h>
#include <openssl/x509v3.h>

#include <cstdio>
#include <memory>
#include <string>

namespace symm::test {

using KeyPtr = std::unique_ptr<EVP_PKEY, void (*)(EVP_PKEY*)>;
using CertificatePtr = std::unique_ptr<X509, void (*)(X509*)>;

class Authority {
 public:
  // Writes its own certificate to folder/name.pem.
  Authority(std::string folder, const std::string& name)
      : folder_(std::move(folder)),
        key_(EVP_EC_gen("P-256"), &EVP_PKEY_free),
        certificate_(X509_new(), &X509_free) {
    fill(certificate_.get(), key_.get(), name, 86400 * 365);
    X509_EXTENSION* is_ca =
        X509V3_EXT_conf_nid(nullptr, nullptr, NID_basic_constraints, "critical,CA:TRUE");
    X509_add_ext(certificate_.get(), is_ca, -1);
    X509_EXTENSION_free(is_ca);
    sign(certificate_.get());
    write(name + ".pem", [&](FILE* file) { PEM_write_X509(file, certificate_.get()); });
  }

  // Writes folder/name.pem, valid between two moments in seconds from now; returns the private key
  // as PEM, encrypted when there is a password.
  std::string issue(const std::string& name, long seconds = 86400 * 365,
                    const std::string& password = "", long from = -3600) {
    KeyPtr key(EVP_EC_gen("P-256"), &EVP_PKEY_free);
    CertificatePtr certificate(X509_new(), &X509_free);
    fill(certificate.get(), key.get(), name, seconds, from);
    sign(certificate.get());
    write(name + ".pem", [&](FILE* file) { PEM_write_X509(file, certificate.get()); });
    last_serial_ = serial_;
    BIO* memory = BIO_new(BIO_s_mem());
    const EVP_CIPHER* cipher = password.empty() ? nullptr : EVP_aes_256_cbc();
    PEM_write_bio_PKCS8PrivateKey(memory, key.get(), cipher, password.data(),
                                  static_cast<int>(password.size()), nullptr, nullptr);
    char* text = nullptr;
    long size = BIO_get_mem_data(memory, &text);
    std::string pem(text, static_cast<size_t>(size));
    BIO_free(memory);
    return pem;
  }

  // Writes folder/name with a list that revokes the last certificate, or nothing.
  void write_crl(const std::string& name, bool revoke_last) {
    X509_CRL* crl = X509_CRL_new();
    X509_CRL_set_version(crl, 1);
    X509_CRL_set_issuer_name(crl, X509_get_subject_name(certificate_.get()));
    ASN1_TIME* now = X509_gmtime_adj(nullptr, -60);
    ASN1_TIME* next = X509_gmtime_adj(nullptr, 86400);
    X509_CRL_set1_lastUpdate(crl, now);
    X509_CRL_set1_nextUpdate(crl, next);
    if (revoke_last) {
      X509_REVOKED* revoked = X509_REVOKED_new();
      ASN1_INTEGER* serial = ASN1_INTEGER_new();
      ASN1_INTEGER_set(serial, last_serial_);
      X509_REVOKED_set_serialNumber(revoked, serial);
      X509_REVOKED_set_revocationDate(revoked, now);
      X509_CRL_add0_revoked(crl, revoked);
      ASN1_INTEGER_free(serial);
    }
    X509_CRL_sign(crl, key_.get(), EVP_sha256());
    write(name, [&](FILE* file) { PEM_write_X509_CRL(file, crl); });
    ASN1_TIME_free(now);
    ASN1_TIME_free(next);
    X509_CRL_free(crl);
  }

 private:
  void fill(X509* certificate, EVP_PKEY* key, const std::string& name, long seconds,
            long from = -3600) {
    X509_set_version(certificate, 2);
    ASN1_INTEGER_set(X509_get_serialNumber(certificate), ++serial_);
    X509_gmtime_adj(X509_getm_notBefore(certificate), from);
    X509_gmtime_adj(X509_getm_notAfter(certificate), seconds);
    X509_set_pubkey(certificate, key);
    X509_NAME* subject = X509_get_subject_name(certificate);
    X509_NAME_add_entry_by_txt(subject, "CN", MBSTRING_ASC,
                               reinterpret_cast<const unsigned char*>(name.c_str()), -1, -1, 0);
  }
  void sign(X509* certificate) {
    X509_set_issuer_name(certificate, X509_get_subject_name(certificate_.get()));
    EXPECT_GT(X509_sign(certificate, key_.get(), EVP_sha256()), 0);
  }
  template <typename Body>
  void write(const std::string& name, Body body) {
    FILE* file = std::fopen((folder_ + "/" + name).c_str(), "w");
    ASSERT_NE(file, nullptr);
    body(file);
    std::fclose(file);
  }

  std::string folder_;
  KeyPtr key_;
  CertificatePtr certificate_;
  long serial_ = 0;
  long last_serial_ = 0;
};

}  // namespace symm::test
