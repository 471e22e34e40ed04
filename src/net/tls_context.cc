#include "net/tls_context.h"

#include <openssl/err.h>
#include <openssl/x509.h>
#include <openssl/x509_vfy.h>

#include "net/tls_certificate.h"

namespace symm::net {
namespace {

constexpr const char* kSalt = "anyshmem control plane v1";
constexpr const char* kPskInfo = "tls-psk v1";
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

PeerNote* note_of(SSL* ssl) { return static_cast<PeerNote*>(SSL_get_ex_data(ssl, note_index())); }

// OpenSSL asks about each certificate of a chain. The decision stays as it is; the name of a
// refused one is kept.
int on_verdict(int accepted, X509_STORE_CTX* chain) {
  if (accepted == 1) return accepted;
  auto* ssl =
      static_cast<SSL*>(X509_STORE_CTX_get_ex_data(chain, SSL_get_ex_data_X509_STORE_CTX_idx()));
  PeerNote* note = ssl != nullptr ? note_of(ssl) : nullptr;
  X509* leaf = X509_STORE_CTX_get0_cert(chain);
  if (note != nullptr && leaf != nullptr) {
    note->certificate =
        fmt::format("'{}', issued by '{}'", common_name(X509_get_subject_name(leaf)),
                    common_name(X509_get_issuer_name(leaf)));
  }
  return accepted;
}

// What was found wrong with a certificate, and what helps.
std::string verdict(SSL* ssl, const PeerNote& note) {
  const long result = SSL_get_verify_result(ssl);
  const char* advice = "";
  switch (result) {
    case X509_V_ERR_CERT_HAS_EXPIRED:
      advice = "; renew it, or check the clocks of both hosts";
      break;
    case X509_V_ERR_CERT_NOT_YET_VALID:
      advice = "; check the clocks of both hosts";
      break;
    case X509_V_ERR_CERT_REVOKED:
      advice = "; it is on the list in tlsCrlFile: issue another one";
      break;
    case X509_V_ERR_CRL_HAS_EXPIRED:
    case X509_V_ERR_CRL_NOT_YET_VALID:
    case X509_V_ERR_UNABLE_TO_GET_CRL:
      advice = "; renew the revocation list in tlsCrlFile";
      break;
    case X509_V_ERR_UNABLE_TO_GET_ISSUER_CERT_LOCALLY:
    case X509_V_ERR_UNABLE_TO_GET_ISSUER_CERT:
    case X509_V_ERR_UNABLE_TO_VERIFY_LEAF_SIGNATURE:
    case X509_V_ERR_DEPTH_ZERO_SELF_SIGNED_CERT:
    case X509_V_ERR_SELF_SIGNED_CERT_IN_CHAIN:
    case X509_V_ERR_CERT_SIGNATURE_FAILURE:
      advice = "; its authority is not in tlsCaFile: give all PEs certificates of one authority";
      break;
    default:
      break;
  }
  return fmt::format("{}{}{}", X509_verify_cert_error_string(result),
                     note.certificate.empty() ? "" : fmt::format(" ({})", note.certificate),
                     advice);
}

// What an alert about a certificate means, for the side whose certificate it is.
std::string alert_advice(int alert) {
  switch (alert) {
    case SSL_AD_UNKNOWN_CA:
      return "its authority is not known there; give all PEs certificates of one authority "
             "(tlsCaFile)";
    case SSL_AD_CERTIFICATE_EXPIRED:
      return "it has expired by the clock there; renew it, or check the clocks";
    case SSL_AD_CERTIFICATE_REVOKED:
      return "it is revoked by the list there (tlsCrlFile); issue another one";
    default:
      return fmt::format("{}; is it valid already by the clock there?",
                         SSL_alert_desc_string_long(alert));
  }
}

bool is_certificate_alert(int reason) {
  switch (reason - kAlertBase) {
    case SSL_AD_UNKNOWN_CA:
    case SSL_AD_BAD_CERTIFICATE:
    case SSL_AD_CERTIFICATE_UNKNOWN:
    case SSL_AD_UNSUPPORTED_CERTIFICATE:
    case SSL_AD_CERTIFICATE_EXPIRED:
    case SSL_AD_CERTIFICATE_REVOKED:
      return true;
    default:
      return false;
  }
}

}  // namespace

std::string openssl_error() {
  unsigned long error = ERR_get_error();
  ERR_clear_error();
  return error == 0 ? "unknown OpenSSL error" : reason_text(error);
}

TlsContext::TlsContext(Side side, KeyKind kind, std::string source)
    : side_(side), kind_(kind), source_(std::move(source)) {}

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
  SSL_CTX_set_verify(context_,
                     ask ? SSL_VERIFY_PEER | SSL_VERIFY_FAIL_IF_NO_PEER_CERT : SSL_VERIFY_NONE,
                     &on_verdict);
  // A server with certificates looks at the identity, too: only to say what the other side has.
  if (side_ == Side::kServer) SSL_CTX_set_psk_find_session_callback(context_, &find_session);
  return {};
}

Result<std::shared_ptr<TlsContext>> TlsContext::from_secret(Side side, const Secret& secret) {
  std::shared_ptr<TlsContext> out(new TlsContext(side, secret.kind, secret.source));
  SYMM_TRY(out->init_context());
  SYMM_ASSIGN(out->key_, derive_key(secret.bytes, kSalt, kPskInfo));
  if (side == Side::kClient) SSL_CTX_set_psk_use_session_callback(out->context_, &use_session);
  return out;
}

Result<std::shared_ptr<TlsContext>> TlsContext::for_trouble(KeyKind kind, int pe,
                                                            const std::string& trouble) {
  Secret nothing{kind, std::string(kSecretBytes, '\0'), "no key"};
  SYMM_TRY(random_bytes(nothing.bytes.data(), nothing.bytes.size()));
  SYMM_ASSIGN(std::shared_ptr<TlsContext> out, from_secret(Side::kClient, nothing));
  out->pe_ = pe;
  out->trouble_ = trouble;
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
  *out = nullptr;
  PeerNote unused;
  PeerNote& note = note_of(ssl) != nullptr ? *note_of(ssl) : unused;
  auto peer = parse_identity({reinterpret_cast<const char*>(identity), size});
  // No session: OpenSSL goes on without the key and fails for want of a certificate. The note says
  // why.
  if (!peer) {
    note.why = "it uses a key of another program";
    return 1;
  }
  note.pe = peer->pe;
  const char* ours = key_kind_name(self->kind_);
  if (!peer->trouble.empty()) {
    note.why = "it cannot take part: " + peer->trouble;
  } else if (peer->kind != ours) {
    note.why = fmt::format("it uses the {}, this store the {} ({}); give all PEs the same settings",
                           peer->kind, ours, self->source_);
  } else if (self->kind_ != KeyKind::kCertificate) {
    *out = self->make_session(ssl);
    return *out != nullptr ? 1 : 0;
  }
  return 1;
}

int TlsContext::use_session(SSL* ssl, const EVP_MD* digest, const unsigned char** identity,
                            size_t* size, SSL_SESSION** out) {
  const TlsContext* self = owner_of(ssl);
  *out = nullptr;
  if (digest != nullptr && EVP_MD_get_type(digest) != NID_sha256) return 1;
  *out = self->make_session(ssl);
  // OpenSSL copies it before the callback of another connection can run in this thread.
  thread_local std::string text;
  text = encode_identity(self->identity());
  *identity = reinterpret_cast<const unsigned char*>(text.data());
  *size = text.size();
  return *out != nullptr ? 1 : 0;
}

void TlsContext::prepare(SSL* ssl, PeerNote* note) const {
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

TlsState TlsContext::state(SSL* ssl) const {
  TlsState out{true, SSL_get_version(ssl), SSL_get_cipher_name(ssl), key_kind_name(kind_), ""};
  X509* peer = kind_ == KeyKind::kCertificate ? SSL_get0_peer_certificate(ssl) : nullptr;
  if (peer != nullptr) out.peer = common_name(X509_get_subject_name(peer));
  return out;
}

bool TlsContext::is_plain_peer(unsigned long error) { return is_no_tls(ERR_GET_REASON(error)); }

std::string TlsContext::explain_server(SSL* ssl, int reason, const PeerNote& note) const {
  if (is_no_tls(reason)) return "it does not speak TLS, which this store requires";
  if (!note.why.empty()) return note.why;
  if (is_certificate_alert(reason)) {
    return fmt::format("it does not accept our {}: {}", source_, alert_advice(reason - kAlertBase));
  }
  switch (reason) {
    case SSL_R_BINDER_DOES_NOT_VERIFY:
      return fmt::format("its {} differs from ours ({}); all PEs need the same one",
                         key_kind_name(kind_), source_);
    case SSL_R_NO_SUITABLE_SIGNATURE_ALGORITHM:
    case SSL_R_NO_SHARED_CIPHER:
    case SSL_R_NO_CERTIFICATE_SET:
      return fmt::format(
          "it offers no pre-shared key, this store uses the {} ({}); give all PEs the same "
          "settings",
          key_kind_name(kind_), source_);
    case SSL_R_UNSUPPORTED_PROTOCOL:
      return "it offers no TLSv1.3";
    case SSL_R_PEER_DID_NOT_RETURN_A_CERTIFICATE:
      return fmt::format("it shows no certificate, this store requires one ({})", source_);
    case SSL_R_CERTIFICATE_VERIFY_FAILED:
      return "its certificate is not accepted: " + verdict(ssl, note);
    default:
      return "";
  }
}

std::string TlsContext::explain_client(SSL* ssl, int reason, const PeerNote& note) const {
  if (!trouble_.empty()) return "PE 0 was told that this PE cannot take part: " + trouble_;
  if (is_no_tls(reason)) {
    return "PE 0 answers without TLS, this PE requires it; switch TLS on or off on all PEs";
  }
  std::string ours = fmt::format("{} ({})", key_kind_name(kind_), source_);
  if (is_certificate_alert(reason)) {
    return fmt::format("PE 0 does not accept our {}: {}", source_,
                       alert_advice(reason - kAlertBase));
  }
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
    case SSL_R_CERTIFICATE_VERIFY_FAILED:
      if (kind_ == KeyKind::kCertificate) {
        return "the certificate of PE 0 is not trusted: " + verdict(ssl, note);
      }
      return fmt::format(
          "the other side shows a certificate instead of our {}: PE 0 has other settings, or it is "
          "not our PE 0",
          ours);
    default:
      return "";
  }
}

std::string TlsContext::explain(SSL* ssl, unsigned long error, const PeerNote& note) const {
  std::string text = side_ == Side::kServer ? explain_server(ssl, ERR_GET_REASON(error), note)
                                            : explain_client(ssl, ERR_GET_REASON(error), note);
  if (text.empty() && error == 0) text = "the connection was closed during the TLS handshake";
  if (text.empty()) text = fmt::format("TLS handshake failed: {}", reason_text(error));
  return text;
}

}  // namespace symm::net
