#include "net/tls_info.h"

#include <map>

namespace symm::net {
namespace {

std::string_view trim(std::string_view text) {
  constexpr const char* kSpace = " \t\r\n";
  auto first = text.find_first_not_of(kSpace);
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(kSpace) - first + 1);
}

std::vector<std::string> split_list(std::string_view text) {
  std::vector<std::string> out;
  while (true) {
    auto comma = text.find(',');
    std::string_view item = trim(text.substr(0, comma));
    if (!item.empty()) out.emplace_back(item);
    if (comma == std::string_view::npos) return out;
    text.remove_prefix(comma + 1);
  }
}

bool is_list(std::string_view key) { return key == "tlsCaFile" || key == "tlsCrlFile"; }

Status parse_item(std::string_view item, std::map<std::string, std::string>& items) {
  auto colon = item.find(':');
  if (colon == std::string_view::npos) {
    return SYMM_ERROR(kInvalidParam, "TLS configuration: item '{}' is not key:value", item);
  }
  std::string_view key = trim(item.substr(0, colon));
  std::string_view value = trim(item.substr(colon + 1));
  if (key.empty() || value.empty()) {
    return SYMM_ERROR(kInvalidParam, "TLS configuration: item '{}' lacks a key or a value", item);
  }
  if (value.find(':') != std::string_view::npos ||
      (!is_list(key) && value.find(',') != std::string_view::npos)) {
    return SYMM_ERROR(kInvalidParam, "TLS configuration: the value of {} must not contain ':'{}",
                      key, is_list(key) ? "" : " or ','");
  }
  if (!items.emplace(key, value).second) {
    return SYMM_ERROR(kInvalidParam, "TLS configuration: {} is given twice", key);
  }
  return {};
}

}  // namespace

Result<TlsInfo> parse_tls_info(std::string_view text) {
  if (text.size() > kMaxTlsInfo) {
    return SYMM_ERROR(kInvalidParam, "TLS configuration has {} bytes, at most {} are allowed",
                      text.size(), kMaxTlsInfo);
  }
  if (text.find('\0') != std::string_view::npos) {
    return SYMM_ERROR(kInvalidParam, "TLS configuration contains a zero byte");
  }
  std::map<std::string, std::string> items;
  while (!text.empty()) {
    auto semicolon = text.find(';');
    std::string_view item = trim(text.substr(0, semicolon));
    text.remove_prefix(semicolon == std::string_view::npos ? text.size() : semicolon + 1);
    if (!item.empty()) SYMM_TRY(parse_item(item, items));
  }
  for (const char* required : {"tlsCaPath", "tlsCaFile", "tlsCert"}) {
    if (!items.contains(required)) {
      return SYMM_ERROR(kInvalidParam,
                        "TLS configuration: {} is missing (required: tlsCaPath, "
                        "tlsCaFile, tlsCert)",
                        required);
    }
  }
  TlsInfo info;
  info.ca_path = items["tlsCaPath"];
  info.ca_files = split_list(items["tlsCaFile"]);
  info.certificate = items["tlsCert"];
  info.crl_path = items["tlsCrlPath"];
  info.crl_files = split_list(items["tlsCrlFile"]);
  if (info.ca_files.empty()) {
    return SYMM_ERROR(kInvalidParam, "TLS configuration: tlsCaFile names no file");
  }
  return info;
}

std::string join_path(const std::string& folder, const std::string& file) {
  if (folder.empty() || file.starts_with('/')) return file;
  return folder.ends_with('/') ? folder + file : folder + "/" + file;
}

}  // namespace symm::net
