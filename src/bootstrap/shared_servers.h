// SharedServers: the stores that this process serves, so that a second instance at the same address
// joins the one that listens there. Threads: any. Ownership: every user holds a share; the server
// ends with the last.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>

#include "base/status.h"
#include "store/server.h"

namespace symm::bootstrap {

class SharedServers {
 public:
  // The one of the process.
  static SharedServers& of_process();

  using Start = std::function<Result<std::unique_ptr<store::Server>>()>;
  // The server under this key with one more job, or a new one from `start`.
  Result<std::shared_ptr<store::Server>> join(const std::string& key,
                                              const store::Session::Options& session,
                                              const Start& start);

 private:
  std::mutex mutex_;
  std::map<std::string, std::weak_ptr<store::Server>> by_key_;
};

}  // namespace symm::bootstrap
