// Server: the store of one job or of several instances at one address, in PE 0. Accepts
// connections, authenticates them, feeds the Session of the instance that they name and delivers
// what it answers. One thread of its own does everything. Bounds: unauthenticated
// connections are few, small and short-lived (the oldest goes first); members' frames have a limit
// and are received in pieces; a member that does not read is dropped. Threads: start and stop from
// any one thread; jobs are added and closed by any.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "base/status.h"
#include "net/listen.h"
#include "net/tls_context.h"
#include "store/open_fds.h"
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
  // Serves one more instance. kInternal when it is served already.
  Status add_job(const Session::Options& session);
  // Waits until every member of the instance has said goodbye or died, and until all have heard why
  // it could not be formed, at most `limit`, then forgets it. Names in the log who was still there.
  void close_job(uint64_t instance, std::chrono::milliseconds limit);
  // close_job for the one that the server was started with, then the end of the server.
  void stop(std::chrono::milliseconds limit);

  // What a forked child has to close: the members of an instance, null if there is none such; the
  // sockets that listen.
  std::shared_ptr<OpenFds> members_fds(uint64_t instance);
  std::shared_ptr<OpenFds> listening_fds() const;

 private:
  class Impl;
  explicit Server(std::unique_ptr<Impl> impl, uint16_t port);
  std::unique_ptr<Impl> impl_;
  uint16_t port_;
};

}  // namespace symm::store
