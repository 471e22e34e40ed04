#include "bootstrap/config_store.h"

#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <string_view>

#include "base/audit.h"
#include "base/config.h"
#include "base/log.h"
#include "base/version.h"
#include "bootstrap/edge.h"
#include "bootstrap/shared_servers.h"

namespace symm::bootstrap {
namespace {

constexpr int kMaxPes = 16384;
constexpr double kBusyPatience_s = 2;
constexpr double kProbePatience_s = 1;
constexpr std::chrono::milliseconds kCloseLimit{30000};
constexpr std::chrono::milliseconds kFailedOpenLimit{2000};
constexpr std::chrono::milliseconds kHurryLimit{500};
constexpr double kRefusePatience_s = 5;

Result<net::Address> address_of(const net::SocketAddress& socket) {
  return net::parse_literal(socket.host(), socket.port());
}

// The socket that shmem-run lets PE 0 inherit, or -1 when this start does not lead to it: another
// address, or a second init after the first one used the socket up (its number may be anything
// then).
int inherited_listener(const char* address, uint16_t port) {
  const int fd = static_cast<int>(config::integer("SHMEM_LISTEN_FD"));
  if (fd < 0 || address == nullptr || config::text("SHMEM_BOOTSTRAP") != address) return -1;
  int listening = 0;
  socklen_t size = sizeof listening;
  const bool known = getsockopt(fd, SOL_SOCKET, SO_ACCEPTCONN, &listening, &size) == 0;
  if (!known || listening == 0) return -1;
  auto bound = net::local_address(fd);
  return bound.ok() && bound.value().port() == port ? fd : -1;
}

// Not a secret; 0 means unknown.
uint64_t random_token() {
  uint64_t token = 0;
  Status made = net::random_bytes(&token, sizeof token);
  return made.ok() ? token | 1 : 0;
}

}  // namespace

ConfigStore::ConfigStore(const symm_bootstrap_config& config)
    : config_(config), pid_(getpid()), token_(random_token()) {}

ConfigStore::~ConfigStore() { close(); }

Result<ConfigStore::Target> ConfigStore::find_target(const symm_bootstrap_config& config) {
  Target out;
  out.hello.pe = config.pe;
  out.hello.n_pes = config.n_pes;
  out.hello.instance = config.instance;
  out.hello.library = kVersion;
  Status unusable;
  if (config.mode != kModeUniqueId) {
    // comm_args may dangle when the address is good: it is looked at only when the address is not.
    auto parsed = net::parse_url(config.address != nullptr ? config.address : "");
    if (parsed.ok()) {
      out.address = std::move(parsed.value());
      return out;
    }
    if (config.comm_args == nullptr) return std::move(parsed.status());
    unusable = std::move(parsed.status());
  }
  auto id = decode_unique_id(config.comm_args);
  if (!id.ok()) {
    if (unusable.ok()) return std::move(id.status());
    return SYMM_ERROR(kInvalidParam, "{}; and comm_args is no way out: {}", unusable.text(),
                      id.status().text());
  }
  out.unique_id = std::move(id.value());
  SYMM_ASSIGN(out.address, address_of(out.unique_id->address));
  out.hello.magic = static_cast<uint16_t>(out.unique_id->magic);
  out.hello.cookie = out.unique_id->magic;
  return out;
}

Result<net::Listeners> ConfigStore::find_listeners(Deadline deadline) {
  if (config_.listen_fd >= 0) {
    SYMM_ASSIGN(net::SocketAddress bound, net::local_address(config_.listen_fd));
    if (bound.port() != target_.address.port) {
      return SYMM_ERROR(kInvalidParam,
                        "the listening socket handed in has port {}, the address says {}",
                        bound.port(), target_.address.port);
    }
    return net::adopt_listener(config_.listen_fd);
  }
  if (target_.unique_id) {
    // The descriptor in the id counts only in the process that made it: there it is bound to the
    // id's address.
    int fd = target_.unique_id->listen_fd;
    auto bound = net::local_address(fd);
    const net::SocketAddress& wanted = target_.unique_id->address;
    if (bound.ok() && bound.value().same_host(wanted) && bound.value().port() == wanted.port()) {
      return net::adopt_listener(fd);
    }
  }
  if (const int fd = inherited_listener(config_.address, target_.address.port); fd >= 0) {
    return net::adopt_listener(fd);
  }
  double patience = std::min(kBusyPatience_s, static_cast<double>(deadline.left().count()) / 1000);
  return net::listen_on(target_.address, Deadline::after_seconds(patience));
}

// The port is taken. If a store of this very job holds it, two processes claim PE 0, and joining
// tells everybody.
Status ConfigStore::busy_port(Status failure) {
  asio::io_context io;
  auto probe = store::connect_to_store(io, connect_options(kProbePatience_s));
  if (probe.ok())
    return SYMM_ERROR(kInternal, "{}; it is a store of this job: two processes claim PE 0",
                      failure.text());
  return SYMM_ERROR(kInternal, "{} ({})", failure.text(), probe.status().text());
}

store::ConnectOptions ConfigStore::connect_options(double timeout_s) const {
  store::ConnectOptions out;
  out.address = target_.address;
  out.hello = target_.hello;
  out.tls = security_.client;
  out.timeout_s = timeout_s;
  return out;
}

store::Session::Options ConfigStore::session_options() const {
  store::Session::Options out;
  out.n_pes = std::max(config_.n_pes, 1);
  out.report_after =
      std::chrono::milliseconds(static_cast<int64_t>(config::seconds("SHMEM_WAIT_REPORT") * 1000));
  out.magic = target_.hello.magic;
  out.cookie = target_.hello.cookie;
  out.instance = target_.hello.instance;
  out.tls = security_.server != nullptr;
  out.token = token_;
  out.one_launch = security_.one_launch;
  return out;
}

Result<std::unique_ptr<store::Server>> ConfigStore::start_listening(
    const store::Session::Options& session, Deadline deadline) {
  auto listeners = find_listeners(deadline);
  if (!listeners.ok()) {
    bool ours = config_.listen_fd >= 0 || listeners.status().code() != Code::kInternal;
    return ours ? std::move(listeners.status()) : busy_port(std::move(listeners.status()));
  }
  store::Server::Options options;
  options.session = session;
  options.listeners = std::move(listeners.value());
  options.tls = security_.server;
  return store::Server::start(std::move(options));
}

Status ConfigStore::start_server(Deadline deadline, const std::string& trouble) {
  if (config_.n_pes == 1 && trouble.empty()) return hold_port(deadline);
  store::Session::Options session = session_options();
  session.trouble = trouble;
  SYMM_TRY(net::random_bytes(session.nonce.data(), session.nonce.size()));
  auto start = [&] { return start_listening(session, deadline); };
  if (target_.unique_id) {
    SYMM_ASSIGN(server_, start());
  } else {
    // Another instance of this process may listen there already.
    const std::string key =
        fmt::format("{} {} {}", target_.address.to_string(),
                    security_.server ? "TLS " + security_.source : "plain", security_.secret);
    SYMM_ASSIGN(server_, SharedServers::of_process().join(key, session, start));
  }
  member_fds_ = server_->members_fds(session.instance);
  listening_fds_ = server_->listening_fds();
  return {};
}

// One PE alone. Nobody will come, so a further instance may do without the port that the first has.
Status ConfigStore::hold_port(Deadline deadline) {
  auto listeners = find_listeners(deadline);
  if (listeners.ok()) held_ = std::move(listeners.value());
  if (config_.instance != 0 && listeners.status().code() == Code::kInternal) return {};
  return std::move(listeners.status());
}

void ConfigStore::stop_server(std::chrono::milliseconds limit) {
  if (server_) server_->close_job(target_.hello.instance, limit);
  member_fds_.reset();
  listening_fds_.reset();
  server_.reset();
}

// Each PE that makes an id of its own listens there and waits for ever: no two can meet. PEs that
// were forked after the id was made have the socket, too, and are right.
Status ConfigStore::check_maker() const {
  if (!target_.unique_id || config_.pe == 0 || !makes_unique_ids()) return {};
  auto bound = net::local_address(target_.unique_id->listen_fd);
  const net::SocketAddress& wanted = target_.unique_id->address;
  if (!bound.ok() || !bound.value().same_host(wanted) || bound.value().port() != wanted.port()) {
    return {};
  }
  return SYMM_ERROR(kInternal,
                    "id mismatch: the unique id of PE {} was made in its own process; PE 0 makes "
                    "the id and the program gives its bytes to all PEs",
                    config_.pe);
}

void ConfigStore::refuse(const symm_bootstrap_config& config, const std::string& why) {
  if (config.n_pes <= 1 || config.n_pes > kMaxPes) return;  // nobody to tell
  ConfigStore self(config);
  auto target = find_target(config);
  if (!target.ok()) return;
  self.target_ = std::move(target.value());
  if (!net::resolve(self.target_.address).ok()) return;
  std::string_view secret;
  if (self.target_.unique_id) secret = self.target_.unique_id->secret;
  auto security = find_security(config.tls, secret, config.pe);
  if (!security.ok()) return;
  self.security_ = std::move(security.value());
  self.target_.hello.token = self.token_;
  self.target_.hello.tls = self.security_.client != nullptr ? 1 : 0;
  if (config.pe == 0) {
    const auto patience = Deadline::after_seconds(kRefusePatience_s);
    if (self.start_server(patience, why).ok()) self.stop_server(patience.left());
    return;
  }
  store::ConnectOptions options = self.connect_options(kRefusePatience_s);
  options.hello.trouble = why;
  self.send_trouble(options);
}

// The store answers with a refusal; there is nobody to tell when it cannot be reached.
void ConfigStore::send_trouble(const store::ConnectOptions& options) const {
  asio::io_context io;
  auto answer = store::connect_to_store(io, options);
  if (!answer.ok()) SYMM_LOG(kInfo, "told PE 0: {}", answer.status().text());
}

// This PE may not join without TLS, or with it; but it may say so, in the way that PE 0 understands
// and, where PE 0 uses TLS, with the proof that it belongs to the job.
void ConfigStore::report_tls_conflict(store::TlsConflict conflict) {
  store::ConnectOptions options = connect_options(kRefusePatience_s);
  options.tls = nullptr;
  if (conflict == store::TlsConflict::kStoreWantsTls) {
    std::string_view unique;
    if (target_.unique_id) unique = target_.unique_id->secret;
    auto secret = net::find_secret(unique);
    if (!secret.ok()) return;
    auto context = net::TlsContext::from_secret(net::Side::kClient, secret.value());
    if (!context.ok()) return;
    options.tls = context.value();
  }
  send_trouble(options);
}

Status ConfigStore::connect(Deadline deadline) {
  store::ConnectOptions options = connect_options(config_.connect_timeout_s);
  options.deadline = deadline;
  store::TlsConflict conflict = store::TlsConflict::kNone;
  options.conflict = &conflict;
  auto handler = [this](store::Client::Event event, int value, const std::string& text) {
    on_event(event, value, text);
  };
  auto client = store::Client::connect(options, handler);
  if (conflict != store::TlsConflict::kNone) report_tls_conflict(conflict);
  if (!client.ok()) {
    audit::write(audit::Event::kJoinFailed, fmt::format("PE {}", config_.pe),
                 client.status().text());
    return std::move(client.status());
  }
  client_ = std::move(client.value());
  SYMM_TRY(client_->barrier("open", deadline.left()));
  std::string_view nonce(reinterpret_cast<const char*>(client_->nonce().data()),
                         client_->nonce().size());
  SYMM_LOG(kInfo, "{}", info());
  SYMM_ASSIGN(key_, net::derive_key(security_.secret, nonce, "anyshmem job key v1"));
  return {};
}

// PE 0 hears of a PE that cannot take part; without a key that is no more than a line about it.
Status ConfigStore::find_keys(std::string_view unique_id_secret) {
  auto found = find_security(config_.tls, unique_id_secret, config_.pe);
  if (found.ok()) {
    security_ = std::move(found.value());
    return {};
  }
  security_.client =
      config_.pe > 0 ? trouble_context(config_.tls, config_.pe, std::string(found.status().text()))
                     : nullptr;
  if (security_.client != nullptr) {
    asio::io_context io;
    auto told = store::connect_to_store(io, connect_options(kProbePatience_s));
    if (!told.ok()) SYMM_LOG(kInfo, "{}", told.status().text());
  }
  return std::move(found.status());
}

Status ConfigStore::start() {
  auto deadline = Deadline::after_seconds(config_.connect_timeout_s);
  SYMM_ASSIGN(target_, find_target(config_));
  SYMM_TRY(std::move(net::resolve(target_.address).status()));
  std::string_view uid_secret =
      target_.unique_id ? std::string_view(target_.unique_id->secret) : std::string_view();
  target_.hello.token = token_;
  SYMM_TRY(audit::check());
  SYMM_TRY(find_keys(uid_secret));
  target_.hello.tls = security_.client != nullptr ? 1 : 0;
  SYMM_TRY(check_maker());
  if (config_.pe == 0) SYMM_TRY(start_server(deadline, ""));
  if (config_.n_pes > 1) return connect(deadline);
  return net::random_bytes(key_.data(), key_.size());
}

Result<std::unique_ptr<ConfigStore>> ConfigStore::open(const symm_bootstrap_config& config) {
  if (config.size < sizeof(symm_bootstrap_config)) {
    return SYMM_ERROR(
        kInternal,
        "the plug-in and libshmem.so are of different versions ({} and {} bytes of options)",
        sizeof(symm_bootstrap_config), config.size);
  }
  if (config.n_pes < 1 || config.pe < 0) {
    return SYMM_ERROR(kInvalidValue, "PE {} of {} PEs: neither may be negative or none", config.pe,
                      config.n_pes);
  }
  // Out of range for what this PE believes: the others cannot be reached as that PE.
  if (config.pe >= config.n_pes) {
    refuse(config, fmt::format("its number is out of range: it was told {} PEs, 0 to {}",
                               config.n_pes, config.n_pes - 1));
    return SYMM_ERROR(kInvalidParam, "PE {} is out of range: {} PEs are 0 to {}", config.pe,
                      config.n_pes, config.n_pes - 1);
  }
  std::unique_ptr<ConfigStore> out(new ConfigStore(config));
  Status status = out->start();
  if (status.ok()) return out;
  if (out->client_) out->client_->close();
  out->client_.reset();
  out->stop_server(kFailedOpenLimit);
  return status;
}

bool ConfigStore::is_foreign_process() const { return getpid() != pid_; }

Status ConfigStore::check_process() const {
  if (!is_foreign_process()) return {};
  return SYMM_ERROR(kInternal, "called in a child of fork (process {}): only process {} is PE {}",
                    getpid(), pid_, config_.pe);
}

std::chrono::milliseconds ConfigStore::operation_limit() const {
  return std::chrono::milliseconds(static_cast<int64_t>(config_.operation_timeout_s * 1000));
}

Status ConfigStore::barrier(const std::string& what) {
  SYMM_TRY(check_process());
  if (client_ == nullptr) return {};
  return client_->barrier(what, operation_limit());
}

Status ConfigStore::allgather(const std::string& what, std::string_view in, void* out) {
  SYMM_TRY(check_process());
  if (client_ == nullptr) {
    if (!in.empty()) std::memmove(out, in.data(), in.size());
    return {};
  }
  SYMM_ASSIGN(std::string all, client_->allgather(what, std::string(in), operation_limit()));
  if (all.size() != in.size() * static_cast<size_t>(config_.n_pes)) {
    return SYMM_ERROR(kInternal, "allgather '{}': {} bytes came back, {} were expected", what,
                      all.size(), in.size() * static_cast<size_t>(config_.n_pes));
  }
  if (!all.empty()) std::memcpy(out, all.data(), all.size());
  return {};
}

Status ConfigStore::global_exit(int status) {
  SYMM_TRY(check_process());
  if (client_ != nullptr) return client_->global_exit(status);
  on_event(store::Client::Event::kGlobalExit, status,
           fmt::format("PE 0 called global_exit({})", status));
  return {};
}

std::string ConfigStore::info() const {
  std::string scheme = target_.address.family == net::Family::kV6 ? "tcp6" : "tcp";
  std::string where = fmt::format("control plane {}://{}", scheme, target_.address.to_string());
  if (client_ == nullptr) return where + ", single PE, nothing connected";
  if (security_.source.empty()) return where + ", TLS off";
  std::string text = fmt::format("{}, {} ({})", where, client_->describe(), security_.source);
  if (security_.certificate_expires != 0) {
    text += ", expires " + net::time_text(security_.certificate_expires);
  }
  return text;
}

void ConfigStore::tls_status(symm_tls_status& out) const {
  out = {};
  out.enabled = security_.server != nullptr ? 1 : 0;
  if (out.enabled == 0) return;
  // A job of one PE connects to nobody: keys are ready, no version or cipher is in force.
  net::TlsState state;
  if (client_ != nullptr) state = client_->tls_state();
  const std::string kind = net::key_kind_name(security_.server->kind());
  copy_text(state.version, out.version, sizeof(out.version));
  copy_text(state.cipher, out.cipher, sizeof(out.cipher));
  copy_text(kind, out.key_kind, sizeof(out.key_kind));
  copy_text(security_.source, out.source, sizeof(out.source));
  const std::string peer = state.peer.empty() && client_ != nullptr
                               ? fmt::format("PE 0 at {}", target_.address.to_string())
                               : state.peer;
  copy_text(peer, out.peer, sizeof(out.peer));
  out.certificate_expires = security_.certificate_expires;
}

Status ConfigStore::job_key(net::Key& out) const {
  out = key_;
  return {};
}

std::chrono::milliseconds ConfigStore::close_limit() const {
  std::chrono::milliseconds limit =
      std::min<std::chrono::milliseconds>(kCloseLimit, operation_limit());
  if (hurry_) return kHurryLimit;
  const double user_limit = config::seconds("SHMEM_WAIT_TIMEOUT");
  if (user_limit <= 0) return limit;
  return std::min(limit, std::chrono::milliseconds(static_cast<int64_t>(user_limit * 1000)));
}

void ConfigStore::close() {
  if (client_) client_->close();
  client_.reset();
  stop_server(close_limit());
  held_.fds.clear();
}

void ConfigStore::in_forked_child() {
  if (client_) client_->in_forked_child();
  if (member_fds_) member_fds_->close_all();
  if (listening_fds_) listening_fds_->close_all();
  for (const UniqueFd& fd : held_.fds) ::close(fd.get());
}

void ConfigStore::on_event(store::Client::Event event, int value, const std::string& text) const {
  if (config_.on_event == nullptr) return;
  int number = SYMM_EVENT_STORE_LOST;
  if (event == store::Client::Event::kPeerLost) number = SYMM_EVENT_PEER_LOST;
  if (event == store::Client::Event::kGlobalExit) number = SYMM_EVENT_GLOBAL_EXIT;
  config_.on_event(config_.user, number, value, text.c_str());
}

}  // namespace symm::bootstrap
