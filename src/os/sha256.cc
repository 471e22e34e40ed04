#include "os/sha256.h"

#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <sys/random.h>

#include <cerrno>
#include <cstdlib>

namespace symm::os {

Digest sha256(std::string_view data) {
  Digest digest;
  // Fails only when the library cannot load its own SHA-256: nothing secure can go on then.
  if (EVP_Digest(data.data(), data.size(), digest.data(), nullptr, EVP_sha256(), nullptr) != 1) {
    std::abort();
  }
  return digest;
}

Digest hmac_sha256(std::span<const uint8_t> key, std::string_view data) {
  Digest digest;
  if (HMAC(EVP_sha256(), key.data(), static_cast<int>(key.size()),
           reinterpret_cast<const unsigned char*>(data.data()), data.size(), digest.data(),
           nullptr) == nullptr) {
    std::abort();
  }
  return digest;
}

bool equal_secret(const Digest& a, const Digest& b) {
  return CRYPTO_memcmp(a.data(), b.data(), a.size()) == 0;
}

void random_bytes(void* out, size_t bytes) {
  auto* at = static_cast<char*>(out);
  while (bytes > 0) {
    ssize_t got = ::getrandom(at, bytes, 0);
    // The call cannot fail for valid memory once the kernel's pool is up, except by a signal.
    if (got < 0 && errno != EINTR) std::abort();
    if (got > 0) {
      at += got;
      bytes -= static_cast<size_t>(got);
    }
  }
}

}  // namespace symm::os
