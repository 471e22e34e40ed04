// SimulatedPes: many clients of one store in one thread, each with a connection of its own that
// goes through everything a PE does: connect, TLS, hello, requests. They use the store's protocol
// and TLS rules but sockets without buffers of their own, so that the store is what is measured.
// Threads: one. Ownership: owns the connections; a failure ends the process with its reason.
#pragma once

#include <openssl/ssl.h>

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "base/deadline.h"
#include "base/unique_fd.h"
#include "net/socket_address.h"
#include "net/tls_context.h"
#include "store/protocol.h"

namespace symm::bench {

class SimulatedPes {
 public:
  // PEs `first` to `first + count - 1` of n_pes. Null `tls`: plain TCP.
  SimulatedPes(int n_pes, int first, int count, const net::SocketAddress& server,
               std::shared_ptr<net::TlsContext> tls);
  ~SimulatedPes();
  SimulatedPes(const SimulatedPes&) = delete;
  SimulatedPes& operator=(const SimulatedPes&) = delete;

  // Each returns when all PEs are through.
  void connect_all(Deadline limit);
  void barrier(Deadline limit);
  // PE p brings `bytes` bytes that depend on p, or the same as all; everybody's result is looked
  // through.
  void allgather(size_t bytes, bool equal, Deadline limit);
  void goodbye(Deadline limit);

 private:
  enum class Step : uint8_t { kConnect, kHandshake, kPreamble, kHelloBody, kIdle, kHeader, kBody };
  struct Pe {
    UniqueFd fd;
    SSL* ssl = nullptr;
    Step step = Step::kConnect;
    bool wants_write = false;
    std::string out;  // not sent yet
    std::string in;   // the front of what is read
    size_t left = 0;  // of the body
    size_t position = 0;
  };

  void start(int index);
  void request(store::Type type, const std::string& what, size_t bytes, bool equal, Deadline limit);
  void run(Deadline limit, const char* what);
  void advance(int index);
  bool shake_hands(Pe& one);
  bool flush(Pe& one);
  bool fill(Pe& one, size_t wanted);
  bool consume_body(Pe& one);
  void check_piece(const Pe& one, const char* data, size_t size) const;
  ssize_t read_some(Pe& one, char* data, size_t size);
  void watch(int index, bool write);
  void on_hello(Pe& one);
  void on_header(Pe& one);

  const int n_pes_;
  const int first_;
  const net::SocketAddress server_;
  const std::shared_ptr<net::TlsContext> tls_;
  UniqueFd epoll_;
  std::vector<Pe> pes_;
  std::vector<char> scratch_;
  size_t record_bytes_ = 0;
  bool equal_ = false;
  int waiting_ = 0;
  uint32_t seq_ = 0;
};

}  // namespace symm::bench
