// SHA-256 and HMAC-SHA-256 over OpenSSL's libcrypto, for names and proofs of possession on local
// sockets. No TLS comes with it. Threads: any.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

namespace symm::os {

using Digest = std::array<uint8_t, 32>;

Digest sha256(std::string_view data);
Digest hmac_sha256(std::span<const uint8_t> key, std::string_view data);
// Takes the same time whatever the bytes are.
bool equal_secret(const Digest& a, const Digest& b);
// Bytes from the kernel's generator.
void random_bytes(void* out, size_t bytes);

}  // namespace symm::os
