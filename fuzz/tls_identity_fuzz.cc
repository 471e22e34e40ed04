// What a stranger says about itself in the first message of TLS.
#include "net/tls_identity.h"
#include "require.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace symm::net;
  auto identity = parse_identity({reinterpret_cast<const char*>(data), size});
  if (!identity) return 0;
  SYMM_REQUIRE(identity->pe >= -1 && identity->pe < 16384 && !identity->kind.empty());
  for (char c : identity->kind + identity->trouble) SYMM_REQUIRE(c >= 0x20 && c < 0x7F);
  auto again = parse_identity(encode_identity(*identity));
  SYMM_REQUIRE(again && again->kind == identity->kind && again->pe == identity->pe &&
               again->trouble == identity->trouble);
  return 0;
}
