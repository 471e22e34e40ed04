#include "bootstrap/unique_id.h"

#include <unistd.h>

#include <atomic>
#include <cstring>
#include <optional>

#include "base/bytes.h"
#include "base/config.h"
#include "base/log.h"
#include "net/interfaces.h"
#include "net/listen.h"
#include "net/secret.h"

namespace symm::bootstrap {
namespace {

// The process that made the last id; a child of fork finds its parent here. Relaxed: nothing else
// is read on account of it.
std::atomic<pid_t> g_maker{0};

// Layout: version 0, my_pe 4, n_pes 8, descriptor 12, sockaddr 16 (28 bytes), family 44 (0 IPv4, 1
// IPv6), magic 48; then ours: mark 56, flags 60, secret 64, check sum 96, zeros.
constexpr size_t kSockaddrBytes = sizeof(sockaddr_in6);
constexpr uint32_t kMark = 0x4D4D5953;  // "SYMM"
constexpr uint32_t kHasSecret = 1;
constexpr size_t kCheckedFrom = 12;  // the program may fill in my_pe and n_pes
constexpr size_t kCheckedTo = 96;

static_assert(kSockaddrBytes == 28);

uint64_t check_sum(const uint8_t* bytes) {
  uint64_t hash = 0xCBF29CE484222325u;  // FNV-1a
  for (size_t i = kCheckedFrom; i < kCheckedTo; ++i) hash = (hash ^ bytes[i]) * 0x100000001B3u;
  return hash;
}

Result<net::SocketAddress> read_address(bytes::Reader& in) {
  std::string raw;
  uint32_t family = 0;
  SYMM_TRY(in.read_bytes(raw, kSockaddrBytes, "unique id"));
  SYMM_TRY(in.read(family, "unique id"));
  sockaddr_storage storage{};
  std::memcpy(&storage, raw.data(), raw.size());
  bool v4 = family == 0 && storage.ss_family == AF_INET;
  bool v6 = family == 1 && storage.ss_family == AF_INET6;
  if (!v4 && !v6) return SYMM_ERROR(kInvalidParam, "the unique id holds no IPv4 or IPv6 address");
  net::SocketAddress out(reinterpret_cast<sockaddr*>(&storage),
                         v4 ? sizeof(sockaddr_in) : sizeof(sockaddr_in6));
  if (out.port() == 0) return SYMM_ERROR(kInvalidParam, "the unique id holds no port");
  return out;
}

Result<net::SocketAddress> session_address(const std::string& text) {
  auto parsed = net::parse_session_id(text);
  if (!parsed.ok()) return std::move(parsed.status()).with_context("SHMEM_UID_SESSION_ID");
  auto resolved = net::resolve(parsed.value());
  if (!resolved.ok()) return std::move(resolved.status()).with_context("SHMEM_UID_SESSION_ID");
  for (const net::SocketAddress& address : resolved.value()) {
    if (!address.is_loopback())
      return address;  // a loopback alias of the host name is of no use to other hosts
  }
  return resolved.value().front();
}

Result<net::SocketAddress> interface_address(const std::string& text) {
  std::optional<net::InterfaceSpec> spec;
  if (!text.empty()) {
    SYMM_ASSIGN(spec, net::parse_interface_spec(text));
    if (!spec->unknown_suffix.empty()) {
      SYMM_LOG(kWarn,
               "SHMEM_UID_SOCK_IFNAME={}: '{}' is neither inet4 nor inet6; either family is taken",
               text, spec->unknown_suffix);
    }
  }
  SYMM_ASSIGN(std::vector<net::InterfaceAddress> interfaces, net::list_interfaces());
  std::vector<net::SocketAddress> preferred;
  for (net::Family family : {net::Family::kV4, net::Family::kV6}) {
    if (auto source = net::default_route_source(family)) preferred.push_back(*source);
  }
  SYMM_ASSIGN(net::InterfaceAddress chosen, net::choose_address(interfaces, spec, preferred));
  SYMM_LOG(kInfo, "unique id: address {} of interface {}{}", chosen.address.host(), chosen.name,
           chosen.loopback ? " (loopback: other hosts cannot join)" : "");
  return chosen.address;
}

}  // namespace

UniqueIdBytes encode(const UniqueId& id) {
  bytes::Writer out;
  out.write(kUniqueIdVersion).write(id.my_pe).write(id.n_pes).write(id.listen_fd);
  std::string raw(kSockaddrBytes, '\0');
  std::memcpy(raw.data(), id.address.get(), std::min<size_t>(id.address.size(), raw.size()));
  out.write_bytes(raw).write<uint32_t>(id.address.is_v6() ? 1 : 0).write(id.magic);
  std::string secret = id.secret;
  secret.resize(net::kSecretBytes);
  out.write(kMark).write<uint32_t>(id.secret.empty() ? 0 : kHasSecret).write_bytes(secret);
  UniqueIdBytes bytes{};
  std::memcpy(bytes.data(), out.data().data(), out.data().size());
  uint64_t sum = check_sum(bytes.data());
  std::memcpy(bytes.data() + kCheckedTo, &sum, sizeof sum);
  return bytes;
}

Result<UniqueId> decode_unique_id(const void* data) {
  if (data == nullptr) return SYMM_ERROR(kInvalidParam, "the unique id is a null pointer");
  UniqueIdBytes copy;
  std::memcpy(copy.data(), data, copy.size());
  bytes::Reader in(std::span<const uint8_t>(copy.data(), copy.size()));
  UniqueId out;
  int32_t version = 0;
  uint32_t mark = 0;
  uint32_t flags = 0;
  SYMM_TRY(in.read(version, "unique id"));
  SYMM_TRY(in.read(out.my_pe, "unique id"));
  SYMM_TRY(in.read(out.n_pes, "unique id"));
  SYMM_TRY(in.read(out.listen_fd, "unique id"));
  if (version != kUniqueIdVersion) {
    return SYMM_ERROR(
        kInvalidParam,
        "the unique id has version {}, {} is needed: not a unique id, or of another library",
        version, kUniqueIdVersion);
  }
  SYMM_ASSIGN(out.address, read_address(in));
  SYMM_TRY(in.read(out.magic, "unique id"));
  SYMM_TRY(in.read(mark, "unique id"));
  SYMM_TRY(in.read(flags, "unique id"));
  SYMM_TRY(in.read_bytes(out.secret, net::kSecretBytes, "unique id"));
  uint64_t sum = 0;
  SYMM_TRY(in.read(sum, "unique id"));
  if (mark != kMark) {
    out.secret.clear();
    return out;
  }
  if (sum != check_sum(copy.data())) {
    return SYMM_ERROR(kInvalidParam,
                      "the unique id is damaged: not all of its {} bytes arrived as PE 0 made them",
                      kUniqueIdBytes);
  }
  if ((flags & kHasSecret) == 0) out.secret.clear();
  return out;
}

bool makes_unique_ids() { return g_maker.load(std::memory_order_relaxed) == getpid(); }

Result<UniqueId> make_unique_id() {
  UniqueId id;
  net::SocketAddress address;
  if (auto session = config::raw("SHMEM_UID_SESSION_ID")) {
    SYMM_ASSIGN(address, session_address(*session));
  } else {
    SYMM_ASSIGN(address, interface_address(config::text("SHMEM_UID_SOCK_IFNAME")));
  }
  auto fd = net::listen_at(address);
  if (!fd.ok()) return SYMM_ERROR(kInvalidParam, "{}", fd.status().text());
  SYMM_ASSIGN(id.address, net::local_address(fd.value().get()));
  id.secret.resize(net::kSecretBytes);
  SYMM_TRY(net::random_bytes(id.secret.data(), id.secret.size()));
  do {
    SYMM_TRY(net::random_bytes(&id.magic, sizeof id.magic));
  } while ((id.magic & 0xFFFF) == 0);
  id.listen_fd = fd.value().release();
  g_maker.store(getpid(), std::memory_order_relaxed);
  return id;
}

}  // namespace symm::bootstrap
