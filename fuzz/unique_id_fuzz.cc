// The 136 bytes that a program carries from PE 0 to the others.
#include <algorithm>

#include "bootstrap/unique_id.h"
#include "require.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace symm::bootstrap;
  UniqueIdBytes bytes{};
  std::copy_n(data, std::min(size, bytes.size()), bytes.begin());
  auto id = decode_unique_id(bytes.data());
  if (!id.ok()) return 0;
  SYMM_REQUIRE(id.value().address.port() != 0);
  auto again = decode_unique_id(encode(id.value()).data());
  SYMM_REQUIRE(again.ok());
  SYMM_REQUIRE(again.value().magic == id.value().magic &&
               again.value().secret == id.value().secret);
  SYMM_REQUIRE(again.value().address.port() == id.value().address.port());
  return 0;
}
