#include "store/client.h"

#include <asio/post.hpp>
#include <charconv>
#include <condition_variable>
#include <deque>
#include <map>
#include <mutex>

#include "base/deadline.h"
#include "base/log.h"
#include "net/error_text.h"
#include "os/wait.h"
#include "store/io_thread.h"
#include "store/open_fds.h"

namespace symm::store {
namespace {

using std::chrono::milliseconds;

constexpr milliseconds kPlainLimit{120000};  // requests that the store answers at once
constexpr milliseconds kGrace{5000};         // on top of a limit that the store itself keeps
constexpr milliseconds kGoodbyeLimit{3000};
constexpr size_t kPiece = size_t{256} << 10;

struct Reply {
  int16_t result = 0;
  std::string body;
};

const char* name_of(Type type) {
  switch (type) {
    case Type::kSet:
      return "set";
    case Type::kGet:
      return "get";
    case Type::kAdd:
      return "add";
    case Type::kRemove:
      return "remove";
    case Type::kAppend:
      return "append";
    case Type::kCas:
      return "compare-and-swap";
    case Type::kBarrier:
      return "barrier";
    case Type::kAllgather:
      return "allgather";
    case Type::kGlobalExit:
      return "global exit";
    default:
      return "goodbye";
  }
}

std::string repeated(const std::string& record, int times) {
  std::string all;
  all.reserve(record.size() * static_cast<size_t>(times));
  for (int i = 0; i < times; ++i) all += record;
  return all;
}

Status failure_of(const Reply& reply) {
  return Status(static_cast<Code>(reply.result), reply.body, __FILE__, __LINE__);
}

template <typename Number>
Result<Number> number_of(const Reply& reply) {
  if (reply.result != 0) return failure_of(reply);
  Number number{};
  auto [end, error] =
      std::from_chars(reply.body.data(), reply.body.data() + reply.body.size(), number);
  if (error != std::errc() || end != reply.body.data() + reply.body.size()) {
    return SYMM_ERROR(kInternal, "the store answered with something that is not a number");
  }
  return number;
}

}  // namespace

class Client::Impl {
 public:
  explicit Impl(OnEvent on_event) : on_event_(std::move(on_event)) {}
  ~Impl() {
    thread_.stop();
    fds_.clear(0);
    if (stream_) stream_->close();
  }

  Status connect(const ConnectOptions& options) {
    pe_ = options.hello.pe;
    n_pes_ = options.hello.n_pes;
    where_ = options.address.to_string();
    SYMM_ASSIGN(Connected connected, connect_to_store(thread_.io(), options));
    stream_ = std::move(connected.stream);
    fds_.set(0, stream_->socket().native_handle());
    nonce_ = connected.nonce;
    security_ = stream_->describe();
    tls_state_ = stream_->tls_state();
    thread_.io().restart();
    read_header();
    thread_.start("symm-client");
    return {};
  }

  Result<Reply> call(const Request& request, milliseconds limit) {
    std::string body = encode_body(request);
    if (body.size() > kMaxRequestBody || request.key.size() > kMaxKey) {
      return SYMM_ERROR(kInvalidValue,
                        "store {}: key of {} and value of {} bytes are over the limits {} and {}",
                        name_of(request.type), request.key.size(), request.value.size(), kMaxKey,
                        kMaxRequestBody);
    }
    std::unique_lock lock(mutex_);
    if (!lost_.ok()) return lost_.clone();
    if (said_goodbye_) return SYMM_ERROR(kNotInitialized, "the connection to the store is closed");
    if (request.type == Type::kGoodbye) said_goodbye_ = true;
    uint32_t seq = ++last_seq_;
    waiting_[seq] = std::nullopt;
    Header header{request.type, 0, static_cast<uint32_t>(body.size()), seq};
    asio::post(thread_.io(), [this, head = encode(header), text = std::move(body)]() mutable {
      queue_.push_back({std::move(head), std::move(text)});
      start_write();
    });
    const os::NamedWait listed(fmt::format("{} '{}' of the control plane on PE {}, for PE 0 at {}",
                                           name_of(request.type), request.key, pe_, where_));
    auto done = [&] { return waiting_[seq].has_value() || !lost_.ok(); };
    bool in_time = true;
    if (limit < milliseconds(0)) {
      changed_.wait(lock, done);
    } else {
      in_time = changed_.wait_for(lock, limit, done);
    }
    auto node = waiting_.extract(seq);
    if (node.mapped()) return std::move(*node.mapped());
    if (!lost_.ok()) return lost_.clone();
    (void)in_time;
    return SYMM_ERROR(kSmem,
                      "store {}: PE 0 at {} does not answer within {} ms; is its process stopped?",
                      name_of(request.type), where_, limit.count());
  }

  void in_forked_child() { fds_.close_all(); }
  int n_pes() const { return n_pes_; }
  const std::array<uint8_t, 32>& nonce() const { return nonce_; }
  const std::string& security() const { return security_; }
  const net::TlsState& tls_state() const { return tls_state_; }

 private:
  void start_write() {
    if (writing_ || queue_.empty()) return;
    writing_ = true;
    const auto& [head, text] = queue_.front();
    stream_->async_write({asio::buffer(head), asio::buffer(text)},
                         [this](std::error_code error, size_t) {
                           writing_ = false;
                           if (error) return lose(net::error_text(error));
                           queue_.pop_front();
                           start_write();
                         });
  }

  void read_header() {
    stream_->async_read(front_.data(), kHeaderBytes, [this](std::error_code error, size_t) {
      if (error)
        return lose(error == asio::error::eof ? "its process has ended" : net::error_text(error));
      auto header = decode_header(front_, kMaxReplyBody);
      if (!header.ok()) return lose(std::string(header.status().text()));
      header_ = header.value();
      body_.clear();
      read_body();
    });
  }

  void read_body() {
    size_t have = body_.size();
    size_t piece = std::min(kPiece, header_.length - have);
    if (piece == 0) return on_frame();
    body_.resize(have + piece);
    stream_->async_read(body_.data() + have, piece, [this](std::error_code error, size_t) {
      if (error) return lose(net::error_text(error));
      read_body();
    });
  }

  void on_frame() {
    if (header_.type == Type::kReply) {
      std::lock_guard lock(mutex_);
      auto found = waiting_.find(header_.seq);
      if (found != waiting_.end()) found->second = Reply{header_.result, std::move(body_)};
      changed_.notify_all();
    } else if (!on_notice()) {
      return;
    }
    body_ = {};
    read_header();
  }

  // False when reading ends with it.
  bool on_notice() {
    auto notice = decode_notice(body_);
    if (!notice.ok()) {
      lose(std::string(notice.status().text()));
      return false;
    }
    const Notice& what = notice.value();
    switch (header_.type) {
      case Type::kPeerLost:
        tell(Event::kPeerLost, what.pe, what.text);
        return true;
      case Type::kExitNotice:
        tell(Event::kGlobalExit, what.pe, what.text);
        return true;
      case Type::kWaitReport:
        log::report(fmt::format("PE {} {}", pe_, what.text));
        return true;
      case Type::kStoreClosing:
        lose(what.text);
        return false;
      default:
        lose("it sent a frame that only clients send");
        return false;
    }
  }

  void tell(Event event, int value, const std::string& text) {
    if (on_event_) on_event_(event, value, text);
  }

  // The connection is over: all requests, present and future, end with the reason.
  void lose(const std::string& why) {
    std::string text = fmt::format("PE 0 (the store at {}) is lost: {}", where_, why);
    bool expected = false;
    {
      std::lock_guard lock(mutex_);
      if (!lost_.ok()) return;
      lost_ = SYMM_ERROR(kPeerLost, "{}", text);
      expected = said_goodbye_;
    }
    changed_.notify_all();
    fds_.clear(0);
    stream_->close();
    if (!expected) tell(Event::kStoreLost, 0, text);
  }

  const OnEvent on_event_;
  int pe_ = 0;
  int n_pes_ = 0;
  std::string where_;
  std::string security_;
  net::TlsState tls_state_;
  std::array<uint8_t, 32> nonce_{};
  OpenFds fds_{1};

  std::mutex mutex_;  // guards the block below
  std::condition_variable changed_;
  std::map<uint32_t, std::optional<Reply>> waiting_;
  uint32_t last_seq_ = 0;
  bool said_goodbye_ = false;
  Status lost_;

  // The client's thread only.
  std::deque<std::pair<std::string, std::string>> queue_;
  bool writing_ = false;
  std::array<uint8_t, kHeaderBytes> front_{};
  Header header_;
  std::string body_;

  IoThread thread_;  // after everything its handlers use, so that it ends first
  std::unique_ptr<net::Stream> stream_;
};

Client::Client(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
Client::~Client() = default;

Result<std::unique_ptr<Client>> Client::connect(const ConnectOptions& options, OnEvent on_event) {
  auto impl = std::make_unique<Impl>(std::move(on_event));
  SYMM_TRY(impl->connect(options));
  return std::unique_ptr<Client>(new Client(std::move(impl)));
}

Status Client::set(const std::string& key, std::string value) {
  Request request{Type::kSet, key, std::move(value), "", 0};
  SYMM_ASSIGN(Reply reply, impl_->call(request, kPlainLimit));
  return reply.result == 0 ? Status() : failure_of(reply);
}

Result<std::optional<std::string>> Client::get(const std::string& key, milliseconds limit) {
  Request request{Type::kGet, key, "", "", limit.count()};
  milliseconds patience = limit < milliseconds(0) ? limit : limit + kGrace;
  SYMM_ASSIGN(Reply reply, impl_->call(request, patience));
  if (reply.result == kResultNotFound) return std::optional<std::string>();
  if (reply.result != 0) return failure_of(reply);
  return std::optional<std::string>(std::move(reply.body));
}

Result<int64_t> Client::add(const std::string& key, int64_t delta) {
  SYMM_ASSIGN(Reply reply, impl_->call({Type::kAdd, key, "", "", delta}, kPlainLimit));
  return number_of<int64_t>(reply);
}

Result<size_t> Client::append(const std::string& key, std::string tail) {
  SYMM_ASSIGN(Reply reply, impl_->call({Type::kAppend, key, std::move(tail), "", 0}, kPlainLimit));
  return number_of<size_t>(reply);
}

Result<bool> Client::remove(const std::string& key) {
  SYMM_ASSIGN(Reply reply, impl_->call({Type::kRemove, key, "", "", 0}, kPlainLimit));
  if (reply.result == kResultNotFound) return false;
  if (reply.result != 0) return failure_of(reply);
  return true;
}

Result<std::optional<std::string>> Client::compare_and_swap(const std::string& key,
                                                            std::string expected,
                                                            std::string value) {
  Request request{Type::kCas, key, std::move(value), std::move(expected), 0};
  SYMM_ASSIGN(Reply reply, impl_->call(request, kPlainLimit));
  if (reply.result == kResultNotFound) return std::optional<std::string>();
  if (reply.result != 0) return failure_of(reply);
  return std::optional<std::string>(std::move(reply.body));
}

Status Client::barrier(const std::string& what, milliseconds limit) {
  Request request{Type::kBarrier, what.substr(0, kMaxName), "", "", limit.count()};
  SYMM_ASSIGN(Reply reply, impl_->call(request, limit + kGrace));
  return reply.result == 0 ? Status() : failure_of(reply);
}

Result<std::string> Client::allgather(const std::string& what, std::string data,
                                      milliseconds limit) {
  Request request{Type::kAllgather, what.substr(0, kMaxName), std::move(data), "", limit.count()};
  SYMM_ASSIGN(Reply reply, impl_->call(request, limit + kGrace));
  if (reply.result == kResultAllEqual) {
    if (reply.body.size() != request.value.size()) {
      return SYMM_ERROR(kInternal, "allgather '{}': a record of {} bytes came back, {} were sent",
                        what, reply.body.size(), request.value.size());
    }
    return repeated(reply.body, impl_->n_pes());
  }
  if (reply.result != 0) return failure_of(reply);
  return std::move(reply.body);
}

Status Client::global_exit(int status) {
  SYMM_ASSIGN(Reply reply, impl_->call({Type::kGlobalExit, "", "", "", status}, kPlainLimit));
  return reply.result == 0 ? Status() : failure_of(reply);
}

void Client::close() {
  auto reply = impl_->call({Type::kGoodbye, "", "", "", 0}, kGoodbyeLimit);
  // A store that is gone needs no goodbye; whoever cares has got the event.
  (void)reply;
  impl_.reset();
}

void Client::in_forked_child() { impl_->in_forked_child(); }

const std::array<uint8_t, 32>& Client::nonce() const { return impl_->nonce(); }
std::string Client::describe() const { return impl_->security(); }

const net::TlsState& Client::tls_state() const { return impl_->tls_state(); }

}  // namespace symm::store
