// Connector: gets a client connected and admitted: look up, connect, TLS handshake, hello, answer;
// again and again until the time limit, since PE 0 may start later. What can never succeed (wrong
// key, TLS on one side only, another job, a refusal) ends at once with its own message. Threads:
// runs on the calling thread, which runs the io_context meanwhile; nobody else may.
#pragma once

#include <array>
#include <asio/io_context.hpp>
#include <memory>
#include <vector>

#include "base/deadline.h"
#include "base/status.h"
#include "net/address.h"
#include "net/socket_address.h"
#include "net/stream.h"
#include "store/protocol.h"

namespace symm::store {

// The store and this PE disagree about TLS: nobody may give in, but it can be reported.
enum class TlsConflict : uint8_t { kNone, kStoreWantsTls, kStoreIsPlain };

struct ConnectOptions {
  net::Address address;
  Hello hello;
  std::shared_ptr<net::TlsContext> tls;   // null: plain TCP
  double timeout_s = 120;                 // for the message
  Deadline deadline = Deadline::never();  // what counts; never means timeout_s from now
  TlsConflict* conflict = nullptr;        // out, if not null
};

struct Connected {
  std::unique_ptr<net::Stream> stream;
  std::array<uint8_t, 32> nonce{};
};

// kInvalidParam: the name does not resolve. kInternal: refused, or not reached within the limit.
Result<Connected> connect_to_store(asio::io_context& io, const ConnectOptions& options);

}  // namespace symm::store
