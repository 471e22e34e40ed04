#include "store/connection.h"

#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "base/version.h"
#include "net/error_text.h"
#include "net/socket_address.h"

namespace symm::store {
namespace {

constexpr size_t kPiece = size_t{64} << 10;  // memory follows the bytes that really arrive
constexpr size_t kMaxQueued = size_t{192}
                              << 20;  // a member that does not read what it asked for is dropped
constexpr size_t kMaxQueuedFrames = 65536;
constexpr ssize_t kMaxDiscard = 64 << 10;
constexpr std::chrono::milliseconds kFarewell{1000};

std::string peer_name(asio::ip::tcp::socket& socket) {
  std::error_code error;
  auto endpoint = socket.remote_endpoint(error);
  if (error) return "unknown";
  return net::SocketAddress(endpoint.data(), static_cast<socklen_t>(endpoint.size())).to_string();
}

bool send_plain(int fd, const std::string& bytes) {
  return send(fd, bytes.data(), bytes.size(), MSG_DONTWAIT | MSG_NOSIGNAL) ==
         static_cast<ssize_t>(bytes.size());
}

}  // namespace

Connection::Connection(asio::ip::tcp::socket socket, std::shared_ptr<net::TlsContext> tls,
                       uint16_t magic, ConnectionOwner* owner)
    : stream_(std::move(socket), std::move(tls)),
      magic_(magic),
      owner_(owner),
      timer_(stream_.socket().get_executor()),
      peer_(peer_name(stream_.socket())) {}

void Connection::start(std::chrono::milliseconds handshake_limit) {
  stream_.set_options();
  timer_.expires_after(handshake_limit);
  timer_.async_wait([self = shared_from_this()](std::error_code error) {
    if (error || self->pe_ >= 0) return;
    if (self->leaving_) return self->close("refused");
    self->refuse("no complete hello within the time limit");
  });
  look_at_first_bytes();
}

void Connection::look_at_first_bytes() {
  stream_.socket().async_wait(
      asio::ip::tcp::socket::wait_read, [self = shared_from_this()](std::error_code error) {
        if (self->closed_) return;
        if (error) return self->refuse(net::error_text(error));
        uint8_t peek[kTag.size()];
        ssize_t count = recv(self->stream_.socket().native_handle(), peek, sizeof peek,
                             MSG_PEEK | MSG_DONTWAIT);
        if (count == 0) return self->refuse("closed without a word");
        if (count < 0) {
          if (errno == EAGAIN || errno == EINTR) return self->look_at_first_bytes();
          return self->refuse(std::string(std::strerror(errno)));
        }
        std::span<const uint8_t> seen(peek, static_cast<size_t>(count));
        FirstBytes kind = classify(seen);
        if (kind == FirstBytes::kJunk) {
          return self->refuse(
              fmt::format("it does not speak our protocol (begins with '{}')", printable(seen)));
        }
        if (self->stream_.is_tls()) {
          if (kind == FirstBytes::kTls) return self->handshake();
          self->owner_->on_refused(self->peer_, "it speaks without TLS, which this store requires");
          return self->refuse_plainly(
              kResultWantsTls,
              "PE 0 requires TLS, this PE speaks without; switch TLS on or off on all PEs");
        }
        if (kind == FirstBytes::kHello) return self->read_preamble();
        self->owner_->on_refused(self->peer_, "it speaks TLS, which is switched off in this store");
        self->refuse_plainly(static_cast<int>(Code::kInternal), "TLS is switched off in PE 0");
      });
}

void Connection::handshake() {
  stream_.async_handshake(net::Side::kServer, [self = shared_from_this()](std::error_code error) {
    if (self->closed_) return;
    if (error) return self->refuse(self->stream_.explain(error));
    Status status = self->stream_.verify();
    if (!status.ok()) return self->refuse(std::string(status.text()));
    self->read_preamble();
  });
}

// Writes an answer below TLS, for a peer that is in the wrong mode, then leaves.
void Connection::refuse_plainly(int result, const std::string& text) {
  HelloReply reply;
  reply.magic = magic_;
  reply.result = static_cast<int16_t>(result);
  reply.text = text;
  std::string bytes = encode(reply);
  // A fresh connection's send buffer takes these few bytes at once; if not, the peer sees only the
  // close.
  if (send_plain(stream_.socket().native_handle(), bytes)) return drain();
  close("refused");
}

void Connection::refuse(const std::string& why) {
  if (closed_ || leaving_) return;
  const int claimed = stream_.claimed_pe();
  owner_->on_refused(claimed < 0 ? peer_ : fmt::format("{} (says it is PE {})", peer_, claimed),
                     why);
  drain();
}

void Connection::read_preamble() {
  stream_.async_read(
      front_.data(), kPreambleBytes, [self = shared_from_this()](std::error_code error, size_t) {
        if (self->closed_ || self->leaving_) return;
        if (error) return self->refuse(self->stream_.explain(error));
        auto preamble = decode_preamble({self->front_.data(), kPreambleBytes}, kMaxHelloBody);
        if (!preamble.ok()) return self->refuse(std::string(preamble.status().text()));
        self->read_hello(preamble.value());
      });
}

void Connection::read_hello(const Preamble& preamble) {
  body_.resize(preamble.length);
  stream_.async_read(body_.data(), body_.size(),
                     [self = shared_from_this(), preamble](std::error_code error, size_t) {
                       if (self->closed_ || self->leaving_) return;
                       if (error) return self->refuse(self->stream_.explain(error));
                       self->answer_hello(preamble);
                     });
}

void Connection::answer_hello(const Preamble& preamble) {
  auto hello = decode_hello(preamble, body_);
  if (!hello.ok()) return refuse(std::string(hello.status().text()));
  HelloReply reply = owner_->on_hello(*this, hello.value());
  if (closed_) return;
  if (reply.result == 0) {
    timer_.cancel();
  } else {
    if (reply.result != kResultRetry) {
      owner_->on_refused(fmt::format("{} (PE {})", peer_, hello.value().pe), reply.text);
    }
    leaving_ = true;
  }
  queue_.push_back({encode(reply), nullptr, nullptr});
  queued_bytes_ += queue_.back().head.size();
  start_write();
  if (!leaving_) read_header();
}

void Connection::read_header() {
  stream_.async_read(
      front_.data(), kHeaderBytes, [self = shared_from_this()](std::error_code error, size_t) {
        if (self->closed_ || self->leaving_) return;
        if (error) {
          return self->close(error == asio::error::eof
                                 ? "its connection closed (the process has ended)"
                                 : self->stream_.explain(error));
        }
        auto header = decode_header({self->front_.data(), kHeaderBytes}, kMaxRequestBody);
        if (!header.ok())
          return self->close("it sent a bad frame: " + std::string(header.status().text()));
        self->header_ = header.value();
        self->body_.clear();
        self->read_body();
      });
}

void Connection::read_body() {
  size_t have = body_.size();
  size_t piece = std::min(kPiece, header_.length - have);
  if (piece == 0) return finish_body();
  body_.resize(have + piece);
  stream_.async_read(body_.data() + have, piece,
                     [self = shared_from_this()](std::error_code error, size_t) {
                       if (self->closed_) return;
                       if (error)
                         return self->close("its connection broke in the middle of a frame: " +
                                            net::error_text(error));
                       self->read_body();
                     });
}

void Connection::finish_body() {
  auto request = decode_request(header_.type, body_);
  if (!request.ok()) return close("it sent a bad request: " + std::string(request.status().text()));
  body_.clear();
  body_.shrink_to_fit();
  owner_->on_request(*this, header_, std::move(request.value()));
  if (!closed_ && !leaving_) read_header();
}

void Connection::send(const Frame& frame) {
  if (closed_) return;
  queue_.push_back({encode(frame.header), frame.body, frame.file});
  queued_bytes_ += queue_.back().head.size() + frame.body->size();
  if (queued_bytes_ > kMaxQueued || queue_.size() > kMaxQueuedFrames) {
    return close("it does not read what it is sent");
  }
  start_write();
}

void Connection::start_write() {
  if (writing_ || queue_.empty() || closed_) return;
  writing_ = true;
  const Outgoing& next = queue_.front();
  auto written = [self = shared_from_this()](std::error_code error, size_t) {
    self->on_written(error);
  };
  if (next.file != nullptr) {
    auto head_written = [self = shared_from_this(), written](std::error_code error, size_t) {
      if (error || self->closed_) return self->on_written(error);
      const Outgoing& front = self->queue_.front();
      self->stream_.async_write_file(front.file->get(), front.body->size(), written);
    };
    stream_.async_write({asio::buffer(next.head), asio::const_buffer()}, head_written);
    return;
  }
  std::array<asio::const_buffer, 2> buffers = {
      asio::buffer(next.head), next.body ? asio::buffer(*next.body) : asio::const_buffer()};
  stream_.async_write(buffers, written);
}

void Connection::on_written(std::error_code error) {
  writing_ = false;
  if (closed_) return;
  if (error) return close("its connection broke: " + net::error_text(error));
  const Outgoing& done = queue_.front();
  queued_bytes_ -= done.head.size() + (done.body ? done.body->size() : 0);
  queue_.pop_front();
  if (queue_.empty() && leaving_) return drain();
  start_write();
}

// Closes our side for writing and waits a little for the peer to read and close: an immediate close
// with unread bytes would reset the connection and destroy the answer on its way.
void Connection::drain() {
  leaving_ = true;
  std::error_code ignored;  // the socket may already be closed by the peer
  stream_.socket().shutdown(asio::ip::tcp::socket::shutdown_send, ignored);
  timer_.expires_after(kFarewell);
  timer_.async_wait([self = shared_from_this()](std::error_code error) {
    if (!error) self->close("refused");
  });
  discard();
}

void Connection::discard() {
  stream_.socket().async_wait(
      asio::ip::tcp::socket::wait_read, [self = shared_from_this()](std::error_code error) {
        if (self->closed_) return;
        if (error) return self->close("refused");
        char waste[4096];
        ssize_t count =
            recv(self->stream_.socket().native_handle(), waste, sizeof waste, MSG_DONTWAIT);
        bool more = count > 0 || (count < 0 && (errno == EAGAIN || errno == EINTR));
        if (!more || (self->discarded_ += std::max<ssize_t>(count, 0)) > kMaxDiscard)
          return self->close("refused");
        self->discard();
      });
}

void Connection::finish() {
  if (closed_ || leaving_) return;
  leaving_ = true;
  if (queue_.empty()) drain();
}

void Connection::close(const std::string& why) {
  if (closed_) return;
  ConnectionOwner* owner = owner_;
  Self keep = shared_from_this();
  abandon();
  owner->on_closed(*this, why);
}

void Connection::join(Job* job, std::shared_ptr<OpenFds> fds, int pe) {
  job_ = job;
  pe_ = pe;
  fds_ = std::move(fds);
  fds_->set(static_cast<size_t>(pe), stream_.socket().native_handle());
}

void Connection::abandon() {
  closed_ = true;
  if (fds_ != nullptr) fds_->clear(static_cast<size_t>(pe_));
  timer_.cancel();
  stream_.close();
}

}  // namespace symm::store
