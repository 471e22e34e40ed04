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
#include "net/tls_identity.h"
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

// What one connection shows before it is trusted; for messages only.
struct PeerNote {
  int pe = -1;              // what it says to be, -1: nothing
  std::string why;          // what it did wrong, if that is known
  std::string certificate;  // whose certificate was not accepted
};

// What is in force on a connection.
struct TlsState {
  bool enabled = false;
  std::string version;
  std::string cipher;
  std::string key_kind;
  std::string peer;  // name in the certificate of the other side; empty with a shared secret
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

  // The client's part of from_secret with what it says about itself; before the first connection.
  void introduce(int pe) { pe_ = pe; }
  // For a PE that has no usable key: says why to a server, which refuses it. No secret is needed.
  static Result<std::shared_ptr<TlsContext>> for_trouble(KeyKind kind, int pe,
                                                         const std::string& trouble);
  // Before the handshake of a connection: `note` receives what the peer did wrong, if we can tell,
  // and must outlive the connection.
  void prepare(SSL* ssl, PeerNote* note) const;
  // After the handshake: the peer proved that it has the key. Must be called; the handshake alone
  // is not proof.
  Status verify(SSL* ssl) const;
  // "TLSv1.3 TLS_AES_128_GCM_SHA256, user secret".
  std::string describe(SSL* ssl) const;
  TlsState state(SSL* ssl) const;
  // Words for a failed handshake. `error` is an OpenSSL error code, or 0 when the peer closed the
  // connection.
  std::string explain(SSL* ssl, unsigned long error, const PeerNote& note) const;
  // The peer does not speak TLS at all.
  static bool is_plain_peer(unsigned long error);

 private:
  TlsContext(Side side, KeyKind kind, std::string source);
  static int find_session(SSL* ssl, const unsigned char* identity, size_t size, SSL_SESSION** out);
  static int use_session(SSL* ssl, const EVP_MD* digest, const unsigned char** identity,
                         size_t* size, SSL_SESSION** out);
  SSL_SESSION* make_session(SSL* ssl) const;
  Status init_context();
  std::string explain_server(SSL* ssl, int reason, const PeerNote& note) const;
  std::string explain_client(SSL* ssl, int reason, const PeerNote& note) const;
  TlsIdentity identity() const { return {key_kind_name(kind_), pe_, trouble_}; }

  Side side_;
  KeyKind kind_;
  std::string source_;
  int pe_ = -1;
  std::string trouble_;
  Key key_{};
  SSL_CTX* context_ = nullptr;
};

// The oldest entry of this thread's OpenSSL error queue as text; clears the queue.
std::string openssl_error();

}  // namespace symm::net
