#include "bootstrap/config_store.h"

#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <string_view>

#include "base/config.h"
#include "base/log.h"
#include "base/version.h"

namespace symm::bootstrap {
namespace {

constexpr double kBusyPatience_s = 2;
constexpr double kProbePatience_s = 1;
constexpr std::chrono::milliseconds kCloseLimit{30000};
constexpr std::chrono::milliseconds kFailedOpenLimit{2000};

bool wants_tls(const symm_tls_options& tls) {
  if (tls.enabled == 0) return false;
  return tls.chosen_by_user != 0 || config::flag("SHMEM_TLS");
}

net::PrivateKey private_key_of(const symm_tls_options& tls) {
  net::PrivateKey key;
  key.pem = tls.private_key != nullptr ? tls.private_key : "";
  key.password = tls.key_password != nullptr ? tls.key_password : "";
  key.decrypt = reinterpret_cast<net::PrivateKey::Decrypt>(tls.decrypt);
  return key;
}

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

}  // namespace

ConfigStore::ConfigStore(const symm_bootstrap_config& config) : config_(config), pid_(getpid()) {}

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

Result<ConfigStore::Security> ConfigStore::find_security(const symm_tls_options& tls,
                                                         std::string_view unique_id_secret) {
  Security out;
  if (!wants_tls(tls)) {
    SYMM_LOG(
        kWarn,
        "TLS of the control plane is switched off: anyone who reaches the port can read and join");
    out.secret = config::text("SHMEM_JOB_SECRET");
    if (out.secret.empty()) out.secret = unique_id_secret;
    return out;
  }
  if (tls.info != nullptr && *tls.info != '\0') {
    SYMM_ASSIGN(net::TlsInfo info, net::parse_tls_info(tls.info));
    net::PrivateKey key = private_key_of(tls);
    SYMM_ASSIGN(out.server, net::TlsContext::from_certificate(net::Side::kServer, info, key));
    SYMM_ASSIGN(out.client, net::TlsContext::from_certificate(net::Side::kClient, info, key));
    out.source = "certificate " + info.certificate;
    return out;
  }
  SYMM_ASSIGN(net::Secret secret, net::find_secret(unique_id_secret));
  SYMM_ASSIGN(out.server, net::TlsContext::from_secret(net::Side::kServer, secret));
  SYMM_ASSIGN(out.client, net::TlsContext::from_secret(net::Side::kClient, secret));
  out.secret = std::move(secret.bytes);
  out.source = std::move(secret.source);
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

Status ConfigStore::start_server(Deadline deadline) {
  auto listeners = find_listeners(deadline);
  if (!listeners.ok()) {
    bool ours = config_.listen_fd >= 0 || config_.n_pes == 1 ||
                listeners.status().code() != Code::kInternal;
    return ours ? std::move(listeners.status()) : busy_port(std::move(listeners.status()));
  }
  if (config_.n_pes == 1) {
    held_ = std::move(listeners.value());
    return {};
  }
  store::Server::Options options;
  options.session.n_pes = config_.n_pes;
  options.session.report_after =
      std::chrono::milliseconds(static_cast<int64_t>(config::seconds("SHMEM_WAIT_REPORT") * 1000));
  options.session.magic = target_.hello.magic;
  options.session.cookie = target_.hello.cookie;
  options.session.instance = target_.hello.instance;
  SYMM_TRY(net::random_bytes(options.session.nonce.data(), options.session.nonce.size()));
  options.listeners = std::move(listeners.value());
  options.tls = security_.server;
  SYMM_ASSIGN(server_, store::Server::start(std::move(options)));
  return {};
}

Status ConfigStore::connect(Deadline deadline) {
  store::ConnectOptions options = connect_options(config_.connect_timeout_s);
  options.deadline = deadline;
  auto handler = [this](store::Client::Event event, int value, const std::string& text) {
    on_event(event, value, text);
  };
  SYMM_ASSIGN(client_, store::Client::connect(options, handler));
  SYMM_TRY(client_->barrier("open", deadline.left()));
  std::string_view nonce(reinterpret_cast<const char*>(client_->nonce().data()),
                         client_->nonce().size());
  SYMM_ASSIGN(key_, net::derive_key(security_.secret, nonce, "anyshmem job key v1"));
  return {};
}

Status ConfigStore::start() {
  auto deadline = Deadline::after_seconds(config_.connect_timeout_s);
  SYMM_ASSIGN(target_, find_target(config_));
  SYMM_TRY(std::move(net::resolve(target_.address).status()));
  std::string_view uid_secret =
      target_.unique_id ? std::string_view(target_.unique_id->secret) : std::string_view();
  SYMM_ASSIGN(security_, find_security(config_.tls, uid_secret));
  if (config_.pe == 0) SYMM_TRY(start_server(deadline));
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
    return SYMM_ERROR(kInvalidParam, "PE {} is out of range: {} PEs are 0 to {}", config.pe,
                      config.n_pes, config.n_pes - 1);
  }
  std::unique_ptr<ConfigStore> out(new ConfigStore(config));
  Status status = out->start();
  if (status.ok()) return out;
  if (out->client_) out->client_->close();
  out->client_.reset();
  if (out->server_) out->server_->stop(kFailedOpenLimit);
  out->server_.reset();
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
  return fmt::format("{}, {} ({})", where, client_->describe(), security_.source);
}

Status ConfigStore::job_key(net::Key& out) const {
  out = key_;
  return {};
}

std::chrono::milliseconds ConfigStore::close_limit() const {
  std::chrono::milliseconds limit =
      std::min<std::chrono::milliseconds>(kCloseLimit, operation_limit());
  const double user_limit = config::seconds("SHMEM_WAIT_TIMEOUT");
  if (user_limit <= 0) return limit;
  return std::min(limit, std::chrono::milliseconds(static_cast<int64_t>(user_limit * 1000)));
}

void ConfigStore::close() {
  if (client_) client_->close();
  client_.reset();
  if (server_) server_->stop(close_limit());
  server_.reset();
  held_.fds.clear();
}

void ConfigStore::on_event(store::Client::Event event, int value, const std::string& text) const {
  if (config_.on_event == nullptr) return;
  int number = SYMM_EVENT_STORE_LOST;
  if (event == store::Client::Event::kPeerLost) number = SYMM_EVENT_PEER_LOST;
  if (event == store::Client::Event::kGlobalExit) number = SYMM_EVENT_GLOBAL_EXIT;
  config_.on_event(config_.user, number, value, text.c_str());
}

}  // namespace symm::bootstrap
