// The choice of an interface: any list of interfaces against any wish. Lines "name address flags",
// then the wish of SHMEM_UID_SOCK_IFNAME after an empty line.
#include "net/interfaces.h"

#include <algorithm>

#include "require.h"

namespace {

using namespace symm::net;

std::string_view take(std::string_view& text, char end) {
  size_t at = std::min(text.find(end), text.size());
  std::string_view part = text.substr(0, at);
  text.remove_prefix(std::min(at + 1, text.size()));
  return part;
}

// The bytes of the "address" as a sockaddr of a size that its first byte decides.
SocketAddress address_of(std::string_view bytes) {
  sockaddr_storage storage{};
  std::copy_n(bytes.data(), std::min(bytes.size(), sizeof(storage) - 2),
              reinterpret_cast<char*>(&storage) + 2);
  bool v6 = !bytes.empty() && (bytes[0] & 1) != 0;
  storage.ss_family = v6 ? AF_INET6 : AF_INET;
  return {reinterpret_cast<const sockaddr*>(&storage),
          static_cast<socklen_t>(v6 ? sizeof(sockaddr_in6) : sizeof(sockaddr_in))};
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  std::string_view text(reinterpret_cast<const char*>(data), size);
  std::vector<InterfaceAddress> list;
  std::vector<SocketAddress> preferred;
  while (!text.empty() && list.size() < 64) {
    std::string_view line = take(text, '\n');
    if (line.empty()) break;
    InterfaceAddress item;
    item.name = take(line, ' ');
    item.address = address_of(take(line, ' '));
    item.up = line.find('u') != std::string_view::npos;
    item.loopback = line.find('l') != std::string_view::npos;
    if (line.find('p') != std::string_view::npos) preferred.push_back(item.address);
    list.push_back(item);
  }
  std::optional<InterfaceSpec> spec;
  if (!text.empty()) {
    auto parsed = parse_interface_spec(text);
    if (!parsed.ok()) return 0;
    spec = parsed.value();
  }
  auto chosen = choose_address(list, spec, preferred);
  if (!chosen.ok()) {
    SYMM_REQUIRE(!chosen.status().text().empty());
    return 0;
  }
  SYMM_REQUIRE(chosen.value().up);
  SYMM_REQUIRE(std::any_of(list.begin(), list.end(), [&](const InterfaceAddress& item) {
    return item.name == chosen.value().name && item.address.same_host(chosen.value().address);
  }));
  if (spec && spec->family != Family::kAny)
    SYMM_REQUIRE(chosen.value().address.is_v6() == (spec->family == Family::kV6));
  return 0;
}
