#include "net/interfaces.h"

#include <ifaddrs.h>
#include <net/if.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "base/unique_fd.h"

namespace symm::net {
namespace {

constexpr const char* kVirtualPrefixes[] = {"docker", "veth", "br-", "virbr", "tun", "tap"};

bool is_virtual(const std::string& name) {
  return std::any_of(std::begin(kVirtualPrefixes), std::end(kVirtualPrefixes),
                     [&](const char* prefix) { return name.starts_with(prefix); });
}

bool named(const InterfaceSpec& spec, const std::string& name) {
  return std::any_of(spec.prefixes.begin(), spec.prefixes.end(),
                     [&](const std::string& prefix) { return name.starts_with(prefix); });
}

bool fits(Family family, const SocketAddress& address) {
  return family == Family::kAny || address.is_v6() == (family == Family::kV6);
}

// Empty when the address may be used. A spec that names the interface lifts the rules on its kind.
const char* objection(const InterfaceAddress& item, const std::optional<InterfaceSpec>& spec) {
  if (!item.up) return "down";
  if (spec && !fits(spec->family, item.address)) return "other family";
  if (spec && spec->exclude == named(*spec, item.name)) return "not selected";
  if (spec && !spec->exclude) return "";
  if (item.loopback) return "loopback";
  if (is_virtual(item.name)) return "virtual";
  if (item.address.is_link_local()) return "link-local";
  return "";
}

// Lower is better.
int preference(const InterfaceAddress& item, const std::vector<SocketAddress>& preferred) {
  int score = item.address.is_v6() ? 2 : 0;
  if (item.address.is_link_local()) score += 4;
  bool routed = std::any_of(preferred.begin(), preferred.end(), [&](const SocketAddress& address) {
    return address.same_host(item.address);
  });
  return score + (routed ? 0 : 1);
}

std::string candidates_text(const std::vector<InterfaceAddress>& interfaces,
                            const std::optional<InterfaceSpec>& spec) {
  std::string text;
  for (const InterfaceAddress& item : interfaces) {
    text += fmt::format("{}{} {} ({})", text.empty() ? "" : ", ", item.name, item.address.host(),
                        objection(item, spec));
  }
  return text.empty() ? "none" : text;
}

}  // namespace

Result<std::vector<InterfaceAddress>> list_interfaces() {
  ifaddrs* list = nullptr;
  if (getifaddrs(&list) != 0) {
    return SYMM_ERROR(kInternal, "the interfaces of this host cannot be listed: {}",
                      std::strerror(errno));
  }
  std::vector<InterfaceAddress> out;
  for (const ifaddrs* entry = list; entry != nullptr; entry = entry->ifa_next) {
    if (entry->ifa_addr == nullptr) continue;
    int family = entry->ifa_addr->sa_family;
    if (family != AF_INET && family != AF_INET6) continue;
    socklen_t size = family == AF_INET ? sizeof(sockaddr_in) : sizeof(sockaddr_in6);
    InterfaceAddress item;
    item.name = entry->ifa_name;
    item.address = SocketAddress(entry->ifa_addr, size);
    item.up = (entry->ifa_flags & IFF_UP) != 0 && (entry->ifa_flags & IFF_RUNNING) != 0;
    item.loopback = (entry->ifa_flags & IFF_LOOPBACK) != 0;
    out.push_back(std::move(item));
  }
  freeifaddrs(list);
  return out;
}

std::optional<SocketAddress> default_route_source(Family family) {
  // Connecting a datagram socket only looks the route up. The targets are reserved for
  // documentation.
  const char* target = family == Family::kV6 ? "2001:db8::1" : "192.0.2.1";
  auto address = parse_literal(target, 9);
  if (!address.ok()) return std::nullopt;
  auto resolved = resolve(address.value());
  if (!resolved.ok()) return std::nullopt;
  const SocketAddress& to = resolved.value().front();
  UniqueFd fd(socket(to.family(), SOCK_DGRAM | SOCK_CLOEXEC, 0));
  if (!fd.valid() || connect(fd.get(), to.get(), to.size()) != 0) return std::nullopt;
  auto source = local_address(fd.get());
  if (!source.ok()) return std::nullopt;
  return source.value();
}

Result<InterfaceAddress> choose_address(const std::vector<InterfaceAddress>& interfaces,
                                        const std::optional<InterfaceSpec>& spec,
                                        const std::vector<SocketAddress>& preferred) {
  const InterfaceAddress* best = nullptr;
  auto consider = [&](const InterfaceAddress& item) {
    if (best == nullptr || preference(item, preferred) < preference(*best, preferred)) best = &item;
  };
  for (const InterfaceAddress& item : interfaces) {
    if (*objection(item, spec) == '\0') consider(item);
  }
  if (best == nullptr && !spec) {
    for (const InterfaceAddress& item : interfaces) {
      if (item.up && item.loopback) consider(item);
    }
  }
  if (best != nullptr) return *best;
  return SYMM_ERROR(kInvalidParam,
                    "no interface of this host has a usable address{}; seen: {}; choose one with "
                    "SHMEM_UID_SOCK_IFNAME or give host:port in SHMEM_UID_SESSION_ID",
                    spec ? " that fits SHMEM_UID_SOCK_IFNAME" : "",
                    candidates_text(interfaces, spec));
}

}  // namespace symm::net
