// Client: a PE's connection to the store. Requests block the caller until the answer, a time limit
// or a death; notices arrive through on_event from the client's own thread. Threads: requests from
// any thread; connect and close from one. Ownership: owns its thread and socket.
#pragma once

#include <array>
#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "base/status.h"
#include "store/connector.h"

namespace symm::store {

class Client {
 public:
  enum class Event : uint8_t { kPeerLost, kGlobalExit, kStoreLost };
  // `value`: the PE, or the status of a global exit. Must not block and not call the client.
  using OnEvent = std::function<void(Event event, int value, const std::string& text)>;

  static Result<std::unique_ptr<Client>> connect(const ConnectOptions& options, OnEvent on_event);
  ~Client();
  Client(const Client&) = delete;
  Client& operator=(const Client&) = delete;

  Status set(const std::string& key, std::string value);
  // Waits until the key exists: limit 0 looks once (none if absent), a negative limit waits for
  // ever.
  Result<std::optional<std::string>> get(const std::string& key, std::chrono::milliseconds limit);
  Result<int64_t> add(const std::string& key, int64_t delta);
  Result<size_t> append(const std::string& key, std::string tail);
  Result<bool> remove(const std::string& key);
  // Swaps when the value is `expected` (empty: absent); the value before, none if absent.
  Result<std::optional<std::string>> compare_and_swap(const std::string& key, std::string expected,
                                                      std::string value);
  // Collective over all PEs; `what` must be the same on all. kSmem on expiry, naming the missing
  // PEs.
  Status barrier(const std::string& what, std::chrono::milliseconds limit);
  Result<std::string> allgather(const std::string& what, std::string data,
                                std::chrono::milliseconds limit);
  Status global_exit(int status);
  // Says goodbye so that the end of the connection is no death. Afterwards only the destructor may
  // be called.
  void close();

  // In a child of fork: closes the descriptor there. Takes no lock; nothing else works there.
  void in_forked_child();

  const std::array<uint8_t, 32>& nonce() const;
  // "TLSv1.3 TLS_AES_128_GCM_SHA256, user secret" or "without TLS".
  std::string describe() const;
  const net::TlsState& tls_state() const;

 private:
  class Impl;
  explicit Client(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace symm::store
