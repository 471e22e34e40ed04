#include "capi/instance_port.h"

#include <cstdio>
#include <cstring>
#include <string>

#include "base/config.h"

namespace symm::capi {
namespace {

constexpr const char* kRange = "SHMEM_INSTANCE_PORT_RANGE";

struct PortRange {
  int64_t start = 0;
  int64_t end = 0;
};

Result<PortRange> port_range() {
  const std::string text = config::text(kRange);
  const size_t colon = text.find(':');
  if (colon == std::string::npos) {
    return SYMM_ERROR(kInvalidValue, "{}='{}' is not start:end, two port numbers", kRange, text);
  }
  PortRange range;
  auto start = config::parse_integer(text.substr(0, colon), 0, 65535);
  if (!start.ok()) return std::move(start.status()).with_context(kRange);
  auto end = config::parse_integer(text.substr(colon + 1), 0, 65535);
  if (!end.ok()) return std::move(end.status()).with_context(kRange);
  range = {start.value(), end.value()};
  if (range.end < range.start) {
    return SYMM_ERROR(kInvalidValue, "{}={}: the end is below the start", kRange, text);
  }
  return range;
}

}  // namespace

Status place_instance(uint32_t flags, aclshmemx_init_attr_t& attributes) {
  constexpr uint32_t kOther = ACLSHMEMX_INIT_WITH_UNIQUEID | ACLSHMEMX_INIT_WITH_MPI;
  if (attributes.instance_id == 0 || (flags & kOther) != 0) return {};
  const std::string address(attributes.ip_port,
                            ::strnlen(attributes.ip_port, sizeof(attributes.ip_port)));
  if (address.empty() && attributes.comm_args != nullptr) return {};
  if (address.empty()) {
    return SYMM_ERROR(kInvalidValue,
                      "instance {} has no address: set ip_port to tcp://host:0 with {}, or to "
                      "tcp://host:port",
                      attributes.instance_id, kRange);
  }
  if (!address.ends_with(":0")) return {};
  auto range = port_range();
  if (!range.ok()) {
    return std::move(range.status())
        .with_context(fmt::format("port of instance {}", attributes.instance_id));
  }
  const auto [start, end] = range.value();
  if (attributes.instance_id > static_cast<uint64_t>(end - start)) {
    return SYMM_ERROR(kInvalidValue, "instance {} has no port: {}={}:{} is for ids 0 to {}",
                      attributes.instance_id, kRange, start, end, end - start);
  }
  const auto port = static_cast<uint64_t>(start) + attributes.instance_id;
  const std::string placed = fmt::format("{}{}", address.substr(0, address.size() - 1), port);
  if (placed.size() >= sizeof(attributes.ip_port)) {
    return SYMM_ERROR(kInvalidValue, "the address '{}' does not fit into ip_port", placed);
  }
  std::snprintf(attributes.ip_port, sizeof(attributes.ip_port), "%s", placed.c_str());
  return {};
}

}  // namespace symm::capi
