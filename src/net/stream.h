// Stream: one TCP connection, plain or TLS, with the same asynchronous calls. Thin over asio; TLS
// works on the socket directly, so that a connection at rest keeps no buffers of records.
// Threads: all calls from the thread that runs the executor. Ownership: owns the socket; handlers
// keep their owner alive and never run inside the call that they were given to.
#pragma once

#include <openssl/ssl.h>

#include <array>
#include <asio/ip/tcp.hpp>
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
  Stream(const Stream&) = delete;
  Stream& operator=(const Stream&) = delete;

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
  // Plain TCP only: writes the first `size` bytes of a file, which the kernel does not copy to the
  // sender's side of the connection. The file must stay open and unchanged until done.
  void async_write_file(int file, size_t size, Handler done);
  void close();

  std::string describe();
  TlsState tls_state();
  // What the other side says to be during the handshake; -1 when it said nothing.
  int claimed_pe() const { return note_.pe; }
  // Words for a failed handshake or a failed first read.
  std::string explain(std::error_code error) const;
  // True when the error comes from TLS itself (keys, protocol), not from the network.
  static bool is_tls_error(std::error_code error);

 private:
  using Done = std::function<void(std::error_code)>;
  struct FreeSsl {
    void operator()(SSL* ssl) const { SSL_free(ssl); }
  };

  static const BIO_METHOD* bio_method();
  static int bio_write(BIO* bio, const char* data, size_t size, size_t* written);
  static int bio_read(BIO* bio, char* data, size_t size, size_t* got);
  static long bio_control(BIO* bio, int command, long number, void* pointer);

  std::error_code error_of(int result) const;
  void continue_handshake(Done done);
  void send_records(Done done);
  void read_tls(char* data, size_t size, size_t got, Handler done);
  void continue_file(int file, size_t at, size_t size, Handler done);
  void write_tls(const std::array<asio::const_buffer, 2>& buffers, size_t at, Handler done);

  asio::ip::tcp::socket socket_;
  std::shared_ptr<TlsContext> tls_;
  PeerNote note_;
  std::unique_ptr<SSL, FreeSsl> ssl_;
  std::string records_;            // encrypted, not sent yet
  std::string* sink_ = &records_;  // where the next records go
};

}  // namespace symm::net
