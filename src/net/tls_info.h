// The configuration string of aclshmemx_set_conf_store_tls: "key:value" items separated by ';'.
// Pure. Threads: any.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"

namespace symm::net {

struct TlsInfo {
  std::string ca_path;                // folder of the CA files
  std::vector<std::string> ca_files;  // names inside ca_path, or absolute
  std::string certificate;            // own certificate chain, PEM
  std::string crl_path;               // folder of the revocation lists
  std::vector<std::string> crl_files;
};

inline constexpr size_t kMaxTlsInfo = 10 * 1024;

// kInvalidParam when an item is malformed, given twice or a required one is missing. Unknown keys
// are ignored.
Result<TlsInfo> parse_tls_info(std::string_view text);

// Folder and file as one path; an absolute file stays as it is.
std::string join_path(const std::string& folder, const std::string& file);

}  // namespace symm::net
