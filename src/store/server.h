// Server: the store of one job, in PE 0. Accepts connections, authenticates them, feeds a Session
// and delivers what it answers. One thread of its own does everything. Bounds: unauthenticated
// connections are few, small and short-lived (the oldest goes first); members' frames have a limit
// and are received in pieces; a member that does not read is dropped. Threads: start and stop from
// any one thread.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "base/status.h"
#include "net/listen.h"
#include "net/tls_context.h"
#include "store/refusals.h"
#include "store/session.h"

namespace symm::store {

class Server {
 public:
  struct Options {
    Session::Options session;
    net::Listeners listeners;              // taken over
    std::shared_ptr<net::TlsContext> tls;  // null: plain TCP
    std::chrono::milliseconds handshake_limit{10000};
    size_t extra_unauthenticated = 64;  // beyond n_pes
  };

  static Result<std::unique_ptr<Server>> start(Options options);
  // Stops at once when stop() was not called.
  ~Server();
  Server(const Server&) = delete;
  Server& operator=(const Server&) = delete;

  uint16_t port() const { return port_; }
  // Connections that were turned away so far, by reason; any thread.
  std::vector<Refusal> refusals() const;
  // Waits until every member has said goodbye or died, at most `limit`, then closes. Names in the
  // log who was still there.
  void stop(std::chrono::milliseconds limit);

 private:
  class Impl;
  explicit Server(std::unique_ptr<Impl> impl, uint16_t port);
  std::unique_ptr<Impl> impl_;
  uint16_t port_;
};

}  // namespace symm::store
