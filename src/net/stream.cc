#include "net/stream.h"

#include <netinet/tcp.h>
#include <sys/socket.h>

#include <asio/read.hpp>
#include <asio/write.hpp>

#include "net/error_text.h"

namespace symm::net {

Stream::Stream(asio::ip::tcp::socket socket, std::shared_ptr<TlsContext> tls)
    : socket_(std::move(socket)), tls_(std::move(tls)) {
  if (tls_ == nullptr) return;
  SSL_CTX_up_ref(tls_->native());  // asio's context takes over one reference
  context_ = std::make_unique<asio::ssl::context>(tls_->native());
  ssl_ = std::make_unique<asio::ssl::stream<asio::ip::tcp::socket&>>(socket_, *context_);
  tls_->prepare(ssl_->native_handle(), &note_);
}

void Stream::set_options() {
  int fd = socket_.native_handle();
  int on = 1;
  int idle_s = 10;
  int interval_s = 3;
  int probes = 3;
  unsigned unacknowledged_ms = 20000;
  // Best effort: a connection without them still works, only a vanished host is noticed late.
  setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
  setsockopt(fd, SOL_SOCKET, SO_KEEPALIVE, &on, sizeof on);
  setsockopt(fd, IPPROTO_TCP, TCP_KEEPIDLE, &idle_s, sizeof idle_s);
  setsockopt(fd, IPPROTO_TCP, TCP_KEEPINTVL, &interval_s, sizeof interval_s);
  setsockopt(fd, IPPROTO_TCP, TCP_KEEPCNT, &probes, sizeof probes);
  setsockopt(fd, IPPROTO_TCP, TCP_USER_TIMEOUT, &unacknowledged_ms, sizeof unacknowledged_ms);
}

void Stream::async_handshake(Side side, std::function<void(std::error_code)> done) {
  ssl_->async_handshake(
      side == Side::kServer ? asio::ssl::stream_base::server : asio::ssl::stream_base::client,
      std::move(done));
}

Status Stream::verify() {
  if (tls_ == nullptr) return {};
  return tls_->verify(ssl_->native_handle());
}

void Stream::async_read(void* data, size_t size, Handler done) {
  if (ssl_) {
    asio::async_read(*ssl_, asio::buffer(data, size), std::move(done));
  } else {
    asio::async_read(socket_, asio::buffer(data, size), std::move(done));
  }
}

void Stream::async_write(const std::array<asio::const_buffer, 2>& buffers, Handler done) {
  if (ssl_) {
    asio::async_write(*ssl_, buffers, std::move(done));
  } else {
    asio::async_write(socket_, buffers, std::move(done));
  }
}

void Stream::close() {
  std::error_code ignored;  // closing an already closed socket is fine
  socket_.shutdown(asio::ip::tcp::socket::shutdown_both, ignored);
  socket_.close(ignored);
}

std::string Stream::describe() {
  return tls_ ? tls_->describe(ssl_->native_handle()) : "without TLS";
}

std::string Stream::explain(std::error_code error) const {
  if (tls_ == nullptr) return error_text(error);
  if (is_tls_error(error))
    return tls_->explain(ssl_->native_handle(), static_cast<unsigned long>(error.value()), note_);
  if (error == asio::error::eof || error == asio::ssl::error::stream_truncated) {
    return tls_->explain(ssl_->native_handle(), 0, note_);
  }
  return error_text(error);
}

bool Stream::is_tls_error(std::error_code error) {
  return error.category() == asio::error::get_ssl_category();
}

}  // namespace symm::net
