// SHA-256 and HMAC-SHA-256 (FIPS 180-4, RFC 2104), for names and proofs of possession on local
// sockets. Here so that libshmem.so does not have to load a TLS library for 32 bytes.
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
