// Stream: one TCP connection, plain or TLS, with the same asynchronous calls. Thin over asio.
// Threads: all calls from the thread that runs the executor. Ownership: owns the socket; handlers
// keep their owner alive.
#pragma once

#include <asio/ip/tcp.hpp>
#include <asio/ssl.hpp>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "base/status.h"
#include "net/tls_context.h"

namespace symm::net {

class Stream {
 public:
  using Handler = std::function<void(std::error_code, size_t)>;

  // A null context means plain TCP.
  Stream(asio::ip::tcp::socket socket, std::shared_ptr<TlsContext> tls);

  asio::ip::tcp::socket& socket() { return socket_; }
  bool is_tls() const { return tls_ != nullptr; }

  // Nagle off, keepalive so that a host that vanished is noticed within about 20 s.
  void set_options();
  void async_handshake(Side side, std::function<void(std::error_code)> done);
  // After a handshake without error: nothing else counts as authenticated.
  Status verify();
  // Reads exactly size bytes.
  void async_read(void* data, size_t size, Handler done);
  // Writes all; the buffers must stay alive until done.
  void async_write(const std::array<asio::const_buffer, 2>& buffers, Handler done);
  void close();

  std::string describe();
  // Words for a failed handshake or a failed first read.
  std::string explain(std::error_code error) const;
  // True when the error comes from TLS itself (keys, protocol), not from the network.
  static bool is_tls_error(std::error_code error);

 private:
  asio::ip::tcp::socket socket_;
  std::shared_ptr<TlsContext> tls_;
  std::string note_;
  std::unique_ptr<asio::ssl::context> context_;
  std::unique_ptr<asio::ssl::stream<asio::ip::tcp::socket&>> ssl_;
};

}  // namespace symm::net
