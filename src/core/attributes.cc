#include "core/attributes.h"

#include <cstdio>
#include <map>

#include "base/version.h"
#include "os/sha256.h"

namespace symm {
namespace {

template <typename Value>
void collect(const std::vector<Attributes>& all, const char* name, Value value_of,
             std::string& differences) {
  std::map<std::string, std::vector<int>> by_value;
  std::vector<std::string> order;
  for (size_t pe = 0; pe < all.size(); ++pe) {
    std::string value = fmt::format("{}", value_of(all[pe]));
    auto& pes = by_value[value];
    if (pes.empty()) order.push_back(value);
    pes.push_back(static_cast<int>(pe));
  }
  if (order.size() < 2) return;
  differences += fmt::format("{}{}: ", differences.empty() ? "" : "; ", name);
  for (size_t i = 0; i < order.size(); ++i) {
    differences +=
        fmt::format("{}{}: {}", i == 0 ? "" : ", ", name_pes(by_value[order[i]]), order[i]);
  }
}

std::string mode_name(uint32_t mode) {
  switch (mode) {
    case ACLSHMEMX_INIT_WITH_DEFAULT:
      return "DEFAULT";
    case ACLSHMEMX_INIT_WITH_MPI:
      return "MPI";
    case ACLSHMEMX_INIT_WITH_UNIQUEID:
      return "UNIQUEID";
    default:
      return fmt::format("{:#x}", mode);
  }
}

}  // namespace

Attributes Attributes::of(const InstanceOptions& options, int pe, int n_pes) {
  Attributes mine{};
  std::snprintf(mine.version, sizeof(mine.version), "%s", kVersion);
  mine.n_pes = n_pes;
  mine.engines = options.engines;
  mine.heap_bytes = options.heap_bytes;
  mine.instance = options.id;
  mine.tls = static_cast<uint32_t>(options.tls.enabled);
  mine.pe = static_cast<uint32_t>(pe);
  mine.mode = options.mode;
  os::random_bytes(&mine.salt, sizeof(mine.salt));
  return mine;
}

std::string name_pes(const std::vector<int>& pes) {
  std::string text = pes.size() == 1 ? "PE " : "PEs ";
  for (size_t i = 0; i < pes.size();) {
    size_t end = i;
    while (end + 1 < pes.size() && pes[end + 1] == pes[end] + 1) ++end;
    text += i == 0 ? "" : ", ";
    text += end == i ? fmt::format("{}", pes[i]) : fmt::format("{}-{}", pes[i], pes[end]);
    i = end + 1;
  }
  return text;
}

Status compare(const std::vector<Attributes>& all) {
  std::string differences;
  collect(
      all, "library version", [](const Attributes& a) { return std::string(a.version); },
      differences);
  collect(
      all, "n_pes", [](const Attributes& a) { return a.n_pes; }, differences);
  collect(
      all, "local_mem_size", [](const Attributes& a) { return a.heap_bytes; }, differences);
  collect(
      all, "data_op_engine_type", [](const Attributes& a) { return a.engines; }, differences);
  collect(
      all, "instance_id", [](const Attributes& a) { return a.instance; }, differences);
  collect(
      all, "TLS", [](const Attributes& a) { return a.tls != 0 ? "on" : "off"; }, differences);
  collect(
      all, "bootstrap flags", [](const Attributes& a) { return mode_name(a.mode); }, differences);
  if (!differences.empty()) {
    return SYMM_ERROR(kInternal, "the attributes of init must be the same on all PEs, but {}",
                      differences);
  }
  return {};
}

}  // namespace symm
