// Secrets that the PEs of a job share, and keys made from them.
// Threads: any. Several processes may make the per-user file at once; they agree on one content.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/status.h"

namespace symm::net {

enum class KeyKind : uint8_t { kCertificate, kJobSecret, kUniqueId, kUserFile };

// Short and stable: sent as part of the key's identity, so that both sides can say that their kinds
// differ.
const char* key_kind_name(KeyKind kind);

struct Secret {
  KeyKind kind = KeyKind::kUserFile;
  std::string bytes;
  std::string source;  // for people: where the secret came from, never the secret itself
};

inline constexpr size_t kSecretBytes = 32;
inline constexpr size_t kMinSecretBytes = 16;

using Key = std::array<uint8_t, 32>;

// The first that exists: SHMEM_JOB_SECRET, the bytes inside the unique id (may be empty), the
// per-user file.
Result<Secret> find_secret(std::string_view unique_id_secret);

// SHMEM_SECRET_FILE, else ~/.config/anyshmem/secret.
Result<std::string> user_secret_path();

// Reads the per-user secret, making it (mode 0600, in folders of mode 0700) when it is absent.
// Refused: not a regular file, another owner, readable by others, shorter than kMinSecretBytes.
Result<std::string> user_secret(const std::string& path);

// HKDF-SHA256.
Result<Key> derive_key(std::string_view secret, std::string_view salt, std::string_view info);

// Bytes from the system's generator.
Status random_bytes(void* out, size_t count);

}  // namespace symm::net
