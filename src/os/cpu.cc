#include "os/cpu.h"

#include <sched.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <fstream>
#include <sstream>
#include <string>

namespace symm::os {
namespace {

int processors_in_mask() {
  cpu_set_t set;
  CPU_ZERO(&set);
  if (sched_getaffinity(0, sizeof set, &set) == 0) return std::max(1, CPU_COUNT(&set));
  // Hosts with more processors than cpu_set_t holds: ask with growing masks.
  for (int count = 2 * CPU_SETSIZE; count <= 1 << 20; count *= 2) {
    cpu_set_t* large = CPU_ALLOC(count);
    size_t bytes = CPU_ALLOC_SIZE(count);
    int found = sched_getaffinity(0, bytes, large) == 0 ? CPU_COUNT_S(bytes, large) : 0;
    CPU_FREE(large);
    if (found > 0) return found;
  }
  return 1;
}

// "max 100000" or "150000 100000" (cgroup v2); 0 when there is no limit or no file.
double quota_of_v2(const std::string& folder) {
  std::ifstream file(folder + "/cpu.max");
  std::string quota;
  double period = 0;
  if (!(file >> quota >> period) || quota == "max" || period <= 0) return 0;
  return std::strtod(quota.c_str(), nullptr) / period;
}

double quota_of_v1(const std::string& folder) {
  std::ifstream quota_file(folder + "/cpu.cfs_quota_us");
  std::ifstream period_file(folder + "/cpu.cfs_period_us");
  double quota = 0;
  double period = 0;
  if (!(quota_file >> quota) || !(period_file >> period) || quota <= 0 || period <= 0) return 0;
  return quota / period;
}

// The tightest quota from our group up to the root.
double tightest(std::string path, const std::string& root, double (*quota_of)(const std::string&)) {
  double best = 0;
  while (true) {
    double quota = quota_of(root + path);
    if (quota > 0 && (best == 0 || quota < best)) best = quota;
    auto slash = path.rfind('/');
    if (path.empty() || slash == std::string::npos) return best;
    path.resize(slash);
  }
}

double cgroup_quota() {
  std::ifstream file("/proc/self/cgroup");
  double best = 0;
  for (std::string line; std::getline(file, line);) {
    auto first = line.find(':');
    auto second = first == std::string::npos ? first : line.find(':', first + 1);
    if (second == std::string::npos) continue;
    std::string controllers = line.substr(first + 1, second - first - 1);
    std::string path = line.substr(second + 1);
    if (path == "/") path.clear();
    double quota = 0;
    if (controllers.empty()) {
      quota = tightest(path, "/sys/fs/cgroup", quota_of_v2);
    } else if (("," + controllers + ",").find(",cpu,") != std::string::npos) {
      quota = tightest(path, "/sys/fs/cgroup/cpu", quota_of_v1);
    }
    if (quota > 0 && (best == 0 || quota < best)) best = quota;
  }
  return best;
}

}  // namespace

int usable_processors() {
  int count = processors_in_mask();
  double quota = cgroup_quota();
  if (quota > 0) count = std::min(count, std::max(1, static_cast<int>(std::ceil(quota))));
  return count;
}

}  // namespace symm::os
