// How the processes of one host hand each other the descriptors of their shared memory. One of them
// (the leader) listens on a local socket; each of the others proves that it holds the job key, is
// shown the same proof, hands over its descriptor and receives those of all. Nothing is handed to a
// process that does not know the key. Threads: one per object; nothing runs in the background.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "base/deadline.h"
#include "base/status.h"
#include "base/unique_fd.h"
#include "os/sha256.h"

namespace symm::os {

// Called once per descriptor, `index` counts the members in the order that the leader was given.
using FdSink = std::function<Status(size_t index, UniqueFd fd)>;

// How long an exchange may go on: until a deadline, and only while `check` is content. It is asked
// every 50 ms while the exchange waits, and its failure (a PE was lost, say) ends the exchange.
struct ExchangeLimit {
  Deadline deadline;
  std::function<Status()> check;
};

class FdListener {
 public:
  // Binds an abstract name (no file, gone with the process). Connections queue up from now on.
  static Result<FdListener> bind(const std::string& name, int backlog);
  // Listens on a file as well, for members in other network namespaces, which do not share abstract
  // names.
  Status bind_path(const std::string& path, int backlog);

  // Serves members[1..] (members[0] is the leader itself, with own_fd); then passes all
  // descriptors, its own included, to `sink`. kTimeout names the members that did not come.
  Status serve(const Digest& key, const std::vector<int>& members, int own_fd,
               const ExchangeLimit& limit, const FdSink& sink);

  FdListener() = default;
  FdListener(FdListener&& other) noexcept { *this = std::move(other); }
  FdListener& operator=(FdListener&& other) noexcept;
  ~FdListener();

 private:
  UniqueFd abstract_;
  UniqueFd path_fd_;
  std::string path_;
};

struct FdExchangeClient {
  Digest key;
  std::string name;  // abstract name of the leader
  std::string path;  // used when not empty
  int leader = 0;    // PE numbers, for proofs and messages
  int pe = 0;
};

// The other side of serve(): hands over own_fd and passes the descriptors of all `count` members to
// `sink`.
Status fetch_fds(const FdExchangeClient& client, int own_fd, size_t count,
                 const ExchangeLimit& limit, const FdSink& sink);

}  // namespace symm::os
