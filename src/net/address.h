// Addresses as people write them, and their parsers. Pure: nothing is looked up here.
// Threads: any; plain values.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"

namespace symm::net {

enum class Family : uint8_t { kAny, kV4, kV6 };

struct Address {
  std::string host;   // IPv4 or IPv6 literal without brackets and scope, or a name
  std::string scope;  // of an IPv6 literal: interface name or number; mostly empty
  uint16_t port = 0;
  Family family = Family::kAny;  // of a literal, or what the user forced
  bool literal = false;

  // "host:port", "[v6]:port" or "[v6%scope]:port".
  std::string to_string() const;
};

inline constexpr uint16_t kLowestUrlPort = 1025;
inline constexpr uint16_t kLowestSessionPort = 1024;

// tcp://host:port, tcp://[v6%scope]:port, tcp6://[v6%scope]:port, tcp6://name:port. kInvalidParam
// otherwise.
Result<Address> parse_url(std::string_view text);

// SHMEM_UID_SESSION_ID: a.b.c.d:port, [v6%scope]:port, name:port, [name]:port (IPv6 forced),
// v6:port (the last colon splits). kInvalidParam otherwise.
Result<Address> parse_session_id(std::string_view text);

// A bare literal, for example from inet_ntop; family and literal are set. kInvalidParam for names.
Result<Address> parse_literal(std::string_view host, uint16_t port);

// SHMEM_UID_SOCK_IFNAME: a comma list of name prefixes, '^' in front turns it into an exclusion,
// ":inet4" or ":inet6" at the end fixes the family.
struct InterfaceSpec {
  std::vector<std::string> prefixes;
  bool exclude = false;
  Family family = Family::kAny;
  std::string unknown_suffix;  // what followed the colon when it was neither; the caller warns
};
Result<InterfaceSpec> parse_interface_spec(std::string_view text);

}  // namespace symm::net
