// Job: one session as the server runs it: its members' connections and what stop() has to know.
// Threads: the server's, but for what is guarded by the server's mutex.
#pragma once

#include <memory>
#include <vector>

#include "store/connection.h"
#include "store/open_fds.h"
#include "store/session.h"

namespace symm::store {

struct Job {
  explicit Job(const Session::Options& options)
      : session(options),
        instance(options.instance),
        n_pes(options.n_pes),
        members(static_cast<size_t>(options.n_pes), nullptr),
        fds(std::make_shared<OpenFds>(static_cast<size_t>(options.n_pes))) {}

  Session session;
  const uint64_t instance;
  const int n_pes;
  std::vector<Connection*> members;  // by PE; null when not connected
  std::vector<Session::Send> outbox;
  bool flushing = false;
  std::shared_ptr<OpenFds> fds;  // of the members, by PE

  // Guarded by the server's mutex.
  int connected = 0;
  int untold = 0;
  bool lost = false;
};

}  // namespace symm::store
