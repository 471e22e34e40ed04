#include "os/memory_limit.h"

#include <fmt/format.h>
#include <sys/resource.h>

#include <algorithm>
#include <charconv>
#include <fstream>

namespace symm::os {
namespace {

// Limits above this are the kernel's way to say that there is none.
constexpr uint64_t kUnlimited = uint64_t{1} << 60;

uint64_t read_limit(const std::string& path) {
  std::ifstream file(path);
  std::string word;
  uint64_t value = 0;
  if (!(file >> word)) return MemoryLimits::kNone;
  auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), value);
  const bool number = error == std::errc() && end == word.data() + word.size();
  return number && value < kUnlimited ? value : MemoryLimits::kNone;  // "max" is no number
}

// The smallest limit from this group up to the top of its tree: the kernel obeys all of them.
// Inside a container the path may be that of the host; then only the top is to be seen.
uint64_t smallest_up(const std::string& top, std::string group, const char* file) {
  uint64_t smallest = read_limit(top + "/" + file);
  while (!group.empty() && group != "/") {
    smallest = std::min(smallest, read_limit(top + group + "/" + file));
    group.resize(group.rfind('/'));
  }
  return smallest;
}

uint64_t cgroup_limit(const std::string& root) {
  const std::string mount = root + "/sys/fs/cgroup";
  uint64_t smallest = MemoryLimits::kNone;
  std::ifstream groups(root + "/proc/self/cgroup");
  std::string line;
  // Lines are "number:controllers:path"; version 2 has no controllers.
  while (std::getline(groups, line)) {
    const size_t first = line.find(':');
    const size_t second = first == std::string::npos ? first : line.find(':', first + 1);
    if (second == std::string::npos || line.size() == second + 1 || line[second + 1] != '/') {
      continue;
    }
    const std::string controllers = "," + line.substr(first + 1, second - first - 1) + ",";
    const std::string group = line.substr(second + 1);
    if (controllers == ",,") {
      smallest = std::min(smallest, smallest_up(mount, group, "memory.max"));
    } else if (controllers.find(",memory,") != std::string::npos) {
      smallest = std::min(smallest, smallest_up(mount + "/memory", group, "memory.limit_in_bytes"));
    }
  }
  return smallest;
}

uint64_t total_ram(const std::string& root) {
  std::ifstream file(root + "/proc/meminfo");
  std::string key, unit;
  uint64_t kib = 0;
  while (file >> key >> kib >> unit) {
    if (key == "MemTotal:") return kib * 1024;
  }
  return MemoryLimits::kNone;
}

std::string show(uint64_t limit) {
  return limit == MemoryLimits::kNone ? "no limit" : fmt::format("{} bytes", limit);
}

}  // namespace

uint64_t MemoryLimits::smallest() const { return std::min({ram, cgroup, address_space}); }

std::string MemoryLimits::text() const {
  return fmt::format("RAM {}, cgroup {}, address space (ulimit -v) {}", show(ram), show(cgroup),
                     show(address_space));
}

MemoryLimits memory_limits(const std::string& root) {
  MemoryLimits limits;
  limits.ram = total_ram(root);
  limits.cgroup = cgroup_limit(root);
  rlimit address_space{};
  if (::getrlimit(RLIMIT_AS, &address_space) == 0 && address_space.rlim_cur != RLIM_INFINITY) {
    limits.address_space = address_space.rlim_cur;
  }
  return limits;
}

}  // namespace symm::os
