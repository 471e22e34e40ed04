#include "bootstrap/mem_store.h"

#include <condition_variable>
#include <cstring>
#include <map>
#include <memory>
#include <mutex>
#include <random>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "bootstrap/edge.h"
#include "store/rounds.h"

namespace symm::bootstrap {
namespace {

using store::Rounds;

struct Listener {
  void (*on_event)(void*, int, int, const char*) = nullptr;
  void* user = nullptr;
};

class MemGroup {
 public:
  MemGroup(std::string name, int n_pes) : name_(std::move(name)), n_pes_(n_pes), rounds_(n_pes) {
    std::random_device random;
    for (uint8_t& byte : key_) byte = static_cast<uint8_t>(random());
  }

  int n_pes() const { return n_pes_; }
  const uint8_t* key() const { return key_; }

  Status join(int pe, Listener listener) {
    std::lock_guard lock(mutex_);
    if (!members_.emplace(pe, listener).second) {
      return SYMM_ERROR(kInvalidValue, "{}: two threads claim PE {}", name_, pe);
    }
    rounds_.join(pe);
    return {};
  }

  bool closing() {
    std::lock_guard lock(mutex_);
    return closing_;
  }

  // Returns true when nobody is left. No callback of this PE runs any more when it returns.
  bool leave(int pe) {
    std::lock_guard quiet(announcing_);
    std::lock_guard lock(mutex_);
    closing_ = true;
    members_.erase(pe);
    Rounds::Outcomes out;
    rounds_.leave(pe, out);
    deliver(out);
    return members_.empty();
  }

  Status step(Rounds::Entry entry, std::shared_ptr<const std::string>& payload) {
    std::unique_lock lock(mutex_);
    uint64_t ticket = ++last_ticket_;
    entry.ticket = ticket;
    entry.now = store::Clock::now();
    auto deadline = entry.now + entry.limit;
    Rounds::Outcomes out;
    rounds_.enter(std::move(entry), out);
    deliver(out);
    while (!done_.contains(ticket)) {
      if (changed_.wait_until(lock, deadline) != std::cv_status::timeout) continue;
      out.clear();
      rounds_.expire(store::Clock::now(), out);
      deliver(out);
    }
    auto node = done_.extract(ticket);
    Rounds::Outcome& outcome = node.mapped();
    if (outcome.code != Code::kOk) return Status(outcome.code, outcome.text, __FILE__, __LINE__);
    payload = std::move(outcome.payload);
    return {};
  }

  // Tells all members but `except`.
  void announce(int event, int value, int except, const std::string& text) {
    std::lock_guard quiet(announcing_);
    std::vector<Listener> receivers;
    {
      std::lock_guard lock(mutex_);
      Rounds::Outcomes out;
      if (event == SYMM_EVENT_PEER_LOST) rounds_.lose(value, text, out);
      if (event == SYMM_EVENT_STORE_LOST) rounds_.break_all(Code::kPeerLost, text, out);
      deliver(out);
      for (const auto& [pe, listener] : members_) {
        if (pe != except && listener.on_event != nullptr) receivers.push_back(listener);
      }
    }
    for (const Listener& listener : receivers) {
      listener.on_event(listener.user, event, value, text.c_str());
    }
  }

 private:
  void deliver(Rounds::Outcomes& out) {
    for (Rounds::Outcome& outcome : out) done_[outcome.ticket] = std::move(outcome);
    if (!out.empty()) changed_.notify_all();
  }

  const std::string name_;
  const int n_pes_;
  uint8_t key_[32];
  std::mutex announcing_;  // held while callbacks run, so that leave() can wait for them
  std::mutex mutex_;       // taken after announcing_; guards the rest
  std::condition_variable changed_;
  bool closing_ = false;
  Rounds rounds_;
  std::map<int, Listener> members_;
  std::unordered_map<uint64_t, Rounds::Outcome> done_;
  uint64_t last_ticket_ = 0;
};

// The names through which threads find each other; the C table offers no other place for it.
struct Registry {
  std::mutex mutex;
  std::map<std::string, std::shared_ptr<MemGroup>> groups;
};

Registry& registry() {
  static Registry instance;
  return instance;
}

struct MemHandle {
  std::shared_ptr<MemGroup> group;
  std::string name;
  int pe = 0;
  double timeout_s = 0;
};

std::shared_ptr<MemGroup> find_group(const std::string& name) {
  std::lock_guard lock(registry().mutex);
  auto found = registry().groups.find(name);
  return found == registry().groups.end() ? nullptr : found->second;
}

std::chrono::milliseconds milliseconds(double seconds) {
  return std::chrono::milliseconds(static_cast<int64_t>(seconds * 1000));
}

Status step(MemHandle& handle, Rounds::Kind kind, std::string_view data, const char* what,
            double limit_s, std::shared_ptr<const std::string>& payload) {
  Rounds::Entry entry;
  entry.pe = handle.pe;
  entry.kind = kind;
  entry.what = what;
  entry.data = data;
  entry.limit = milliseconds(limit_s);
  return handle.group->step(std::move(entry), payload);
}

// Takes the PE out of its group, and the group out of the registry with its last PE.
void leave(MemHandle& handle) {
  std::lock_guard lock(registry().mutex);
  if (handle.group->leave(handle.pe)) {
    auto found = registry().groups.find(handle.name);
    if (found != registry().groups.end() && found->second == handle.group) {
      registry().groups.erase(found);
    }
  }
}

Status open_handle(const symm_bootstrap_config& config, void** out) {
  std::string name = config.address != nullptr ? config.address : "";
  if (!name.starts_with("mem://")) {
    return SYMM_ERROR(kInvalidParam, "address '{}' does not begin with mem://", name);
  }
  if (config.n_pes < 1 || config.pe < 0 || config.pe >= config.n_pes) {
    return SYMM_ERROR(kInvalidParam, "PE {} is not in 0..{}", config.pe, config.n_pes - 1);
  }
  auto handle = std::make_unique<MemHandle>();
  handle->name = name;
  handle->pe = config.pe;
  handle->timeout_s = config.operation_timeout_s;
  {
    std::lock_guard lock(registry().mutex);
    auto& group = registry().groups[name];
    // A group that some PE has left belongs to the past: a quick re-open starts the next one.
    if (group == nullptr || group->closing()) {
      group = std::make_shared<MemGroup>(name, config.n_pes);
    }
    if (group->n_pes() != config.n_pes) {
      return SYMM_ERROR(kInvalidValue, "{}: PE {} says n_pes is {}, the others say {}", name,
                        config.pe, config.n_pes, group->n_pes());
    }
    handle->group = group;
    SYMM_TRY(group->join(config.pe, {config.on_event, config.user}));
  }
  std::shared_ptr<const std::string> none;
  Status status = step(*handle, Rounds::Kind::kBarrier, "", "open", config.connect_timeout_s, none);
  if (!status.ok()) {
    leave(*handle);
    return status;
  }
  *out = handle.release();
  return {};
}

int mem_open(symm_bootstrap_config* config, void** handle, char* error, size_t error_size) {
  return at_edge(error, error_size, [&] { return open_handle(*config, handle); });
}

int mem_allgather(void* handle, const void* in, size_t bytes, void* out, const char* what,
                  char* error, size_t error_size) {
  return at_edge(error, error_size, [&]() -> Status {
    auto& self = *static_cast<MemHandle*>(handle);
    std::shared_ptr<const std::string> payload;
    std::string_view data(static_cast<const char*>(in), bytes);
    SYMM_TRY(step(self, Rounds::Kind::kAllgather, data, what, self.timeout_s, payload));
    if (!payload->empty()) std::memcpy(out, payload->data(), payload->size());
    return {};
  });
}

int mem_barrier(void* handle, const char* what, char* error, size_t error_size) {
  return at_edge(error, error_size, [&] {
    auto& self = *static_cast<MemHandle*>(handle);
    std::shared_ptr<const std::string> none;
    return step(self, Rounds::Kind::kBarrier, "", what, self.timeout_s, none);
  });
}

int mem_global_exit(void* handle, int status, char* error, size_t error_size) {
  return at_edge(error, error_size, [&]() -> Status {
    auto& self = *static_cast<MemHandle*>(handle);
    self.group->announce(SYMM_EVENT_GLOBAL_EXIT, status, -1,
                         fmt::format("PE {} called global_exit({})", self.pe, status));
    return {};
  });
}

void mem_info(void* handle, char* text, size_t size) {
  copy_text(static_cast<MemHandle*>(handle)->name + " (threads of one process)", text, size);
}

int mem_job_key(void* handle, uint8_t key[32], char* error, size_t error_size) {
  return at_edge(error, error_size, [&]() -> Status {
    std::memcpy(key, static_cast<MemHandle*>(handle)->group->key(), 32);
    return {};
  });
}

void mem_close(void* handle) {
  std::unique_ptr<MemHandle> self(static_cast<MemHandle*>(handle));
  leave(*self);
}

constexpr symm_bootstrap_table kTable = {
    SYMM_BOOTSTRAP_ABI,
    sizeof(symm_bootstrap_table),
    "mem",
    nullptr,
    mem_open,
    mem_allgather,
    mem_barrier,
    mem_global_exit,
    mem_info,
    nullptr,
    mem_job_key,
    mem_close,
    nullptr,
    nullptr,
    nullptr,
};

}  // namespace

const symm_bootstrap_table* mem_store_table() { return &kTable; }

bool mem_store_lose_peer(const std::string& address, int pe) {
  auto group = find_group(address);
  if (group == nullptr || pe < 0 || pe >= group->n_pes()) return false;
  group->announce(SYMM_EVENT_PEER_LOST, pe, pe, fmt::format("PE {} is lost", pe));
  return true;
}

bool mem_store_lose_store(const std::string& address) {
  auto group = find_group(address);
  if (group == nullptr) return false;
  group->announce(SYMM_EVENT_STORE_LOST, 0, -1, "the store in PE 0 is lost");
  return true;
}

}  // namespace symm::bootstrap
