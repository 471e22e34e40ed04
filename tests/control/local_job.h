// What the tests of the control plane share: a server on a free port of the loopback address,
// clients of it, and raw sockets that misbehave.
#pragma once

#include <gtest/gtest.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>

#include <atomic>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "base/unique_fd.h"
#include "net/listen.h"
#include "net/tls_context.h"
#include "store/client.h"
#include "store/server.h"

namespace symm::test {

inline constexpr std::chrono::milliseconds kLong{20000};

inline std::shared_ptr<net::TlsContext> key_context(net::Side side, const std::string& secret,
                                                    net::KeyKind kind = net::KeyKind::kJobSecret) {
  auto made = net::TlsContext::from_secret(side, {kind, secret, "a test"});
  EXPECT_TRUE(made.ok()) << made.status().to_string();
  return made.value();
}

struct LocalJob {
  std::unique_ptr<store::Server> server;
  net::Address address;
  std::shared_ptr<net::TlsContext> client_tls;
  int n_pes = 0;

  // An empty secret means plain TCP.
  explicit LocalJob(int n, const std::string& secret = "",
                    std::chrono::milliseconds handshake_limit = kLong,
                    uint16_t magic = store::kDefaultMagic)
      : n_pes(n) {
    address = net::parse_literal("127.0.0.1", 0).value();
    auto listeners = net::listen_on(address, Deadline::after_seconds(0));
    EXPECT_TRUE(listeners.ok()) << listeners.status().to_string();
    store::Server::Options options;
    options.session.n_pes = n;
    options.session.magic = magic;
    options.listeners = std::move(listeners.value());
    options.handshake_limit = handshake_limit;
    options.session.tls = !secret.empty();
    if (!secret.empty()) {
      options.tls = key_context(net::Side::kServer, secret);
      client_tls = key_context(net::Side::kClient, secret);
    }
    auto started = store::Server::start(std::move(options));
    EXPECT_TRUE(started.ok()) << started.status().to_string();
    server = std::move(started.value());
    address.port = server->port();
  }

  store::ConnectOptions options(int pe) const {
    store::ConnectOptions out;
    out.address = address;
    out.hello.pe = pe;
    out.hello.n_pes = n_pes;
    out.hello.library = "test";
    out.tls = client_tls;
    out.hello.tls = client_tls != nullptr ? 1 : 0;
    out.timeout_s = 20;
    static std::atomic<uint64_t> attempts{0};
    out.hello.token = ++attempts;
    return out;
  }

  std::unique_ptr<store::Client> client(int pe, store::Client::OnEvent on_event = nullptr) const {
    auto connected = store::Client::connect(options(pe), std::move(on_event));
    EXPECT_TRUE(connected.ok()) << connected.status().to_string();
    return std::move(connected.value());
  }

  UniqueFd raw() const {
    UniqueFd fd(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
    sockaddr_in to{};
    to.sin_family = AF_INET;
    to.sin_port = htons(address.port);
    to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    EXPECT_EQ(connect(fd.get(), reinterpret_cast<sockaddr*>(&to), sizeof to), 0);
    return fd;
  }
};

// True when the peer closes the connection within the limit; what it sent before is appended to
// `received`.
inline bool closed_by_peer(int fd, std::string* received = nullptr,
                           std::chrono::milliseconds limit = kLong) {
  auto deadline = Deadline::after(limit);
  while (true) {
    pollfd item{fd, POLLIN, 0};
    if (poll(&item, 1, static_cast<int>(deadline.left().count())) <= 0) return false;
    char buffer[4096];
    ssize_t count = recv(fd, buffer, sizeof buffer, 0);
    if (count <= 0) return true;
    if (received != nullptr) received->append(buffer, static_cast<size_t>(count));
  }
}

template <typename Body>
void run_pes(int n_pes, Body body) {
  std::vector<std::thread> threads;
  for (int pe = 0; pe < n_pes; ++pe) threads.emplace_back(body, pe);
  for (std::thread& thread : threads) thread.join();
}

}  // namespace symm::test
