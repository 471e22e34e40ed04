#include "net/tls_context.h"

#include <openssl/err.h>
#include <openssl/x509.h>

#include "net/tls_certificate.h"

namespace symm::net {
namespace {

constexpr const char* kSalt = "anyshmem control plane v1";
constexpr const char* kPskInfo = "tls-psk v1";
constexpr const char* kIdentityPrefix = "anyshmem/1/";
constexpr int kAlertBase = SSL_AD_REASON_OFFSET;

// Indexes under which a context and a connection carry our pointers. asio uses slot 0 (app data)
// for itself.
int context_index() {
  static const int index = SSL_CTX_get_ex_new_index(0, nullptr, nullptr, nullptr, nullptr);
  return index;
}
int note_index() {
  static const int index = SSL_get_ex_new_index(0, nullptr, nullptr, nullptr, nullptr);
  return index;
}

const TlsContext* owner_of(SSL* ssl) {
  return static_cast<const TlsContext*>(SSL_CTX_get_ex_data(SSL_get_SSL_CTX(ssl), context_index()));
}

bool is_no_tls(int reason) {
  return reason == SSL_R_WRONG_VERSION_NUMBER || reason == SSL_R_HTTP_REQUEST ||
         reason == SSL_R_HTTPS_PROXY_REQUEST || reason == SSL_R_PACKET_LENGTH_TOO_LONG ||
         reason == SSL_R_BAD_RECORD_TYPE || reason == SSL_R_UNEXPECTED_MESSAGE ||
         reason == SSL_R_UNKNOWN_PROTOCOL;
}

std::string reason_text(unsigned long error) {
  const char* text = ERR_reason_error_string(error);
  return text != nullptr ? text : fmt::format("error {:#x}", error);
}

std::string verdict(SSL* ssl) { return X509_verify_cert_error_string(SSL_get_verify_result(ssl)); }

}  // namespace

std::string openssl_error() {
  unsigned long error = ERR_get_error();
  ERR_clear_error();
  return error == 0 ? "unknown OpenSSL error" : reason_text(error);
}

TlsContext::TlsContext(Side side, KeyKind kind, std::string source)
    : side_(side),
      kind_(kind),
      source_(std::move(source)),
      identity_(std::string(kIdentityPrefix) + key_kind_name(kind)) {}

TlsContext::~TlsContext() {
  SSL_CTX_free(context_);
  OPENSSL_cleanse(key_.data(), key_.size());
}

Status TlsContext::init_context() {
  // Our threads may still use TLS while a process that never finalized runs its exit handlers.
  OPENSSL_init_crypto(OPENSSL_INIT_NO_ATEXIT, nullptr);
  context_ = SSL_CTX_new(side_ == Side::kServer ? TLS_server_method() : TLS_client_method());
  if (context_ == nullptr) return SYMM_ERROR(kInternal, "TLS: {}", openssl_error());
  SSL_CTX_set_ex_data(context_, context_index(), this);
  bool ok = SSL_CTX_set_min_proto_version(context_, TLS1_3_VERSION) == 1 &&
            SSL_CTX_set_max_proto_version(context_, TLS1_3_VERSION) == 1 &&
            // A pre-shared key is bound to a SHA-256 suite; both suites below qualify.
            SSL_CTX_set_ciphersuites(context_,
                                     "TLS_AES_128_GCM_SHA256:TLS_CHACHA20_POLY1305_SHA256") == 1 &&
            SSL_CTX_set1_groups_list(context_, "X25519:P-256") == 1 &&
            SSL_CTX_set_num_tickets(context_, 0) == 1;
  if (!ok) return SYMM_ERROR(kInternal, "TLS: {}", openssl_error());
  SSL_CTX_set_mode(context_, SSL_MODE_RELEASE_BUFFERS | SSL_MODE_ENABLE_PARTIAL_WRITE |
                                 SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER);
  SSL_CTX_set_options(context_,
                      SSL_OP_NO_TICKET | SSL_OP_NO_RENEGOTIATION | SSL_OP_IGNORE_UNEXPECTED_EOF);
  SSL_CTX_set_session_cache_mode(context_, SSL_SESS_CACHE_OFF);
  // A client never goes without verification: a server that ignores the key and shows any
  // certificate must fail, since the trust store is empty in key mode. A server in key mode has no
  // certificate, so without the key nothing succeeds.
  bool ask = side_ == Side::kClient || kind_ == KeyKind::kCertificate;
  SSL_CTX_set_verify(
      context_, ask ? SSL_VERIFY_PEER | SSL_VERIFY_FAIL_IF_NO_PEER_CERT : SSL_VERIFY_NONE, nullptr);
  return {};
}

Result<std::shared_ptr<TlsContext>> TlsContext::from_secret(Side side, const Secret& secret) {
  std::shared_ptr<TlsContext> out(new TlsContext(side, secret.kind, secret.source));
  SYMM_TRY(out->init_context());
  SYMM_ASSIGN(out->key_, derive_key(secret.bytes, kSalt, kPskInfo));
  if (side == Side::kServer) {
    SSL_CTX_set_psk_find_session_callback(out->context_, &TlsContext::find_session);
  } else {
    SSL_CTX_set_psk_use_session_callback(out->context_, &TlsContext::use_session);
  }
  return out;
}

Result<std::shared_ptr<TlsContext>> TlsContext::from_certificate(Side side, const TlsInfo& info,
                                                                 const PrivateKey& key) {
  std::shared_ptr<TlsContext> out(
      new TlsContext(side, KeyKind::kCertificate, "certificate " + info.certificate));
  SYMM_TRY(out->init_context());
  SYMM_TRY(load_certificates(out->context_, info, key));
  return out;
}

SSL_SESSION* TlsContext::make_session(SSL* ssl) const {
  static constexpr unsigned char kAes128GcmSha256[] = {0x13, 0x01};
  SSL_SESSION* session = SSL_SESSION_new();
  const SSL_CIPHER* cipher = SSL_CIPHER_find(ssl, kAes128GcmSha256);
  if (session == nullptr || cipher == nullptr ||
      SSL_SESSION_set1_master_key(session, key_.data(), key_.size()) != 1 ||
      SSL_SESSION_set_cipher(session, cipher) != 1 ||
      SSL_SESSION_set_protocol_version(session, TLS1_3_VERSION) != 1) {
    SSL_SESSION_free(session);
    return nullptr;
  }
  return session;
}

int TlsContext::find_session(SSL* ssl, const unsigned char* identity, size_t size,
                             SSL_SESSION** out) {
  const TlsContext* self = owner_of(ssl);
  std::string_view name(reinterpret_cast<const char*>(identity), size);
  *out = nullptr;
  if (name == self->identity_) {
    *out = self->make_session(ssl);
    return *out != nullptr ? 1 : 0;
  }
  // No session: OpenSSL goes on without the key and fails for want of a certificate. The note says
  // why.
  if (auto* note = static_cast<std::string*>(SSL_get_ex_data(ssl, note_index())); note != nullptr) {
    if (name.starts_with(kIdentityPrefix) && size < 64) {
      *note = fmt::format("it uses the {}, this store the {} ({})",
                          name.substr(std::string_view(kIdentityPrefix).size()),
                          key_kind_name(self->kind_), self->source_);
    } else {
      *note = "it uses a key of another program";
    }
  }
  return 1;
}

int TlsContext::use_session(SSL* ssl, const EVP_MD* digest, const unsigned char** identity,
                            size_t* size, SSL_SESSION** out) {
  const TlsContext* self = owner_of(ssl);
  *out = nullptr;
  if (digest != nullptr && EVP_MD_get_type(digest) != NID_sha256) return 1;
  *out = self->make_session(ssl);
  *identity = reinterpret_cast<const unsigned char*>(self->identity_.data());
  *size = self->identity_.size();
  return *out != nullptr ? 1 : 0;
}

void TlsContext::prepare(SSL* ssl, std::string* note) const {
  SSL_set_ex_data(ssl, note_index(), note);
}

Status TlsContext::verify(SSL* ssl) const {
  if (SSL_version(ssl) != TLS1_3_VERSION) {
    return SYMM_ERROR(kInternal, "TLS: version {} was agreed, TLSv1.3 is required",
                      SSL_get_version(ssl));
  }
  if (kind_ == KeyKind::kCertificate) {
    X509* peer = SSL_get0_peer_certificate(ssl);
    long result = SSL_get_verify_result(ssl);
    if (peer == nullptr) return SYMM_ERROR(kInternal, "TLS: the other side showed no certificate");
    if (result == X509_V_OK) return {};
    return SYMM_ERROR(kInternal, "TLS: certificate of the other side: {}",
                      X509_verify_cert_error_string(result));
  }
  if (SSL_session_reused(ssl) == 1) return {};
  return SYMM_ERROR(kInternal, "TLS: the other side did not prove that it has the {}",
                    key_kind_name(kind_));
}

std::string TlsContext::describe(SSL* ssl) const {
  return fmt::format("{} {}, {}", SSL_get_version(ssl), SSL_get_cipher_name(ssl),
                     key_kind_name(kind_));
}

std::string TlsContext::explain_server(SSL* ssl, int reason, const std::string& note) const {
  if (is_no_tls(reason)) return "it does not speak TLS, which this store requires";
  if (!note.empty()) return note;
  switch (reason) {
    case SSL_R_BINDER_DOES_NOT_VERIFY:
      return fmt::format("its {} differs from ours ({})", key_kind_name(kind_), source_);
    case SSL_R_NO_SUITABLE_SIGNATURE_ALGORITHM:
    case SSL_R_NO_SHARED_CIPHER:
    case SSL_R_NO_CERTIFICATE_SET:
      return fmt::format("it offers no pre-shared key, this store uses the {} ({})",
                         key_kind_name(kind_), source_);
    case SSL_R_UNSUPPORTED_PROTOCOL:
      return "it offers no TLSv1.3";
    case SSL_R_PEER_DID_NOT_RETURN_A_CERTIFICATE:
      return fmt::format("it shows no certificate, this store requires one ({})", source_);
    case SSL_R_CERTIFICATE_VERIFY_FAILED:
      return "its certificate is not accepted: " + verdict(ssl);
    default:
      return "";
  }
}

std::string TlsContext::explain_client(SSL* ssl, int reason) const {
  if (is_no_tls(reason)) {
    return "PE 0 answers without TLS, this PE requires it; switch TLS on or off on all PEs";
  }
  std::string ours = fmt::format("{} ({})", key_kind_name(kind_), source_);
  switch (reason) {
    case kAlertBase + SSL_AD_ILLEGAL_PARAMETER:
    case kAlertBase + SSL_AD_DECRYPT_ERROR:
      return fmt::format("PE 0 has another {}: our {} does not match; all PEs need the same one",
                         key_kind_name(kind_), ours);
    case kAlertBase + SSL_AD_HANDSHAKE_FAILURE:
    case kAlertBase + SSL_AD_INTERNAL_ERROR:
    case kAlertBase + SSL_AD_UNKNOWN_PSK_IDENTITY:
    case kAlertBase + SSL_AD_CERTIFICATE_REQUIRED:
      return fmt::format(
          "PE 0 uses another kind of key than our {}; give all PEs the same settings", ours);
    case kAlertBase + SSL_AD_UNKNOWN_CA:
    case kAlertBase + SSL_AD_BAD_CERTIFICATE:
    case kAlertBase + SSL_AD_CERTIFICATE_UNKNOWN:
    case kAlertBase + SSL_AD_CERTIFICATE_EXPIRED:
    case kAlertBase + SSL_AD_CERTIFICATE_REVOKED:
      return fmt::format("PE 0 does not accept our {}: {}", ours,
                         SSL_alert_desc_string_long(reason - kAlertBase));
    case SSL_R_CERTIFICATE_VERIFY_FAILED:
      if (kind_ == KeyKind::kCertificate) {
        return "the certificate of PE 0 is not trusted: " + verdict(ssl);
      }
      return fmt::format("the other side shows a certificate instead of our {}: not our PE 0",
                         ours);
    default:
      return "";
  }
}

std::string TlsContext::explain(SSL* ssl, unsigned long error, const std::string& note) const {
  std::string text = side_ == Side::kServer ? explain_server(ssl, ERR_GET_REASON(error), note)
                                            : explain_client(ssl, ERR_GET_REASON(error));
  if (text.empty() && error == 0) text = "the connection was closed during the TLS handshake";
  if (text.empty()) text = fmt::format("TLS handshake failed: {}", reason_text(error));
  return text;
}

}  // namespace symm::net
