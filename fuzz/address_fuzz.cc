// Addresses and interface choices as people write them.
#include "net/address.h"
#include "require.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace symm::net;
  std::string_view text(reinterpret_cast<const char*>(data), size);
  auto url = parse_url(text);
  if (url.ok()) {
    SYMM_REQUIRE(url.value().port >= kLowestUrlPort && !url.value().host.empty());
    std::string again = url.value().to_string();
    auto back = parse_url("tcp://" + again);
    SYMM_REQUIRE(back.ok() && back.value().to_string() == again);
  }
  auto session = parse_session_id(text);
  if (session.ok()) {
    SYMM_REQUIRE(session.value().port >= kLowestSessionPort && !session.value().host.empty());
    std::string again = session.value().to_string();
    auto back = parse_session_id(again);
    SYMM_REQUIRE(back.ok() && back.value().to_string() == again);
  }
  auto spec = parse_interface_spec(text);
  if (spec.ok()) SYMM_REQUIRE(!spec.value().prefixes.empty());
  return 0;
}
