// TlsContext: what one side of a control connection needs for TLS 1.3: keys, rules, and words for
// what went wrong. Mutual authentication always: by a pre-shared key (derived from a secret) or by
// certificates. No older version, no session tickets, no way to run without. Threads: making one is
// single-threaded, afterwards it is read-only and shared. Holds secrets until destroyed.
#pragma once

#include <openssl/ssl.h>

#include <memory>
#include <string>
#include <string_view>

#include "base/status.h"
#include "net/secret.h"
#include "net/tls_info.h"

namespace symm::net {

enum class Side : uint8_t { kServer, kClient };

// The private key of certificate mode, as the user handed it over.
struct PrivateKey {
  using Decrypt = int (*)(const char* cipher, size_t cipher_size, char* plain, size_t& plain_size);
  std::string pem;
  std::string password;       // encrypted when decrypt is set
  Decrypt decrypt = nullptr;  // 0 is success; plain_size: capacity in, length out
};

class TlsContext {
 public:
  static Result<std::shared_ptr<TlsContext>> from_secret(Side side, const Secret& secret);
  static Result<std::shared_ptr<TlsContext>> from_certificate(Side side, const TlsInfo& info,
                                                              const PrivateKey& key);
  ~TlsContext();
  TlsContext(const TlsContext&) = delete;
  TlsContext& operator=(const TlsContext&) = delete;

  SSL_CTX* native() const { return context_; }
  KeyKind kind() const { return kind_; }
  const std::string& source() const { return source_; }

  // Before the handshake of a connection: `note` receives what the peer did wrong, if we can tell,
  // and must outlive the connection.
  void prepare(SSL* ssl, std::string* note) const;
  // After the handshake: the peer proved that it has the key. Must be called; the handshake alone
  // is not proof.
  Status verify(SSL* ssl) const;
  // "TLSv1.3 TLS_AES_128_GCM_SHA256, user secret".
  std::string describe(SSL* ssl) const;
  // Words for a failed handshake. `error` is an OpenSSL error code, or 0 when the peer closed the
  // connection.
  std::string explain(SSL* ssl, unsigned long error, const std::string& note) const;

 private:
  TlsContext(Side side, KeyKind kind, std::string source);
  static int find_session(SSL* ssl, const unsigned char* identity, size_t size, SSL_SESSION** out);
  static int use_session(SSL* ssl, const EVP_MD* digest, const unsigned char** identity,
                         size_t* size, SSL_SESSION** out);
  SSL_SESSION* make_session(SSL* ssl) const;
  Status init_context();
  std::string explain_server(SSL* ssl, int reason, const std::string& note) const;
  std::string explain_client(SSL* ssl, int reason) const;

  Side side_;
  KeyKind kind_;
  std::string source_;
  std::string identity_;
  Key key_{};
  SSL_CTX* context_ = nullptr;
};

// The oldest entry of this thread's OpenSSL error queue as text; clears the queue.
std::string openssl_error();

}  // namespace symm::net
