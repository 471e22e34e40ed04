// Connection: one client of the server, from accept to close. First nothing is trusted: the first
// bytes are looked at, the TLS handshake and the hello must come within the time limit. Then
// frames, until either side closes. Threads: the server's only. Ownership: shared; pending
// operations keep it alive until they end.
#pragma once

#include <array>
#include <asio/ip/tcp.hpp>
#include <asio/steady_timer.hpp>
#include <deque>
#include <memory>
#include <string>

#include "net/stream.h"
#include "store/open_fds.h"
#include "store/protocol.h"

namespace symm::store {

class Connection;
struct Job;

// What a connection tells the server.
class ConnectionOwner {
 public:
  virtual ~ConnectionOwner() = default;
  virtual HelloReply on_hello(Connection& connection, const Hello& hello) = 0;
  virtual void on_request(Connection& connection, const Header& header, Request request) = 0;
  // Once per connection, the last call. `why` is for people.
  virtual void on_closed(Connection& connection, const std::string& why) = 0;
  // Somebody was refused; for the log.
  virtual void on_refused(const std::string& peer, const std::string& why) = 0;
};

class Connection : public std::enable_shared_from_this<Connection> {
 public:
  Connection(asio::ip::tcp::socket socket, std::shared_ptr<net::TlsContext> tls, uint16_t magic,
             ConnectionOwner* owner);

  void start(std::chrono::milliseconds handshake_limit);
  void send(const Frame& frame);
  // Sends what is queued, then ends: nothing more is read.
  void finish();
  // Ends it; on_closed is called.
  void close(const std::string& why);
  // Ends it without a word, when the owner is going away.
  void abandon();

  // It belongs to a member of the job from now on; a forked child finds the socket in `fds`.
  void join(Job* job, std::shared_ptr<OpenFds> fds, int pe);
  Job* job() const { return job_; }
  int pe() const { return pe_; }  // -1 until admitted
  const std::string& peer() const { return peer_; }

 private:
  using Self = std::shared_ptr<Connection>;
  void look_at_first_bytes();
  void handshake();
  void refuse_plainly(int result, const std::string& text);
  void refuse(const std::string& why);
  void read_preamble();
  void read_hello(const Preamble& preamble);
  void answer_hello(const Preamble& preamble);
  void read_header();
  void read_body();
  void finish_body();
  void start_write();
  void on_written(std::error_code error);
  void drain();
  void discard();

  net::Stream stream_;
  const uint16_t magic_;
  ConnectionOwner* owner_;
  asio::steady_timer timer_;
  std::string peer_;
  int pe_ = -1;
  Job* job_ = nullptr;
  std::shared_ptr<OpenFds> fds_;
  bool closed_ = false;
  bool leaving_ = false;  // a refusal is under way: nothing more is read
  ssize_t discarded_ = 0;
  std::array<uint8_t, 16> front_{};
  Header header_;
  std::string body_;
  struct Outgoing {
    std::string head;
    std::shared_ptr<const std::string> body;
    std::shared_ptr<const UniqueFd> file;
  };
  std::deque<Outgoing> queue_;
  size_t queued_bytes_ = 0;
  bool writing_ = false;
};

}  // namespace symm::store
