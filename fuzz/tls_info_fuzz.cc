// The TLS configuration string.
#include "net/tls_info.h"
#include "require.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  auto info = symm::net::parse_tls_info({reinterpret_cast<const char*>(data), size});
  if (!info.ok()) return 0;
  SYMM_REQUIRE(!info.value().ca_path.empty() && !info.value().certificate.empty());
  SYMM_REQUIRE(!info.value().ca_files.empty());
  for (const std::string& file : info.value().ca_files) SYMM_REQUIRE(!file.empty());
  return 0;
}
