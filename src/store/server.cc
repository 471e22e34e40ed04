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
#include <functional>
#include <future>
#include <list>
#include <map>
#include <mutex>
#include <unordered_map>

#include "base/log.h"
#include "net/error_text.h"
#include "os/shared_memory.h"
#include "store/connection.h"
#include "store/io_thread.h"
#include "store/job.h"
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
        first_(options_.session.instance),
        listening_(std::make_shared<OpenFds>(options_.listeners.fds.size())),
        tick_(thread_.io()),
        accept_pause_(thread_.io()) {}

  Status start() {
    jobs_[first_] = std::make_unique<Job>(options_.session);
    size_t index = 0;
    for (UniqueFd& fd : options_.listeners.fds) {
      SYMM_ASSIGN(net::SocketAddress bound, net::local_address(fd.get()));
      auto protocol = bound.is_v6() ? asio::ip::tcp::v6() : asio::ip::tcp::v4();
      acceptors_.emplace_back(thread_.io());
      std::error_code error;
      acceptors_.back().assign(protocol, fd.get(), error);
      if (error)
        return SYMM_ERROR(kInternal, "store at {}: {}", bound.to_string(), net::error_text(error));
      listening_->set(index++, fd.release());
      accept_from(acceptors_.back());
    }
    thread_.start("symm-store");
    return {};
  }

  Status add_job(const Session::Options& session) {
    return in_thread([&]() -> Status {
      auto [place, added] = jobs_.try_emplace(session.instance);
      if (!added) {
        return SYMM_ERROR(kInternal, "instance {} is served at this address already",
                          session.instance);
      }
      place->second = std::make_unique<Job>(session);
      return {};
    });
  }

  void close_job(uint64_t instance, std::chrono::milliseconds limit) {
    Job* job = nullptr;
    (void)in_thread([&]() -> Status {
      job = find_job(instance);
      if (job != nullptr) job->session.begin_closing();
      if (job != nullptr) count(*job);
      return {};
    });
    if (job == nullptr) return;
    if (!wait_for_members(*job, Clock::now() + limit)) say_farewell(*job);
    (void)in_thread([&]() -> Status {
      drop_job(*job);
      return {};
    });
  }

  void stop(std::chrono::milliseconds limit) {
    close_job(first_, limit);
    end();
  }

  void end() {
    thread_.stop();
    for (auto& [key, connection] : connections_) connection->abandon();
    connections_.clear();
    listening_->forget_all();
    acceptors_.clear();
    std::lock_guard lock(refusals_mutex_);
    refusals_.flush();
  }

  std::shared_ptr<OpenFds> members_fds(uint64_t instance) {
    std::shared_ptr<OpenFds> out;
    (void)in_thread([&]() -> Status {
      if (Job* job = find_job(instance)) out = job->fds;
      return {};
    });
    return out;
  }
  std::shared_ptr<OpenFds> listening_fds() const { return listening_; }

  // From Connection, in the server's thread.
  HelloReply on_hello(Connection& connection, const Hello& hello) override {
    // What another version means by the instance is not known: the first job refuses it.
    Job* job = find_job(hello.version == kProtocolVersion ? hello.instance : first_);
    if (job == nullptr) {
      HelloReply later;
      later.magic = hello.magic;
      later.result = kResultRetry;
      later.text = fmt::format("PE 0 has not opened instance {} at this address", hello.instance);
      return later;
    }
    Session::Sends sends;
    HelloReply reply = job->session.admit(hello, Clock::now(), sends);
    if (reply.result == 0) {
      job->members[hello.pe] = &connection;
      connection.join(job, job->fds, hello.pe);
      forget_stranger(connection);
      std::lock_guard lock(mutex_);
      ++job->connected;
    }
    count(*job);
    flush(*job, sends);
    return reply;
  }

  void on_request(Connection& connection, const Header& header, Request request) override {
    Job& job = *connection.job();
    Session::Sends sends;
    Type type = request.type;
    job.session.handle(connection.pe(), header.seq, std::move(request), Clock::now(), sends);
    flush(job, sends);
    if (type == Type::kGoodbye) connection.finish();
  }

  void on_closed(Connection& connection, const std::string& why) override {
    int pe = connection.pe();
    Job* job = connection.job();
    if (job != nullptr) {
      job->members[pe] = nullptr;
      Session::Sends sends;
      job->session.disconnect(pe, why, sends);
      {
        std::lock_guard lock(mutex_);
        --job->connected;
      }
      count(*job);
      flush(*job, sends);
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
    for (auto& [instance, job] : jobs_) job->session.note_refusal(peer, why);
  }

 private:
  // Runs the function in the server's thread and waits for it.
  Status in_thread(const std::function<Status()>& what) {
    std::promise<Status> done;
    asio::post(thread_.io(), [&] { done.set_value(what()); });
    return done.get_future().get();
  }

  Job* find_job(uint64_t instance) {
    auto found = jobs_.find(instance);
    return found == jobs_.end() ? nullptr : found->second.get();
  }

  // Keeps what close_job() waits for.
  void count(Job& job) {
    {
      std::lock_guard lock(mutex_);
      job.lost = job.session.anyone_lost();
      job.untold = job.session.untold();
    }
    changed_.notify_all();
  }

  void drop_job(Job& job) {
    for (Connection* member : job.members) {
      if (member == nullptr) continue;
      member->abandon();
      connections_.erase(member);
    }
    jobs_.erase(job.instance);
    arm_tick();
  }

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
    size_t limit = options_.extra_unauthenticated;
    for (const auto& [instance, job] : jobs_) limit += static_cast<size_t>(job->n_pes);
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
  void flush(Job& job, Session::Sends& sends) {
    share_bodies(sends);
    for (Session::Send& send : sends) job.outbox.push_back(std::move(send));
    if (job.flushing) return;
    job.flushing = true;
    for (size_t i = 0; i < job.outbox.size(); ++i) {
      Session::Send send = std::move(job.outbox[i]);
      if (Connection* connection = job.members[send.pe]) connection->send(send.frame);
    }
    job.outbox.clear();
    job.flushing = false;
    arm_tick();
  }

  void arm_tick() {
    std::optional<Clock::time_point> next;
    for (const auto& [instance, job] : jobs_) {
      const auto one = job->session.next_deadline();
      if (one && (!next || *one < *next)) next = one;
    }
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
      for (auto& [instance, job] : jobs_) {
        Session::Sends sends;
        job->session.tick(Clock::now(), sends);
        count(*job);
        flush(*job, sends);
      }
    });
  }

  bool wait_for_members(Job& job, Clock::time_point deadline) {
    std::unique_lock lock(mutex_);
    auto over = [&] { return job.connected == 0 && job.untold == 0; };
    while (!over()) {
      auto until = job.lost ? std::min(deadline, Clock::now() + kAfterLoss) : deadline;
      bool was_lost = job.lost;
      if (!changed_.wait_until(lock, until, [&] { return over() || job.lost != was_lost; })) {
        return job.connected == 0;
      }
    }
    return true;
  }

  void say_farewell(Job& job) {
    (void)in_thread([&]() -> Status {
      auto left = job.session.present();
      if (!left.empty()) {
        SYMM_LOG(kWarn, "PE 0 closes the store although {} did not finalize in time",
                 format_pes(left));
      }
      Session::Sends sends;
      job.session.announce_end(sends);
      flush(job, sends);
      for (Connection* member : std::vector<Connection*>(job.members)) {
        if (member != nullptr) member->finish();
      }
      return {};
    });
    std::unique_lock lock(mutex_);
    changed_.wait_until(lock, Clock::now() + kFlushLimit, [&] { return job.connected == 0; });
  }

  struct Entry {
    std::shared_ptr<Connection> connection;
    std::list<Connection*>::iterator stranger;
    Connection* operator->() const { return connection.get(); }
  };

  Options options_;
  const uint64_t first_;                           // the instance that the server was started with
  std::map<uint64_t, std::unique_ptr<Job>> jobs_;  // by instance
  std::shared_ptr<OpenFds> listening_;
  std::unordered_map<Connection*, Entry> connections_;
  std::list<Connection*> strangers_;  // not authenticated, oldest first
  std::mutex refusals_mutex_;
  Refusals refusals_;
  std::optional<Clock::time_point> armed_;

  std::mutex mutex_;  // guards the counters of the jobs, for close_job()
  std::condition_variable changed_;

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
Status Server::add_job(const Session::Options& session) { return impl_->add_job(session); }

void Server::close_job(uint64_t instance, std::chrono::milliseconds limit) {
  impl_->close_job(instance, limit);
}

std::shared_ptr<OpenFds> Server::members_fds(uint64_t instance) {
  return impl_->members_fds(instance);
}

std::shared_ptr<OpenFds> Server::listening_fds() const { return impl_->listening_fds(); }

void Server::stop(std::chrono::milliseconds limit) {
  impl_->stop(limit);
  impl_.reset();
}

}  // namespace symm::store
