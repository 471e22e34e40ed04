#include "net/stream.h"

#include <netinet/tcp.h>
#include <openssl/err.h>
#include <sys/sendfile.h>
#include <sys/socket.h>

#include <algorithm>
#include <asio/post.hpp>
#include <asio/read.hpp>
#include <asio/ssl/error.hpp>
#include <asio/write.hpp>
#include <cerrno>

#include "base/config.h"
#include "net/error_text.h"

namespace symm::net {
namespace {

// How much is encrypted before it is sent: one system call for several records, and at most so much
// is kept for a peer that does not read.
constexpr size_t kBatch = size_t{64} << 10;

}  // namespace

Stream::Stream(asio::ip::tcp::socket socket, std::shared_ptr<TlsContext> tls)
    : socket_(std::move(socket)), tls_(std::move(tls)) {
  if (tls_ == nullptr) return;
  ssl_.reset(SSL_new(tls_->native()));
  BIO* bio = BIO_new(bio_method());
  if (ssl_ == nullptr || bio == nullptr) throw std::bad_alloc();
  BIO_set_data(bio, this);
  BIO_set_init(bio, 1);
  SSL_set_bio(ssl_.get(), bio, bio);
  // Fewer reads: whatever has arrived is taken at once. Nothing waits for the socket before
  // SSL_read said that it needs more.
  SSL_set_read_ahead(ssl_.get(), 1);
  tls_->prepare(ssl_.get(), &note_);
}

// OpenSSL reads from the socket and writes into a string: the string is sent by us, in pieces of
// our size and without SIGPIPE.
const BIO_METHOD* Stream::bio_method() {
  static const BIO_METHOD* const method = [] {
    BIO_METHOD* made = BIO_meth_new(BIO_get_new_index() | BIO_TYPE_SOURCE_SINK, "symm stream");
    BIO_meth_set_write_ex(made, &Stream::bio_write);
    BIO_meth_set_read_ex(made, &Stream::bio_read);
    BIO_meth_set_ctrl(made, &Stream::bio_control);
    return made;
  }();
  return method;
}

int Stream::bio_write(BIO* bio, const char* data, size_t size, size_t* written) {
  auto* self = static_cast<Stream*>(BIO_get_data(bio));
  BIO_clear_retry_flags(bio);
  self->sink_->append(data, size);
  *written = size;
  return 1;
}

int Stream::bio_read(BIO* bio, char* data, size_t size, size_t* got) {
  auto* self = static_cast<Stream*>(BIO_get_data(bio));
  BIO_clear_retry_flags(bio);
  ssize_t count;
  do {
    count = ::recv(self->socket_.native_handle(), data, size, MSG_DONTWAIT);
  } while (count < 0 && errno == EINTR);
  if (count < 0 && errno == EAGAIN) BIO_set_retry_read(bio);
  if (count == 0) BIO_set_flags(bio, BIO_FLAGS_IN_EOF);
  *got = count > 0 ? static_cast<size_t>(count) : 0;
  return count > 0 ? 1 : 0;
}

long Stream::bio_control(BIO* bio, int command, long, void*) {
  switch (command) {
    case BIO_CTRL_FLUSH:
      return 1;
    case BIO_CTRL_EOF:
      return BIO_test_flags(bio, BIO_FLAGS_IN_EOF) != 0 ? 1 : 0;
    default:
      return 0;
  }
}

void Stream::set_options() {
  int fd = socket_.native_handle();
  int on = 1;
  // Half of the limit in silence, then three probes. The kernel answers them also for a process
  // that a debugger has stopped: only what is really gone is lost.
  const int limit_s = static_cast<int>(config::seconds("SHMEM_SILENCE_LIMIT"));
  int idle_s = std::max(1, limit_s / 2);
  int interval_s = std::max(1, limit_s / 6);
  int probes = std::max(1, (limit_s - idle_s) / interval_s);
  unsigned unacknowledged_ms = static_cast<unsigned>(limit_s) * 1000;
  // Best effort: a connection without them still works, only a vanished host is noticed late.
  setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
  setsockopt(fd, SOL_SOCKET, SO_KEEPALIVE, &on, sizeof on);
  setsockopt(fd, IPPROTO_TCP, TCP_KEEPIDLE, &idle_s, sizeof idle_s);
  setsockopt(fd, IPPROTO_TCP, TCP_KEEPINTVL, &interval_s, sizeof interval_s);
  setsockopt(fd, IPPROTO_TCP, TCP_KEEPCNT, &probes, sizeof probes);
  setsockopt(fd, IPPROTO_TCP, TCP_USER_TIMEOUT, &unacknowledged_ms, sizeof unacknowledged_ms);
}

// What a call of OpenSSL came to; would_block when it waits for bytes of the peer.
std::error_code Stream::error_of(int result) const {
  const int saved = errno;
  switch (SSL_get_error(ssl_.get(), result)) {
    case SSL_ERROR_NONE:
      return {};
    case SSL_ERROR_WANT_READ:
      return asio::error::would_block;
    case SSL_ERROR_ZERO_RETURN:
      return asio::error::eof;
    case SSL_ERROR_SSL:
      return {static_cast<int>(ERR_get_error()), asio::error::get_ssl_category()};
    default:
      if (BIO_eof(SSL_get_rbio(ssl_.get())) || saved == 0) return asio::error::eof;
      return {saved, std::system_category()};
  }
}

void Stream::async_handshake(Side side, std::function<void(std::error_code)> done) {
  if (side == Side::kServer) {
    SSL_set_accept_state(ssl_.get());
  } else {
    SSL_set_connect_state(ssl_.get());
  }
  continue_handshake(std::move(done));
}

void Stream::continue_handshake(Done done) {
  ERR_clear_error();
  errno = 0;
  const std::error_code result = error_of(SSL_do_handshake(ssl_.get()));
  // What there is to send goes first, the alert of a failure too.
  send_records([this, result, done = std::move(done)](std::error_code failed) mutable {
    if (result != asio::error::would_block) return done(result ? result : failed);
    if (failed) return done(failed);
    socket_.async_wait(asio::ip::tcp::socket::wait_read,
                       [this, done = std::move(done)](std::error_code error) mutable {
                         if (error) return done(error);
                         continue_handshake(std::move(done));
                       });
  });
}

void Stream::send_records(Done done) {
  asio::async_write(socket_, asio::buffer(records_),
                    [this, done = std::move(done)](std::error_code error, size_t) {
                      records_.clear();
                      done(error);
                    });
}

Status Stream::verify() {
  if (tls_ == nullptr) return {};
  return tls_->verify(ssl_.get());
}

void Stream::async_read(void* data, size_t size, Handler done) {
  if (ssl_) {
    read_tls(static_cast<char*>(data), size, 0, std::move(done));
  } else {
    asio::async_read(socket_, asio::buffer(data, size), std::move(done));
  }
}

void Stream::async_write(const std::array<asio::const_buffer, 2>& buffers, Handler done) {
  if (ssl_) {
    write_tls(buffers, 0, std::move(done));
  } else {
    asio::async_write(socket_, buffers, std::move(done));
  }
}

void Stream::read_tls(char* data, size_t size, size_t got, Handler done) {
  std::error_code error;
  while (got < size && !error) {
    ERR_clear_error();
    errno = 0;
    size_t count = 0;
    const int result = SSL_read_ex(ssl_.get(), data + got, size - got, &count);
    if (result == 1) {
      got += count;
    } else {
      error = error_of(result);
    }
  }
  if (error == asio::error::would_block) {
    socket_.async_wait(
        asio::ip::tcp::socket::wait_read,
        [this, data, size, got, done = std::move(done)](std::error_code failed) mutable {
          if (failed) return done(failed, got);
          read_tls(data, size, got, std::move(done));
        });
    return;
  }
  asio::post(socket_.get_executor(),
             [error, got, done = std::move(done)]() mutable { done(error, got); });
}

// `at`: bytes of both buffers that are encrypted already.
void Stream::write_tls(const std::array<asio::const_buffer, 2>& buffers, size_t at, Handler done) {
  static thread_local std::string scratch;
  const size_t total = buffers[0].size() + buffers[1].size();
  std::error_code error;
  while (at < total && !error && records_.empty()) {
    scratch.clear();
    sink_ = &scratch;
    const size_t stop = std::min(total, at + kBatch);
    while (at < stop && !error) {
      const bool first = at < buffers[0].size();
      const asio::const_buffer rest =
          first ? buffers[0] + at : buffers[1] + (at - buffers[0].size());
      ERR_clear_error();
      size_t count = 0;
      const int result =
          SSL_write_ex(ssl_.get(), rest.data(), std::min(rest.size(), stop - at), &count);
      if (result == 1) {
        at += count;
      } else {
        error = error_of(result);
      }
    }
    sink_ = &records_;
    const ssize_t sent = ::send(socket_.native_handle(), scratch.data(), scratch.size(),
                                MSG_DONTWAIT | MSG_NOSIGNAL);
    records_.assign(scratch, sent > 0 ? static_cast<size_t>(sent) : 0);
  }
  // What the socket did not take at once, and its error if it has one.
  send_records(
      [this, buffers, at, total, error, done = std::move(done)](std::error_code failed) mutable {
        if (error || failed || at == total) return done(error ? error : failed, at);
        write_tls(buffers, at, std::move(done));
      });
}

void Stream::async_write_file(int file, size_t size, Handler done) {
  asio::post(socket_.get_executor(), [this, file, size, done = std::move(done)]() mutable {
    continue_file(file, 0, size, std::move(done));
  });
}

void Stream::continue_file(int file, size_t at, size_t size, Handler done) {
  while (at < size) {
    off_t offset = static_cast<off_t>(at);
    const ssize_t sent = ::sendfile(socket_.native_handle(), file, &offset, size - at);
    if (sent > 0) {
      at += static_cast<size_t>(sent);
    } else if (sent < 0 && errno == EAGAIN) {
      socket_.async_wait(
          asio::ip::tcp::socket::wait_write,
          [this, file, at, size, done = std::move(done)](std::error_code error) mutable {
            if (error) return done(error, at);
            continue_file(file, at, size, std::move(done));
          });
      return;
    } else if (sent == 0 || errno != EINTR) {
      return done(sent == 0 ? std::error_code(asio::error::eof)
                            : std::error_code(errno, std::system_category()),
                  at);
    }
  }
  done({}, at);
}

void Stream::close() {
  std::error_code ignored;  // closing an already closed socket is fine
  socket_.shutdown(asio::ip::tcp::socket::shutdown_both, ignored);
  socket_.close(ignored);
}

std::string Stream::describe() { return tls_ ? tls_->describe(ssl_.get()) : "without TLS"; }

TlsState Stream::tls_state() { return tls_ ? tls_->state(ssl_.get()) : TlsState(); }

std::string Stream::explain(std::error_code error) const {
  if (tls_ == nullptr) return error_text(error);
  if (is_tls_error(error))
    return tls_->explain(ssl_.get(), static_cast<unsigned long>(error.value()), note_);
  if (error == asio::error::eof || error == asio::ssl::error::stream_truncated) {
    return tls_->explain(ssl_.get(), 0, note_);
  }
  return error_text(error);
}

bool Stream::is_tls_error(std::error_code error) {
  return error.category() == asio::error::get_ssl_category();
}

}  // namespace symm::net
