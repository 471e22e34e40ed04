#include "shmem-run/hosts.h"

#include <unistd.h>

#include <algorithm>

#include "base/config.h"

namespace symm::launcher {
namespace {

constexpr int kMaxSlots = 16384;

Result<Host> parse_host(std::string_view item) {
  Host host;
  std::string_view slots;
  if (item.starts_with("[")) {
    const size_t end = item.find(']');
    if (end == std::string_view::npos) {
      return SYMM_ERROR(kInvalidParam, "'{}': the bracket is not closed", item);
    }
    host.name = item.substr(1, end - 1);
    std::string_view rest = item.substr(end + 1);
    if (!rest.empty() && rest.front() != ':') {
      return SYMM_ERROR(kInvalidParam, "'{}': after the bracket only :SLOTS may follow", item);
    }
    if (!rest.empty()) slots = rest.substr(1);
    if (!rest.empty() && slots.empty()) slots = "?";
  } else {
    const size_t colon = item.find(':');
    if (colon != item.rfind(':')) {
      return SYMM_ERROR(kInvalidParam, "'{}': an IPv6 address is written in brackets", item);
    }
    host.name = item.substr(0, colon);
    if (colon != std::string_view::npos) slots = item.substr(colon + 1);
    if (colon != std::string_view::npos && slots.empty()) slots = "?";
  }
  // A name that begins with '-' would be an option of the agent.
  const bool plain = std::all_of(host.name.begin(), host.name.end(), [](unsigned char c) {
    return std::isalnum(c) != 0 ||
           std::string_view("._-:%@").find(static_cast<char>(c)) != std::string_view::npos;
  });
  if (host.name.empty() || host.name.front() == '-' || !plain) {
    return SYMM_ERROR(kInvalidParam, "'{}' is not a host", item);
  }
  if (slots.empty()) return host;
  auto number = config::parse_integer(std::string(slots), 1, kMaxSlots);
  if (!number.ok()) {
    return SYMM_ERROR(kInvalidParam, "slots of {}: {}", host.name, number.status().text());
  }
  host.slots = static_cast<int>(number.value());
  return host;
}

}  // namespace

Result<std::vector<Host>> parse_hosts(std::string_view text) {
  std::vector<Host> hosts;
  while (true) {
    const size_t comma = text.find(',');
    SYMM_ASSIGN(Host host, parse_host(text.substr(0, comma)));
    auto same = std::find_if(hosts.begin(), hosts.end(),
                             [&](const Host& other) { return other.name == host.name; });
    if (same == hosts.end()) {
      hosts.push_back(std::move(host));
    } else {
      same->slots += host.slots;
    }
    if (comma == std::string_view::npos) return hosts;
    text.remove_prefix(comma + 1);
  }
}

int total_slots(const std::vector<Host>& hosts) {
  int total = 0;
  for (const Host& host : hosts) total += host.slots;
  return total;
}

Result<std::vector<std::vector<int>>> place_pes(const std::vector<Host>& hosts, int n_pes,
                                                bool oversubscribe) {
  const int slots = total_slots(hosts);
  if (n_pes > slots && !oversubscribe) {
    return SYMM_ERROR(kInvalidParam,
                      "{} PEs, but the hosts have {} slots: write host:SLOTS, or --oversubscribe",
                      n_pes, slots);
  }
  std::vector<std::vector<int>> placed(hosts.size());
  for (int pe = 0; pe < n_pes;) {
    for (size_t host = 0; host < hosts.size(); ++host) {
      for (int slot = 0; slot < hosts[host].slots && pe < n_pes; ++slot) {
        placed[host].push_back(pe++);
      }
    }
  }
  return placed;
}

bool is_this_host(const std::string& name) {
  if (name == "localhost" || name == "127.0.0.1" || name == "::1") return true;
  char own[256] = {};
  return ::gethostname(own, sizeof(own) - 1) == 0 && name == own;
}

}  // namespace symm::launcher
