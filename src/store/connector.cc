#include "store/connector.h"

#include <poll.h>
#include <sys/socket.h>

#include <algorithm>
#include <asio/steady_timer.hpp>
#include <cstring>
#include <optional>

#include "base/config.h"
#include "base/log.h"
#include "base/unique_fd.h"
#include "net/error_text.h"

namespace symm::store {
namespace {

constexpr std::chrono::milliseconds kAttemptLimit{10000};
constexpr int kFirstPauseMs = 2;
constexpr int kLastPauseMs = 100;

// What one attempt came to. A final failure is not tried again.
struct Outcome {
  bool final = false;
  TlsConflict conflict = TlsConflict::kNone;
  Status failure;
  std::optional<Connected> connected;
};

Outcome retry_later(const std::string& why) {
  Outcome out;
  out.failure = SYMM_ERROR(kInternal, "{}", why);
  return out;
}

Outcome give_up(const std::string& why) {
  Outcome out = retry_later(why);
  out.final = true;
  return out;
}

// One attempt at one address; a chain of asynchronous steps under one timer.
class Attempt {
 public:
  Attempt(asio::io_context& io, const ConnectOptions& options, net::SocketAddress to)
      : io_(io), options_(options), to_(std::move(to)), timer_(io) {}

  Outcome run(std::chrono::milliseconds limit) {
    start(limit);
    io_.restart();
    io_.run();  // ends when the chain and the timer have ended
    return std::move(outcome_);
  }

 private:
  void finish(Outcome outcome) {
    if (finished_) return;
    finished_ = true;
    outcome_ = std::move(outcome);
    timer_.cancel();
    if (!outcome_.connected && stream_) stream_->close();
  }

  void start(std::chrono::milliseconds limit) {
    timer_.expires_after(limit);
    timer_.async_wait([this](std::error_code error) {
      if (!error) finish(retry_later("no answer"));
    });
    UniqueFd fd(socket(to_.family(), SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
    if (!fd.valid()) return finish(retry_later(std::string(std::strerror(errno))));
    asio::ip::tcp::socket plain(io_);
    std::error_code error;
    plain.assign(to_.is_v6() ? asio::ip::tcp::v6() : asio::ip::tcp::v4(), fd.get(), error);
    if (error) return finish(retry_later(net::error_text(error)));
    fd.release();
    stream_ = std::make_unique<net::Stream>(std::move(plain), options_.tls);
    asio::ip::tcp::endpoint endpoint;
    std::copy_n(reinterpret_cast<const char*>(to_.get()), to_.size(),
                reinterpret_cast<char*>(endpoint.data()));
    endpoint.resize(to_.size());
    stream_->socket().async_connect(endpoint,
                                    [this](std::error_code failed) { on_connect(failed); });
  }

  void on_connect(std::error_code error) {
    if (finished_) return;
    if (error) return finish(retry_later(net::error_text(error)));
    // A port of the ephemeral range that nobody listens at can be connected to itself, and would
    // then be busy for PE 0.
    std::error_code ignored;
    if (stream_->socket().local_endpoint(ignored) == stream_->socket().remote_endpoint(ignored)) {
      return finish(retry_later("Connection refused"));
    }
    stream_->set_options();
    if (!stream_->is_tls()) return send_hello();
    stream_->async_handshake(net::Side::kClient, [this](std::error_code failed) {
      if (finished_) return;
      if (failed) return finish(tls_failure(failed));
      Status status = stream_->verify();
      if (!status.ok()) return finish(give_up(std::string(status.text())));
      send_hello();
    });
  }

  Outcome tls_failure(std::error_code error) {
    if (!net::Stream::is_tls_error(error)) return retry_later(stream_->explain(error));
    Outcome out = give_up(stream_->explain(error));
    if (net::TlsContext::is_plain_peer(static_cast<unsigned long>(error.value())))
      out.conflict = TlsConflict::kStoreIsPlain;
    return out;
  }

  void send_hello() {
    hello_ = encode(options_.hello);
    stream_->async_write({asio::buffer(hello_), asio::const_buffer()},
                         [this](std::error_code error, size_t) {
                           if (finished_) return;
                           // A server that refuses may close before it has read everything: its
                           // answer counts, so read on.
                           read_reply(error);
                         });
  }

  void read_reply(std::error_code write_error) {
    stream_->async_read(
        front_.data(), kPreambleBytes, [this, write_error](std::error_code error, size_t) {
          if (finished_) return;
          if (error) return finish(reply_failure(write_error ? write_error : error));
          auto preamble = decode_preamble(front_, kMaxHelloReplyBody);
          if (!preamble.ok()) {
            bool alert = front_[0] == 0x15 && front_[1] == 0x03;  // a TLS alert record
            return finish(give_up(
                alert ? "PE 0 requires TLS, this PE speaks without; switch TLS on or off on all PEs"
                      : "another program answers at this address, not a store"));
          }
          body_.resize(preamble.value().length);
          stream_->async_read(body_.data(), body_.size(),
                              [this, front = preamble.value()](std::error_code failed, size_t) {
                                if (finished_) return;
                                if (failed) return finish(reply_failure(failed));
                                on_reply(front);
                              });
        });
  }

  Outcome reply_failure(std::error_code error) {
    if (net::Stream::is_tls_error(error)) return give_up(stream_->explain(error));
    return retry_later("the connection was closed before the answer");
  }

  void on_reply(const Preamble& preamble) {
    auto reply = decode_hello_reply(preamble, body_);
    if (!reply.ok()) return finish(give_up(std::string(reply.status().text())));
    if (reply.value().result == kResultRetry) return finish(retry_later(reply.value().text));
    if (reply.value().result != 0) {
      Outcome refusal = give_up(reply.value().text);
      if (reply.value().result == kResultWantsTls) refusal.conflict = TlsConflict::kStoreWantsTls;
      return finish(std::move(refusal));
    }
    Outcome out;
    out.connected = Connected{std::move(stream_), reply.value().nonce};
    finish(std::move(out));
  }

  asio::io_context& io_;
  const ConnectOptions& options_;
  net::SocketAddress to_;
  asio::steady_timer timer_;
  std::unique_ptr<net::Stream> stream_;
  std::string hello_;
  std::array<uint8_t, kPreambleBytes> front_{};
  std::string body_;
  bool finished_ = false;
  Outcome outcome_;
};

}  // namespace

Result<Connected> connect_to_store(asio::io_context& io, const ConnectOptions& options) {
  auto deadline =
      options.deadline.is_never() ? Deadline::after_seconds(options.timeout_s) : options.deadline;
  SYMM_ASSIGN(std::vector<net::SocketAddress> addresses, net::resolve(options.address));
  int pause_ms = kFirstPauseMs;
  auto report_s = config::seconds("SHMEM_WAIT_REPORT");
  Deadline next_report = report_s > 0 ? Deadline::after_seconds(report_s) : Deadline::never();
  while (true) {
    std::string last;
    for (const net::SocketAddress& to : addresses) {
      auto limit = std::min<std::chrono::milliseconds>(kAttemptLimit, deadline.left());
      Attempt attempt(io, options, to);
      Outcome outcome = attempt.run(limit);
      if (outcome.connected) return std::move(*outcome.connected);
      if (outcome.final) {
        if (options.conflict != nullptr) *options.conflict = outcome.conflict;
        return std::move(outcome.failure)
            .with_context(fmt::format("PE {} at the store {}", options.hello.pe, to.to_string()));
      }
      last = outcome.failure.text();
    }
    if (deadline.expired()) {
      return SYMM_ERROR(
          kInternal,
          "PE {} cannot reach PE 0 at {} within {:g} s (last: {}); is PE 0 running, and is "
          "this the address of its host?",
          options.hello.pe, options.address.to_string(), options.timeout_s, last);
    }
    if (next_report.expired()) {
      log::report(fmt::format(
          "init: PE {} cannot reach PE 0 at {} yet (last: {}); it tries for {} s more",
          options.hello.pe, options.address.to_string(), last, deadline.left().count() / 1000));
      report_s *= 2;
      next_report = Deadline::after_seconds(report_s);
    }
    // Nothing tells when PE 0 begins to listen: ask again, less and less often.
    poll(nullptr, 0, static_cast<int>(std::min<int64_t>(pause_ms, deadline.left().count() + 1)));
    pause_ms = std::min(kLastPauseMs, pause_ms + pause_ms / 2);
  }
}

}  // namespace symm::store
