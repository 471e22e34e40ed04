// Security: the keys that a PE uses on the control plane: chosen from what the program set, the
// environment, and the secrets there are. The first that exists: certificates (API, then
// SHMEM_TLS_CONFIG with SHMEM_TLS_KEY_FILE), SHMEM_JOB_SECRET, the secret inside the unique id, the
// secret file of the user. What cannot be used is an error, never a reason to try the next one.
// Threads: the caller's.
#pragma once

#include <ctime>
#include <memory>
#include <string>
#include <string_view>

#include "base/status.h"
#include "bootstrap/plugin_abi.h"
#include "net/expiry_watch.h"
#include "net/tls_context.h"

namespace symm::bootstrap {

struct Security {
  std::shared_ptr<net::TlsContext> server;  // null when TLS is off
  std::shared_ptr<net::TlsContext> client;
  std::string secret;       // also the root of the job key; empty in certificate mode
  std::string source;       // for people
  bool one_launch = false;  // whoever has the key belongs to the same launch
  std::time_t certificate_expires = 0;
  std::unique_ptr<net::ExpiryWatch> watch;  // in certificate mode
};

bool wants_tls(const symm_tls_options& tls);

// `pe` is what the client says about itself. Failures, and TLS being off, go to the audit log.
Result<Security> find_security(const symm_tls_options& tls, std::string_view unique_id_secret,
                               int pe);

// After find_security failed: what to connect with so that PE 0 learns why this PE does not come.
// Null when TLS is off or there is no way.
std::shared_ptr<net::TlsContext> trouble_context(const symm_tls_options& tls, int pe,
                                                 const std::string& why);

// For shmem-info: what a PE of this user would use here, or why it cannot.
std::string describe_security();

}  // namespace symm::bootstrap
