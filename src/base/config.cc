#include "base/config.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <mutex>

#include "base/log.h"

extern char** environ;

namespace symm::config {
namespace {

constexpr int64_t kMax = INT64_MAX;

constexpr Option kOptions[] = {
    {"SHMEM_LOG_LEVEL", Kind::kText, "", 0, 0, "DEBUG, INFO, WARN, ERROR or FATAL"},
    {"SHMEM_LOG_TO_STDOUT", Kind::kFlag, "0", 0, 1, "also print log records to stdout"},
    {"SHMEM_LOG_PATH", Kind::kText, "", 0, 0,
     "directory for log files; none are written when unset"},
    {"SHMEM_UID_SESSION_ID", Kind::kText, "", 0, 0, "address and port of PE 0 in unique-id mode"},
    {"SHMEM_UID_SOCK_IFNAME", Kind::kText, "", 0, 0,
     "interface for the unique id: name, name:inet4 or name:inet6"},
    {"SHMEM_INSTANCE_PORT_RANGE", Kind::kText, "", 0, 0,
     "start:end: instance k, given an address with port 0, uses port start + k"},
    {"SHMEM_CYCLE_PROF_PE", Kind::kInteger, "-1", -1, 16383,
     "PE whose kernels record cycle counts"},
    {"SHMEM_JOB_SECRET", Kind::kText, "", 0, 0,
     "secret shared by all PEs of a job; key of TLS when no certificate is given"},
    {"SHMEM_SECRET_FILE", Kind::kText, "", 0, 0,
     "file of the per-user secret; default ~/.config/anyshmem/secret, made on first use"},
    {"SHMEM_TLS", Kind::kFlag, "1", 0, 1,
     "0 switches TLS of the control plane off, like aclshmemx_set_conf_store_tls(false, nullptr, "
     "0)"},
    {"SHMEM_TLS_CONFIG", Kind::kText, "", 0, 0,
     "certificates of the control plane: the tlsCaPath:...;tlsCaFile:...;tlsCert:... text of "
     "aclshmemx_set_conf_store_tls, which wins over it"},
    {"SHMEM_TLS_KEY_FILE", Kind::kText, "", 0, 0,
     "file of the private key (PEM) of that certificate; readable by its owner only"},
    {"SHMEM_TLS_KEY_PASSWORD_FILE", Kind::kText, "", 0, 0,
     "file of the password of an encrypted private key; readable by its owner only"},
    {"SHMEM_TRACE", Kind::kText, "", 0, 0,
     "file for a trace of all PEs of the job (kernels, operations, waits) that a browser's trace "
     "viewer opens; written at finalize"},
    {"SHMEM_AUDIT_LOG", Kind::kText, "", 0, 0,
     "file that security events are appended to, one JSON object a line: refused connections, TLS "
     "off, certificates, secrets"},
    {"SHMEM_WAIT_REPORT", Kind::kSeconds, "10", 0, 1000000,
     "seconds after which a wait says who waits for what; repeated at doubling intervals; 0 is "
     "never"},
    {"SHMEM_WAIT_TIMEOUT", Kind::kSeconds, "0", 0, 1000000,
     "seconds after which a wait, a barrier, a memory call or the meeting of finalize fails; 0 is "
     "no limit of its own (memory calls and finalize end at control_operation_timeout)"},
    {"SHMEM_SILENCE_LIMIT", Kind::kSeconds, "20", 2, 3600,
     "seconds of silence of the network after which a PE on another host counts as dead"},
    {"SHMEM_ON_ERROR", Kind::kText, "return", 0, 0, "return or abort: what the first error does"},
    {"SHMEM_CHECK", Kind::kInteger, "1", 0, 2,
     "argument checks of host calls: 0 none but the PE, 1 PE, range and symmetry, 2 also "
     "alignment, "
     "overlap and buffers of transfers that are not complete"},
    {"SHMEM_SYMMETRIC_SIZE", Kind::kSize, "1g", 2 << 20, int64_t{40} << 30,
     "bytes of the symmetric heap of a PE when the program does not say; rounded up to 2m"},
    {"SHMEM_OVERCOMMIT", Kind::kText, "refuse", 0, 0,
     "a heap larger than RAM or the limit of the control group: refuse, warn or allow"},
    {"SHMEM_LEAK_REPORT", Kind::kText, "warn", 0, 0,
     "symmetric memory that is not freed at finalize: off, warn (a record of the log) or error "
     "(finalize fails)"},
    {"SHMEM_PREFAULT", Kind::kFlag, "0", 0, 1,
     "touch the heap at init and collapse it to huge pages"},
    {"SHMEM_ENGINE_DELAY_US", Kind::kInteger, "0", 0, 1000000,
     "delay of every queued RDMA/SDMA/UDMA descriptor, to make missing quiets show"},
    {"SHMEM_ENGINE_DEPTH", Kind::kInteger, "64", 2, 4096,
     "descriptors a queue pair can hold; rounded up to a power of two"},
    {"SHMEM_ENGINE_WORKERS", Kind::kInteger, "1", 1, 64,
     "threads of each RDMA, SDMA or UDMA engine"},
    {"SHMEM_ENGINE_LATENCY_US", Kind::kInteger, "0", 0, 1000000,
     "pacing: time every descriptor takes besides its bytes; descriptors of a queue overlap"},
    {"SHMEM_ENGINE_BANDWIDTH", Kind::kSize, "0", 0, kMax,
     "pacing: bytes per second that all queues of an engine share; 0 is no limit"},
    {"SHMEM_KERNEL_THREADS", Kind::kText, "auto", 0, 0,
     "auto, a number of worker threads for kernel cores, or core (one thread per core instance)"},
    {"SHMEM_KERNEL_STACK", Kind::kSize, "512k", 65536, 1 << 30,
     "stack of one kernel core, in bytes"},
    {"SHMEM_DEVICE_COUNT", Kind::kInteger, "16", 1, 16384, "devices that the runtime reports"},
    {"SHMEM_DEVICE_MEMORY", Kind::kSize, "64g", 1048576, kMax,
     "bytes that aclrtMalloc may give out per device"},
    {"SHMEM_SOC_NAME", Kind::kText, "Ascend910B1", 0, 0, "answer of aclrtGetSocName"},
    {"SHMEM_AIV_CORES", Kind::kInteger, "48", 1, 1024, "vector cores that the platform reports"},
    {"SHMEM_CXX", Kind::kText, "", 0, 0, "compiler that shmem-cc runs"},
    {"SHMEM_INFO", Kind::kFlag, "0", 0, 1,
     "PE 0 prints one line at init: control plane, TLS, transports"},
    {"SHMEM_PE", Kind::kInteger, "-1", -1, 16383, "PE number, set by shmem-run"},
    {"SHMEM_NPES", Kind::kInteger, "0", 0, 16384, "number of PEs, set by shmem-run"},
    {"SHMEM_BOOTSTRAP", Kind::kText, "", 0, 0,
     "address of PE 0 (tcp://host:port), set by shmem-run"},
    {"SHMEM_LISTEN_FD", Kind::kInteger, "-1", -1, 1 << 30,
     "listening socket that PE 0 inherits from shmem-run, bound to the port of SHMEM_BOOTSTRAP"},
    {"SHMEM_RUN_AGENT", Kind::kText, "", 0, 0,
     "command with which shmem-run reaches other hosts (AGENT HOST COMMAND), instead of ssh"},
    {"SHMEM_LOCAL_PES", Kind::kInteger, "0", 0, 16384,
     "PEs on this host, set by shmem-run; 0 is found at init"},
};

const Option* find(const char* name) {
  for (const Option& option : kOptions) {
    if (std::strcmp(option.name, name) == 0) return &option;
  }
  return nullptr;
}

std::string value_or_default(const char* name) {
  if (auto value = raw(name)) return *value;
  const Option* option = find(name);
  return option ? option->fallback : "";
}

}  // namespace

std::span<const Option> options() { return kOptions; }

std::optional<std::string> raw(const char* name) {
  const char* value = std::getenv(name);
  if (value == nullptr) return std::nullopt;
  return std::string(value);
}

Result<bool> parse_flag(const std::string& value) {
  if (value == "1" || value == "true" || value == "on" || value == "yes") return true;
  if (value == "0" || value == "false" || value == "off" || value == "no") return false;
  return SYMM_ERROR(kInvalidValue, "'{}' is not a flag: use 1, true, on, yes or 0, false, off, no",
                    value);
}

Result<int64_t> parse_integer(const std::string& value, int64_t low, int64_t high) {
  int64_t number = 0;
  auto [end, error] = std::from_chars(value.data(), value.data() + value.size(), number);
  if (error != std::errc() || end != value.data() + value.size()) {
    return SYMM_ERROR(kInvalidValue, "'{}' is not an integer between {} and {}", value, low, high);
  }
  if (number < low || number > high) {
    return SYMM_ERROR(kInvalidValue, "{} is not between {} and {}", number, low, high);
  }
  return number;
}

Result<uint64_t> parse_size(const std::string& value, int64_t low, int64_t high) {
  double number = 0;
  auto [end, error] =
      std::from_chars(value.data(), value.data() + value.size(), number, std::chars_format::fixed);
  if (value.empty() || error != std::errc() || !std::isfinite(number) || number < 0) {
    return SYMM_ERROR(kInvalidValue, "'{}' is not a size: use a number with k, m, g or t", value);
  }
  std::string_view suffix(end, value.data() + value.size() - end);
  double factor = 1;
  if (!suffix.empty()) {
    switch (suffix[0] | 0x20) {
      case 'k':
        factor = 1024.0;
        break;
      case 'm':
        factor = 1048576.0;
        break;
      case 'g':
        factor = 1073741824.0;
        break;
      case 't':
        factor = 1099511627776.0;
        break;
      default:
        return SYMM_ERROR(kInvalidValue, "'{}' is not a size: suffix '{}' is not k, m, g or t",
                          value, suffix);
    }
  }
  double bytes = std::ceil(number * factor);
  // The largest integers are not exact as doubles: 2^63 would pass for INT64_MAX.
  if (bytes < static_cast<double>(low) || bytes >= 0x1p63 || static_cast<int64_t>(bytes) > high) {
    return SYMM_ERROR(kInvalidValue, "{} bytes are not between {} and {}", bytes, low, high);
  }
  return static_cast<uint64_t>(bytes);
}

bool flag(const char* name) {
  auto parsed = parse_flag(value_or_default(name));
  if (parsed.ok()) return parsed.value();
  return std::strcmp(find(name)->fallback, "1") == 0;
}

int64_t integer(const char* name) {
  const Option* option = find(name);
  auto parsed = parse_integer(value_or_default(name), option->low, option->high);
  if (parsed.ok()) return parsed.value();
  return parse_integer(option->fallback, option->low, option->high).value();
}

uint64_t size(const char* name) {
  const Option* option = find(name);
  auto parsed = parse_size(value_or_default(name), option->low, option->high);
  if (parsed.ok()) return parsed.value();
  return parse_size(option->fallback, 0, kMax).value();
}

double seconds(const char* name) {
  const Option* option = find(name);
  auto parsed = parse_integer(value_or_default(name), option->low, option->high);
  if (parsed.ok()) return static_cast<double>(parsed.value());
  return static_cast<double>(parse_integer(option->fallback, 0, kMax).value());
}

std::string text(const char* name) { return value_or_default(name); }

Status check_environment() {
  for (const Option& option : kOptions) {
    auto value = raw(option.name);
    if (!value) continue;
    Status status;
    switch (option.kind) {
      case Kind::kFlag:
        status = std::move(parse_flag(*value).status());
        break;
      case Kind::kInteger:
      case Kind::kSeconds:
        status = std::move(parse_integer(*value, option.low, option.high).status());
        break;
      case Kind::kSize:
        status = std::move(parse_size(*value, option.low, option.high).status());
        break;
      case Kind::kText:
        break;
    }
    if (!status.ok()) return std::move(status).with_context(option.name);
  }
  static std::once_flag once;
  std::call_once(once, [] {
    for (char** entry = environ; entry != nullptr && *entry != nullptr; ++entry) {
      if (std::strncmp(*entry, "SHMEM_", 6) != 0) continue;
      const char* equals = std::strchr(*entry, '=');
      if (equals == nullptr) continue;
      std::string name(*entry, static_cast<size_t>(equals - *entry));
      if (find(name.c_str()) == nullptr && name != "SHMEM_HOME_PATH") {
        SYMM_LOG(kWarn, "environment variable {} is not one that this library reads", name);
      }
    }
  });
  return {};
}

}  // namespace symm::config
