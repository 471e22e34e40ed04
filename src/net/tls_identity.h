// What a PE says about itself in the first message of TLS, before anything is proved: the kind of
// its key, its PE number, and, when it has no key to offer, why it cannot take part. Only for
// messages about refusals: nothing is decided by it. Pure. Threads: any.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace symm::net {

struct TlsIdentity {
  std::string kind;     // key_kind_name() of the other side
  int pe = -1;          // -1: not said
  std::string trouble;  // not empty: this PE cannot take part, and why
};

inline constexpr size_t kMaxIdentity = 256;

// "anyshmem/1/KIND[/pe=N][/trouble=TEXT]", at most kMaxIdentity bytes.
std::string encode_identity(const TlsIdentity& identity);
// None for the identity of another program. Characters that are not printable come as '.'.
std::optional<TlsIdentity> parse_identity(std::string_view text);

}  // namespace symm::net
