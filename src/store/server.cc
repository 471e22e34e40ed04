#include "store/server.h"

#include <fcntl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <asio/ip/tcp.hpp>
#include <asio/post.hpp>
#include <asio/steady_timer.hpp>
#include <cerrno>
#include <condition_variable>
#include <cstring>
#include <list>
#include <mutex>
#include <unordered_map>

#include "base/log.h"
#include "net/error_text.h"
#include "os/shared_memory.h"
#include "store/connection.h"
#include "store/io_thread.h"
#include "store/refusals.h"

namespace symm::store {
namespace {

constexpr int kAcceptBatch = 64;
constexpr size_t kSharedBytes = size_t{64} << 10;       // results from here on are worth a file,
constexpr size_t kSharers = 8;                          // for so many receivers
constexpr std::chrono::milliseconds kAcceptPause{50};   // after running out of descriptors
constexpr std::chrono::milliseconds kAfterLoss{3000};   // a broken job is not waited for longer
constexpr std::chrono::milliseconds kFlushLimit{1500};  // for last words

}  // namespace

class Server::Impl : public ConnectionOwner {
 public:
  explicit Impl(Options options)
      : options_(std::move(options)),
        session_(options_.session),
        members_(options_.session.n_pes, nullptr),
        tick_(thread_.io()),
        accept_pause_(thread_.io()) {}

  Status start() {
    for (UniqueFd& fd : options_.listeners.fds) {
      SYMM_ASSIGN(net::SocketAddress bound, net::local_address(fd.get()));
      auto protocol = bound.is_v6() ? asio::ip::tcp::v6() : asio::ip::tcp::v4();
      acceptors_.emplace_back(thread_.io());
      std::error_code error;
      acceptors_.back().assign(protocol, fd.get(), error);
      if (error)
        return SYMM_ERROR(kInternal, "store at {}: {}", bound.to_string(), net::error_text(error));
      fd.release();
      accept_from(acceptors_.back());
    }
    thread_.start("symm-store");
    return {};
  }

  void stop(std::chrono::milliseconds limit) {
    asio::post(thread_.io(), [this] { session_.begin_closing(); });
    auto deadline = Clock::now() + limit;
    if (!wait_for_members(deadline)) say_farewell();
    end();
  }

  void end() {
    thread_.stop();
    for (auto& [key, connection] : connections_) connection->abandon();
    connections_.clear();
    acceptors_.clear();
    std::lock_guard lock(refusals_mutex_);
    refusals_.flush();
  }

  // From Connection, in the server's thread.
  HelloReply on_hello(Connection& connection, const Hello& hello) override {
    Session::Sends sends;
    HelloReply reply = session_.admit(hello, sends);
    if (reply.result == 0) {
      members_[hello.pe] = &connection;
      forget_stranger(connection);
      std::lock_guard lock(mutex_);
      ++connected_;
    }
    flush(sends);
    return reply;
  }

  void on_request(Connection& connection, const Header& header, Request request) override {
    Session::Sends sends;
    Type type = request.type;
    session_.handle(connection.pe(), header.seq, std::move(request), Clock::now(), sends);
    flush(sends);
    if (type == Type::kGoodbye) connection.finish();
  }

  void on_closed(Connection& connection, const std::string& why) override {
    int pe = connection.pe();
    if (pe >= 0) {
      members_[pe] = nullptr;
      Session::Sends sends;
      session_.disconnect(pe, why, sends);
      {
        std::lock_guard lock(mutex_);
        --connected_;
        lost_ = session_.anyone_lost();
      }
      changed_.notify_all();
      flush(sends);
    } else {
      forget_stranger(connection);
    }
    connections_.erase(&connection);
  }

  std::vector<Refusal> refusals() {
    std::lock_guard lock(refusals_mutex_);
    return refusals_.kept();
  }

  void on_refused(const std::string& peer, const std::string& why) override {
    note_refusal(peer, why);
    session_.note_refusal(peer, why);
  }

 private:
  void accept_from(asio::ip::tcp::acceptor& acceptor) {
    acceptor.async_wait(
        asio::ip::tcp::acceptor::wait_read, [this, &acceptor](std::error_code error) {
          if (error) return;  // only when the server ends
          for (int i = 0; i < kAcceptBatch; ++i) {
            UniqueFd fd(
                accept4(acceptor.native_handle(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
            if (fd.valid()) {
              adopt(std::move(fd));
              continue;
            }
            if (errno == EAGAIN) break;
            if (errno == EINTR || errno == ECONNABORTED) continue;
            return pause_accepting(acceptor);
          }
          accept_from(acceptor);
        });
  }

  void note_refusal(const std::string& peer, const std::string& why) {
    std::lock_guard lock(refusals_mutex_);
    refusals_.add(peer, why);
  }

  // Out of descriptors or memory: the newcomers wait in the backlog until some are free again.
  void pause_accepting(asio::ip::tcp::acceptor& acceptor) {
    note_refusal("the network", std::string(std::strerror(errno)));
    accept_pause_.expires_after(kAcceptPause);
    accept_pause_.async_wait([this, &acceptor](std::error_code error) {
      if (!error) accept_from(acceptor);
    });
  }

  void adopt(UniqueFd fd) {
    auto bound = net::local_address(fd.get());
    if (!bound.ok()) return;
    auto protocol = bound.value().is_v6() ? asio::ip::tcp::v6() : asio::ip::tcp::v4();
    asio::ip::tcp::socket socket(thread_.io());
    std::error_code error;
    socket.assign(protocol, fd.get(), error);
    if (error) return on_refused("the network", net::error_text(error));
    fd.release();
    auto connection =
        std::make_shared<Connection>(std::move(socket), options_.tls, options_.session.magic, this);
    strangers_.push_back(connection.get());
    connections_[connection.get()] = {connection, std::prev(strangers_.end())};
    connection->start(options_.handshake_limit);
    size_t limit = static_cast<size_t>(options_.session.n_pes) + options_.extra_unauthenticated;
    if (strangers_.size() > limit) {
      Connection* oldest = strangers_.front();
      on_refused(oldest->peer(), "too many connections that have not said who they are");
      oldest->close("too many connections");
    }
  }

  void forget_stranger(Connection& connection) {
    auto found = connections_.find(&connection);
    if (found == connections_.end() || found->second.stranger == strangers_.end()) return;
    strangers_.erase(found->second.stranger);
    found->second.stranger = strangers_.end();
  }

  // A large body for many goes into a file once; without one (no memory) it is sent as usual.
  void share_bodies(Session::Sends& sends) const {
    if (options_.tls != nullptr || sends.size() < kSharers) return;
    const auto& body = sends.back().frame.body;
    if (body->size() < kSharedBytes) return;
    auto same = [&](const Session::Send& send) { return send.frame.body == body; };
    if (static_cast<size_t>(std::count_if(sends.begin(), sends.end(), same)) < kSharers) return;
    auto file = os::SharedMemory::create("symm-allgather", body->size());
    if (!file.ok()) return;
    auto shared = std::make_shared<UniqueFd>(file.value().release());
    if (::pwrite(shared->get(), body->data(), body->size(), 0) !=
        static_cast<ssize_t>(body->size())) {
      return;
    }
    for (Session::Send& send : sends) {
      if (same(send)) send.frame.file = shared;
    }
  }

  // Sending may close a connection, which makes more to send: one loop takes everything in order.
  void flush(Session::Sends& sends) {
    share_bodies(sends);
    for (Session::Send& send : sends) outbox_.push_back(std::move(send));
    if (flushing_) return;
    flushing_ = true;
    for (size_t i = 0; i < outbox_.size(); ++i) {
      Session::Send send = std::move(outbox_[i]);
      if (Connection* connection = members_[send.pe]) connection->send(send.frame);
    }
    outbox_.clear();
    flushing_ = false;
    arm_tick();
  }

  void arm_tick() {
    auto next = session_.next_deadline();
    if (next == armed_) return;
    armed_ = next;
    if (!next) {
      tick_.cancel();
      return;
    }
    tick_.expires_at(*next);
    tick_.async_wait([this](std::error_code error) {
      if (error) return;
      armed_.reset();
      Session::Sends sends;
      session_.tick(Clock::now(), sends);
      for (const std::string& line : session_.take_reports(Clock::now())) log::report(line);
      flush(sends);
    });
  }

  bool wait_for_members(Clock::time_point deadline) {
    std::unique_lock lock(mutex_);
    while (connected_ > 0) {
      auto until = lost_ ? std::min(deadline, Clock::now() + kAfterLoss) : deadline;
      bool was_lost = lost_;
      bool over =
          !changed_.wait_until(lock, until, [&] { return connected_ == 0 || lost_ != was_lost; });
      if (over) return false;
    }
    return true;
  }

  void say_farewell() {
    asio::post(thread_.io(), [this] {
      auto left = session_.present();
      if (!left.empty()) {
        SYMM_LOG(kWarn, "PE 0 closes the store although {} did not finalize in time",
                 format_pes(left));
      }
      Session::Sends sends;
      session_.announce_end(sends);
      flush(sends);
      for (Connection* member : std::vector<Connection*>(members_)) {
        if (member != nullptr) member->finish();
      }
    });
    std::unique_lock lock(mutex_);
    changed_.wait_until(lock, Clock::now() + kFlushLimit, [&] { return connected_ == 0; });
  }

  struct Entry {
    std::shared_ptr<Connection> connection;
    std::list<Connection*>::iterator stranger;
    Connection* operator->() const { return connection.get(); }
  };

  Options options_;
  Session session_;
  std::vector<Connection*> members_;  // by PE; null when not connected
  std::unordered_map<Connection*, Entry> connections_;
  std::list<Connection*> strangers_;  // not authenticated, oldest first
  std::vector<Session::Send> outbox_;
  bool flushing_ = false;
  std::mutex refusals_mutex_;
  Refusals refusals_;
  std::optional<Clock::time_point> armed_;

  std::mutex mutex_;  // guards the two below, for stop()
  std::condition_variable changed_;
  int connected_ = 0;
  bool lost_ = false;

  // Last, so that they end first: everything above is used by their handlers.
  IoThread thread_;
  std::list<asio::ip::tcp::acceptor> acceptors_;
  asio::steady_timer tick_;
  asio::steady_timer accept_pause_;
};

Server::Server(std::unique_ptr<Impl> impl, uint16_t port) : impl_(std::move(impl)), port_(port) {}

Result<std::unique_ptr<Server>> Server::start(Options options) {
  uint16_t port = options.listeners.port;
  auto impl = std::make_unique<Impl>(std::move(options));
  SYMM_TRY(impl->start());
  return std::unique_ptr<Server>(new Server(std::move(impl), port));
}

Server::~Server() {
  if (impl_ != nullptr) impl_->end();
}

std::vector<Refusal> Server::refusals() const { return impl_->refusals(); }

void Server::stop(std::chrono::milliseconds limit) {
  impl_->stop(limit);
  impl_.reset();
}

}  // namespace symm::store
