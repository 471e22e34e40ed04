// The unique id: 136 bytes that PE 0 makes and the program carries to all PEs. Holds the address of
// PE 0, the descriptor of its listening socket, a random magic number and, in bytes the layout
// leaves unused, a secret for TLS. Whoever has the bytes can join the job: they must travel on a
// safe way. Threads: any; plain values.
#pragma once

#include <array>
#include <cstdint>
#include <string>

#include "base/status.h"
#include "net/socket_address.h"

namespace symm::bootstrap {

inline constexpr size_t kUniqueIdBytes = 136;
inline constexpr int32_t kUniqueIdVersion = (1 << 16) + 136;

using UniqueIdBytes = std::array<uint8_t, kUniqueIdBytes>;

struct UniqueId {
  int my_pe = 0;
  int n_pes = 0;
  int listen_fd = -1;  // meaningful in the process that made the id
  net::SocketAddress address;
  uint64_t magic = 0;
  std::string secret;  // 32 bytes, or empty when the id was made elsewhere
};

UniqueIdBytes encode(const UniqueId& id);
// kInvalidParam when the bytes are not a unique id: other version, no address, damaged.
Result<UniqueId> decode_unique_id(const void* bytes);

// Chooses the address (SHMEM_UID_SESSION_ID, SHMEM_UID_SOCK_IFNAME, else the best interface), binds
// and listens. The id owns the descriptor from then on. kInvalidParam when no address is usable or
// the port is taken.
Result<UniqueId> make_unique_id();
// Whether this very process, and not the one it was forked from, has made an id.
bool makes_unique_ids();

}  // namespace symm::bootstrap
