// Loads certificates, keys and revocation lists into an OpenSSL context. Used by TlsContext.
// Threads: one; plain functions. Passwords are wiped after use.
#pragma once

#include <openssl/ssl.h>

#include "base/status.h"
#include "net/tls_context.h"

namespace symm::net {

inline constexpr size_t kMaxKeyText = 10 * 1024;

// The trust store becomes exactly the CA files named; with revocation lists, every certificate is
// checked against them. kInvalidParam for anything that does not load or does not fit, naming the
// file.
Status load_certificates(SSL_CTX* context, const TlsInfo& info, const PrivateKey& key);

}  // namespace symm::net
