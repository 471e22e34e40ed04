// Loads certificates, keys and revocation lists into an OpenSSL context. Used by TlsContext.
// Threads: one; plain functions. Passwords are wiped after use.
#pragma once

#include <openssl/ssl.h>

#include <ctime>

#include "base/status.h"
#include "net/tls_context.h"

namespace symm::net {

inline constexpr size_t kMaxKeyText = 10 * 1024;

// The trust store becomes exactly the CA files named; with revocation lists, every certificate is
// checked against them. kInvalidParam for anything that does not load or does not fit, naming the
// file.
Status load_certificates(SSL_CTX* context, const TlsInfo& info, const PrivateKey& key);

// The common name as printable text.
std::string common_name(const X509_NAME* name);

// From when until when the context's own certificate is valid; zeros when it has none.
struct Validity {
  std::time_t from = 0;
  std::time_t until = 0;
};
Validity validity_of(SSL_CTX* context);

// When certificates are looked at again, and how long before the end they are reported:
// ACCLINK_CHECK_PERIOD_HOURS (24 to 720) and ACCLINK_CERT_CHECK_AHEAD_DAYS (7 to 180, not shorter
// than the period). Values outside are reported and replaced by the defaults.
struct ExpiryRules {
  int period_hours = 168;
  int ahead_days = 30;
};
ExpiryRules expiry_rules();

}  // namespace symm::net
