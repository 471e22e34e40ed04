// Audit: security events as JSON lines in the file that SHMEM_AUDIT_LOG names; nothing without it.
// One line is one write to a file opened for appending, so that processes share a file and it may
// be rotated at any time. Callers bound how often they write. Threads: any; no state.
#pragma once

#include <cstdint>
#include <string_view>

#include "base/status.h"

namespace symm::audit {

enum class Event : uint8_t {
  kRefusedConnection,    // subject: who it was
  kTlsOff,               // subject: the PE
  kCertificateExpiring,  // subject: the file
  kCertificateExpired,
  kCertificateRefused,  // an own certificate or key cannot be used
  kSecretRefused,       // subject: the file of the secret
  kJoinFailed,          // this PE could not join: PE 0 refused it, or it refuses PE 0
};

// Appends {"time":..., "pid":..., "event":..., "subject":..., "reason":..., "count":...}. A line
// that cannot be written is reported in the log; the caller goes on.
void write(Event event, std::string_view subject, std::string_view reason, uint64_t count = 1);

// kInvalidValue when SHMEM_AUDIT_LOG names a file that cannot be used: init fails rather than going
// on without the log that was asked for.
Status check();

// The text as a JSON string with its quotes; bytes outside printable ASCII are escaped.
std::string json_string(std::string_view text);

}  // namespace symm::audit
