#include "net/address.h"

#include <arpa/inet.h>

#include <algorithm>
#include <charconv>

namespace symm::net {
namespace {

constexpr size_t kMaxHost = 253;
constexpr size_t kMaxInterfaceName = 22;

// inet_pton would stop at a zero byte and not see what follows.
bool has_zero(const std::string& text) { return text.find('\0') != std::string::npos; }

bool is_v4(const std::string& text) {
  in_addr out;
  return !has_zero(text) && inet_pton(AF_INET, text.c_str(), &out) == 1;
}

bool is_v6(const std::string& text) {
  in6_addr out;
  return !has_zero(text) && inet_pton(AF_INET6, text.c_str(), &out) == 1;
}

bool is_alnum(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
}

bool is_name(std::string_view text) {
  if (text.empty() || text.size() > kMaxHost) return false;
  // All digits and dots but not an IPv4 literal is a typing error, not a name.
  if (std::all_of(text.begin(), text.end(),
                  [](char c) { return c == '.' || (c >= '0' && c <= '9'); })) {
    return false;
  }
  return std::all_of(text.begin(), text.end(),
                     [](char c) { return is_alnum(c) || c == '.' || c == '-'; });
}

bool is_scope(std::string_view text) {
  return !text.empty() && text.size() < 16 && std::all_of(text.begin(), text.end(), [](char c) {
    return is_alnum(c) || c == '.' || c == '-' || c == '_' || c == '@';
  });
}

Result<uint16_t> parse_port(std::string_view text, uint16_t lowest, std::string_view whole) {
  unsigned port = 0;
  auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), port);
  if (text.empty() || error != std::errc() || end != text.data() + text.size()) {
    return SYMM_ERROR(kInvalidParam, "address '{}': '{}' is not a port number", whole, text);
  }
  if (port < lowest || port > 65535) {
    return SYMM_ERROR(kInvalidParam, "address '{}': port {} is not between {} and 65535", whole,
                      port, lowest);
  }
  return static_cast<uint16_t>(port);
}

// The host part: a literal (with scope if IPv6) or a name.
Result<Address> parse_host(std::string_view text, bool bracketed, std::string_view whole) {
  Address out;
  auto percent = text.find('%');
  out.host = text.substr(0, percent);
  if (is_v6(out.host)) {
    out.family = Family::kV6;
    out.literal = true;
    if (percent == std::string_view::npos) return out;
    out.scope = text.substr(percent + 1);
    if (!is_scope(out.scope)) {
      return SYMM_ERROR(kInvalidParam, "address '{}': '{}' is not an interface name", whole,
                        out.scope);
    }
    return out;
  }
  if (percent != std::string_view::npos) {
    return SYMM_ERROR(kInvalidParam, "address '{}': only an IPv6 address can have a scope", whole);
  }
  if (is_v4(out.host)) {
    if (bracketed) {
      return SYMM_ERROR(kInvalidParam, "address '{}': brackets are for IPv6 addresses", whole);
    }
    out.family = Family::kV4;
    out.literal = true;
    return out;
  }
  if (!is_name(out.host)) {
    return SYMM_ERROR(kInvalidParam, "address '{}': '{}' is neither an IP address nor a host name",
                      whole, out.host);
  }
  return out;
}

// host:port or [host]:port.
Result<Address> parse_host_port(std::string_view text, uint16_t lowest, bool bare_v6,
                                bool& bracketed, std::string_view whole) {
  std::string_view host;
  std::string_view port;
  bracketed = !text.empty() && text.front() == '[';
  if (bracketed) {
    auto close = text.find(']');
    if (close == std::string_view::npos) {
      return SYMM_ERROR(kInvalidParam, "address '{}': ']' is missing", whole);
    }
    host = text.substr(1, close - 1);
    port = text.substr(close + 1);
    if (port.empty() || port.front() != ':') {
      return SYMM_ERROR(kInvalidParam, "address '{}': ':port' is missing after ']'", whole);
    }
    port.remove_prefix(1);
  } else {
    auto colon = text.rfind(':');
    if (colon == std::string_view::npos) {
      return SYMM_ERROR(kInvalidParam, "address '{}': ':port' is missing", whole);
    }
    host = text.substr(0, colon);
    port = text.substr(colon + 1);
    if (!bare_v6 && host.find(':') != std::string_view::npos) {
      return SYMM_ERROR(kInvalidParam, "address '{}': write an IPv6 address in brackets", whole);
    }
  }
  SYMM_ASSIGN(Address out, parse_host(host, bracketed, whole));
  SYMM_ASSIGN(out.port, parse_port(port, lowest, whole));
  return out;
}

}  // namespace

std::string Address::to_string() const {
  if (family != Family::kV6 || !literal) return fmt::format("{}:{}", host, port);
  return fmt::format("[{}{}{}]:{}", host, scope.empty() ? "" : "%", scope, port);
}

Result<Address> parse_url(std::string_view text) {
  bool v6 = text.starts_with("tcp6://");
  if (!v6 && !text.starts_with("tcp://")) {
    return SYMM_ERROR(kInvalidParam,
                      "address '{}' does not begin with tcp:// or tcp6:// (tcp://host:port, "
                      "tcp6://[host]:port)",
                      text);
  }
  bool bracketed = false;
  SYMM_ASSIGN(Address out,
              parse_host_port(text.substr(v6 ? 7 : 6), kLowestUrlPort, false, bracketed, text));
  if (bracketed && !out.literal && !v6) {
    return SYMM_ERROR(kInvalidParam, "address '{}': brackets are for IPv6 addresses", text);
  }
  if (v6 && out.family == Family::kV4) {
    return SYMM_ERROR(kInvalidParam, "address '{}': tcp6:// needs an IPv6 address or a name", text);
  }
  if (v6) out.family = Family::kV6;
  return out;
}

Result<Address> parse_session_id(std::string_view text) {
  bool bracketed = false;
  SYMM_ASSIGN(Address out, parse_host_port(text, kLowestSessionPort, true, bracketed, text));
  if (bracketed) out.family = Family::kV6;
  return out;
}

Result<Address> parse_literal(std::string_view host, uint16_t port) {
  SYMM_ASSIGN(Address out, parse_host(host, false, host));
  if (!out.literal) return SYMM_ERROR(kInvalidParam, "'{}' is not an IP address", host);
  out.port = port;
  return out;
}

Result<InterfaceSpec> parse_interface_spec(std::string_view text) {
  InterfaceSpec spec;
  std::string_view names = text;
  if (auto colon = names.rfind(':'); colon != std::string_view::npos) {
    std::string_view suffix = names.substr(colon + 1);
    names = names.substr(0, colon);
    if (suffix == "inet4") {
      spec.family = Family::kV4;
    } else if (suffix == "inet6") {
      spec.family = Family::kV6;
    } else {
      spec.unknown_suffix = suffix;
    }
  }
  if (names.starts_with('^')) {
    spec.exclude = true;
    names.remove_prefix(1);
  }
  while (true) {
    auto comma = names.find(',');
    std::string_view name = names.substr(0, comma);
    if (name.empty() || name.size() >= kMaxInterfaceName) {
      return SYMM_ERROR(
          kInvalidParam,
          "SHMEM_UID_SOCK_IFNAME='{}': '{}' is not an interface name of 1 to {} characters", text,
          name, kMaxInterfaceName - 1);
    }
    spec.prefixes.emplace_back(name);
    if (comma == std::string_view::npos) return spec;
    names.remove_prefix(comma + 1);
  }
}

}  // namespace symm::net
