#include "store/claims.h"

#include <algorithm>
#include <map>

#include "base/version.h"

namespace symm::store {
namespace {

constexpr size_t kSpareClaims = 64;
constexpr size_t kMaxTroubles = 4;

std::string joined(const std::vector<std::string>& parts) {
  std::string text;
  for (const std::string& part : parts) text += (text.empty() ? "" : "; ") + part;
  return text;
}

}  // namespace

Claims::Claims(const Owner& owner) : owner_(owner) {
  if (owner.token == 0 && owner.trouble.empty()) return;
  seen_.insert({0, owner.token});
  claims_.push_back(
      {0, owner.n_pes, kProtocolVersion, owner.tls, owner.token, kVersion, owner.trouble});
}

bool Claims::has(const Hello& hello) const {
  // The token of another version cannot be read.
  if (hello.token == 0 && hello.version == kProtocolVersion) return false;
  return seen_.contains({hello.pe, hello.token});
}

void Claims::note(const Hello& hello) {
  if (has(hello)) return;
  if (claims_.size() >= static_cast<size_t>(owner_.n_pes) + kSpareClaims) return;
  seen_.insert({hello.pe, hello.token});
  claims_.push_back({hello.pe, hello.n_pes, hello.version, hello.tls != 0, hello.token,
                     hello.library, hello.trouble});
}

bool Claims::contradicts(const Hello& hello, bool taken) const {
  if (hello.version != kProtocolVersion || !hello.trouble.empty()) return true;
  if (hello.n_pes != owner_.n_pes || hello.pe < 0 || hello.pe >= owner_.n_pes) return true;
  if ((hello.tls != 0) != owner_.tls) return true;
  return taken || (hello.pe == 0 && owner_.token != 0 && hello.token != owner_.token);
}

std::vector<int> Claims::silent() const {
  std::vector<bool> spoke(static_cast<size_t>(owner_.n_pes), false);
  for (const Claim& claim : claims_) {
    if (claim.pe >= 0 && claim.pe < owner_.n_pes) spoke[static_cast<size_t>(claim.pe)] = true;
  }
  std::vector<int> out;
  for (int pe = 0; pe < owner_.n_pes; ++pe) {
    if (!spoke[static_cast<size_t>(pe)]) out.push_back(pe);
  }
  return out;
}

bool Claims::complete() const { return silent().empty(); }

template <typename ValueOf>
void Claims::add_table(const char* name, ValueOf value_of, std::vector<std::string>& parts) const {
  std::map<std::string, std::vector<int>> by_value;
  for (const Claim& claim : claims_) by_value[value_of(claim)].push_back(claim.pe);
  if (by_value.size() < 2) return;
  std::vector<std::pair<std::vector<int>, std::string>> rows;
  for (auto& [value, pes] : by_value) {
    std::sort(pes.begin(), pes.end());
    pes.erase(std::unique(pes.begin(), pes.end()), pes.end());
    rows.emplace_back(pes, value);
  }
  std::sort(rows.begin(), rows.end());
  std::string text;
  for (const auto& [pes, value] : rows) {
    text += fmt::format("{}{}: {}", text.empty() ? "" : ", ", format_pes(pes), value);
  }
  parts.push_back(fmt::format("{} differs: {}", name, text));
}

void Claims::add_troubles(std::vector<std::string>& parts) const {
  size_t count = 0;
  for (const Claim& claim : claims_) {
    if (claim.trouble.empty() || ++count > kMaxTroubles) continue;
    parts.push_back(fmt::format("PE {} cannot take part: {}", claim.pe, claim.trouble));
  }
  if (count > kMaxTroubles) parts.push_back(fmt::format("and {} more", count - kMaxTroubles));
}

void Claims::add_numbers(std::vector<std::string>& parts) const {
  std::map<int, int> times;
  for (const Claim& claim : claims_) {
    if (claim.trouble.empty()) ++times[claim.pe];
  }
  for (const auto& [pe, count] : times) {
    if (pe < 0 || pe >= owner_.n_pes) {
      parts.push_back(
          fmt::format("PE {} is out of range: this job has PEs 0 to {}", pe, owner_.n_pes - 1));
    } else if (count > 1) {
      parts.push_back(fmt::format("{} processes claim PE {}: every PE needs a number of its own",
                                  count == 2 ? std::string("two") : std::to_string(count), pe));
    }
  }
}

std::string Claims::text() const {
  std::vector<std::string> parts;
  add_troubles(parts);
  add_table(
      "version of the library",
      [](const Claim& claim) {
        return fmt::format("{} (protocol {})", claim.library.empty() ? "unknown" : claim.library,
                           claim.version);
      },
      parts);
  add_table(
      "n_pes", [](const Claim& claim) { return std::to_string(claim.n_pes); }, parts);
  add_table(
      "TLS", [](const Claim& claim) { return std::string(claim.tls ? "on" : "off"); }, parts);
  add_numbers(parts);
  std::string text = joined(parts);
  if (auto rest = silent(); !rest.empty()) {
    text += fmt::format(" (not heard from: {})", format_pes(rest));
  }
  return text;
}

}  // namespace symm::store
