#include "net/tls_identity.h"

#include <algorithm>
#include <charconv>

namespace symm::net {
namespace {

constexpr std::string_view kPrefix = "anyshmem/1/";
constexpr std::string_view kPe = "pe=";
constexpr std::string_view kTrouble = "trouble=";
constexpr size_t kMaxKind = 32;
constexpr int kMaxPe = 16383;

// A part ends at the next slash; the trouble is the rest.
std::string printable(std::string_view text) {
  std::string out(text);
  std::replace_if(
      out.begin(), out.end(), [](unsigned char c) { return c < 0x20 || c >= 0x7F; }, '.');
  return out;
}

}  // namespace

std::string encode_identity(const TlsIdentity& identity) {
  std::string out(kPrefix);
  out += identity.kind;
  if (identity.pe >= 0) out.append("/").append(kPe).append(std::to_string(identity.pe));
  if (!identity.trouble.empty()) {
    out.append("/").append(kTrouble).append(printable(identity.trouble));
  }
  return out.substr(0, kMaxIdentity);
}

std::optional<TlsIdentity> parse_identity(std::string_view text) {
  if (!text.starts_with(kPrefix) || text.size() > kMaxIdentity) return std::nullopt;
  text.remove_prefix(kPrefix.size());
  TlsIdentity out;
  const size_t end = std::min(text.find('/'), text.size());
  if (end == 0 || end > kMaxKind) return std::nullopt;
  out.kind = printable(text.substr(0, end));
  text.remove_prefix(end);
  if (text.starts_with("/pe=")) {
    text.remove_prefix(1 + kPe.size());
    auto [stop, error] = std::from_chars(text.data(), text.data() + text.size(), out.pe);
    if (error != std::errc() || out.pe < 0 || out.pe > kMaxPe) return std::nullopt;
    text.remove_prefix(static_cast<size_t>(stop - text.data()));
  }
  if (text.empty()) return out;
  if (!text.starts_with("/trouble=")) return std::nullopt;
  out.trouble = printable(text.substr(1 + kTrouble.size()));
  if (out.trouble.empty()) return std::nullopt;
  return out;
}

}  // namespace symm::net
