#include "bootstrap/shared_servers.h"

namespace symm::bootstrap {

// Never destroyed: instances may close while the process exits.
SharedServers& SharedServers::of_process() {
  static auto* one = new SharedServers;
  return *one;
}

Result<std::shared_ptr<store::Server>> SharedServers::join(const std::string& key,
                                                           const store::Session::Options& session,
                                                           const Start& start) {
  std::lock_guard lock(mutex_);
  std::erase_if(by_key_, [](const auto& item) { return item.second.expired(); });
  if (auto found = by_key_.find(key); found != by_key_.end()) {
    if (std::shared_ptr<store::Server> server = found->second.lock()) {
      SYMM_TRY(server->add_job(session));
      return server;
    }
  }
  SYMM_ASSIGN(std::unique_ptr<store::Server> started, start());
  std::shared_ptr<store::Server> server = std::move(started);
  by_key_[key] = server;
  return server;
}

}  // namespace symm::bootstrap
