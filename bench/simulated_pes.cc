#include "simulated_pes.h"

#include <netinet/tcp.h>
#include <openssl/err.h>
#include <sys/epoll.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace symm::bench {
namespace {

constexpr size_t kScratch = size_t{256} << 10;
constexpr size_t kReadAhead = size_t{64} << 10;
constexpr int kEvents = 256;

[[noreturn]] void fail(const std::string& why) {
  std::fprintf(stderr, "bench_bootstrap: %s\n", why.c_str());
  std::_Exit(1);
}

void require(const Status& status) {
  if (!status.ok()) fail(std::string(status.text()));
}

// The word at the front of each record of PE `pe`; the rest is filled with what follows from it.
uint64_t mark_of(size_t pe) { return (pe + 1) * 0x9e3779b97f4a7c15U; }

std::string record_of(int pe, size_t bytes) {
  std::string text(bytes, '\0');
  uint64_t word = mark_of(static_cast<size_t>(pe));
  for (size_t at = 0; at < bytes; at += sizeof(word)) {
    std::memcpy(text.data() + at, &word, std::min(sizeof(word), bytes - at));
    word = word * 6364136223846793005U + 1442695040888963407U;
  }
  return text;
}

}  // namespace

SimulatedPes::SimulatedPes(int n_pes, int first, int count, const net::SocketAddress& server,
                           std::shared_ptr<net::TlsContext> tls)
    : n_pes_(n_pes),
      first_(first),
      server_(server),
      tls_(std::move(tls)),
      epoll_(::epoll_create1(EPOLL_CLOEXEC)),
      pes_(static_cast<size_t>(count)),
      scratch_(kScratch) {}

SimulatedPes::~SimulatedPes() {
  for (Pe& one : pes_) SSL_free(one.ssl);
}

void SimulatedPes::connect_all(Deadline limit) {
  waiting_ = static_cast<int>(pes_.size());
  for (int index = 0; index < waiting_; ++index) start(index);
  run(limit, "connecting");
}

void SimulatedPes::start(int index) {
  Pe& one = pes_[static_cast<size_t>(index)];
  one.fd.reset(::socket(server_.family(), SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (!one.fd.valid()) fail(std::string("socket: ") + std::strerror(errno));
  const int on = 1;
  ::setsockopt(one.fd.get(), IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
  if (::connect(one.fd.get(), server_.get(), server_.size()) != 0 && errno != EINPROGRESS) {
    fail(std::string("connect: ") + std::strerror(errno));
  }
  epoll_event event{EPOLLIN | EPOLLOUT, {.u32 = static_cast<uint32_t>(index)}};
  if (::epoll_ctl(epoll_.get(), EPOLL_CTL_ADD, one.fd.get(), &event) != 0) fail("epoll_ctl");
  one.wants_write = true;
  store::Hello hello;
  hello.pe = first_ + index;
  hello.n_pes = n_pes_;
  hello.library = "bench";
  one.out = encode(hello);
  if (tls_ == nullptr) return;
  one.ssl = SSL_new(tls_->native());
  tls_->prepare(one.ssl, nullptr);
  SSL_set_fd(one.ssl, one.fd.get());
  // One system call takes what has arrived, not one for each record's front and one for its rest.
  SSL_set_read_ahead(one.ssl, 1);
  SSL_set_default_read_buffer_len(one.ssl, kReadAhead);
  SSL_set_connect_state(one.ssl);
}

void SimulatedPes::barrier(Deadline limit) {
  request(store::Type::kBarrier, "bench barrier", 0, false, limit);
}

void SimulatedPes::allgather(size_t bytes, bool equal, Deadline limit) {
  request(store::Type::kAllgather, "bench allgather", bytes, equal, limit);
}

void SimulatedPes::goodbye(Deadline limit) { request(store::Type::kGoodbye, "", 0, false, limit); }

void SimulatedPes::request(store::Type type, const std::string& what, size_t bytes, bool equal,
                           Deadline limit) {
  record_bytes_ = bytes;
  equal_ = equal;
  waiting_ = static_cast<int>(pes_.size());
  ++seq_;
  for (size_t index = 0; index < pes_.size(); ++index) {
    const int pe = equal ? 0 : first_ + static_cast<int>(index);
    store::Request body{type, what, record_of(pe, bytes), "", limit.left().count()};
    const std::string text = encode_body(body);
    Pe& one = pes_[index];
    one.out = encode(store::Header{type, 0, static_cast<uint32_t>(text.size()), seq_}) + text;
    one.step = Step::kHeader;
    advance(static_cast<int>(index));
  }
  run(limit, type == store::Type::kGoodbye ? "goodbye" : what.c_str());
}

void SimulatedPes::run(Deadline limit, const char* what) {
  epoll_event events[kEvents];
  while (waiting_ > 0) {
    const int got =
        ::epoll_wait(epoll_.get(), events, kEvents, static_cast<int>(limit.left().count()));
    if (got < 0 && errno != EINTR) fail("epoll_wait");
    if (limit.expired()) fail(fmt::format("{}: {} PEs are not through in time", what, waiting_));
    for (int i = 0; i < got; ++i) advance(static_cast<int>(events[i].data.u32));
  }
}

void SimulatedPes::watch(int index, bool write) {
  Pe& one = pes_[static_cast<size_t>(index)];
  if (one.wants_write == write) return;
  one.wants_write = write;
  epoll_event event{EPOLLIN | (write ? uint32_t{EPOLLOUT} : 0U),
                    {.u32 = static_cast<uint32_t>(index)}};
  if (::epoll_ctl(epoll_.get(), EPOLL_CTL_MOD, one.fd.get(), &event) != 0) fail("epoll_ctl");
}

// Goes as far as the socket allows.
void SimulatedPes::advance(int index) {
  Pe& one = pes_[static_cast<size_t>(index)];
  if (one.step == Step::kConnect) {
    int error = 0;
    socklen_t size = sizeof(error);
    ::getsockopt(one.fd.get(), SOL_SOCKET, SO_ERROR, &error, &size);
    if (error != 0) fail(fmt::format("PE {} connects: {}", first_ + index, std::strerror(error)));
    one.step = one.ssl != nullptr ? Step::kHandshake : Step::kPreamble;
  }
  if (one.step == Step::kHandshake) {
    if (!shake_hands(one)) return watch(index, SSL_want_write(one.ssl) != 0);
    one.step = Step::kPreamble;
  }
  if (!flush(one)) return watch(index, true);
  watch(index, false);
  while (true) {
    switch (one.step) {
      case Step::kPreamble:
        if (!fill(one, store::kPreambleBytes)) return;
        one.step = Step::kHelloBody;
        break;
      case Step::kHelloBody:
        on_hello(one);
        if (one.step == Step::kHelloBody) return;
        break;
      case Step::kHeader:
        if (!fill(one, store::kHeaderBytes)) return;
        on_header(one);
        break;
      case Step::kBody:
        if (!consume_body(one)) return;
        break;
      default:
        return;
    }
  }
}

bool SimulatedPes::shake_hands(Pe& one) {
  ERR_clear_error();
  const int result = SSL_do_handshake(one.ssl);
  if (result == 1) {
    require(tls_->verify(one.ssl));
    return true;
  }
  const int error = SSL_get_error(one.ssl, result);
  if (error == SSL_ERROR_WANT_READ || error == SSL_ERROR_WANT_WRITE) return false;
  fail("TLS: " + net::openssl_error());
}

bool SimulatedPes::flush(Pe& one) {
  while (!one.out.empty()) {
    ssize_t sent;
    if (one.ssl != nullptr) {
      const int result = SSL_write(one.ssl, one.out.data(), static_cast<int>(one.out.size()));
      if (result <= 0 && SSL_get_error(one.ssl, result) == SSL_ERROR_WANT_WRITE) return false;
      sent = result;
    } else {
      sent = ::send(one.fd.get(), one.out.data(), one.out.size(), MSG_NOSIGNAL);
      if (sent < 0 && errno == EAGAIN) return false;
    }
    if (sent <= 0) fail("the store closed a connection");
    one.out.erase(0, static_cast<size_t>(sent));
  }
  return true;
}

// Bytes read, 0 when there are none now.
ssize_t SimulatedPes::read_some(Pe& one, char* data, size_t size) {
  if (one.ssl == nullptr) {
    const ssize_t got = ::recv(one.fd.get(), data, size, 0);
    if (got > 0) return got;
    if (got < 0 && errno == EAGAIN) return 0;
    fail("the store closed a connection");
  }
  const int got = SSL_read(one.ssl, data, static_cast<int>(size));
  if (got > 0) return got;
  if (SSL_get_error(one.ssl, got) == SSL_ERROR_WANT_READ) return 0;
  fail("the store closed a connection: " + net::openssl_error());
}

bool SimulatedPes::fill(Pe& one, size_t wanted) {
  char buffer[4096];
  while (one.in.size() < wanted) {
    const ssize_t got = read_some(one, buffer, std::min(sizeof(buffer), wanted - one.in.size()));
    if (got == 0) return false;
    one.in.append(buffer, static_cast<size_t>(got));
  }
  return true;
}

void SimulatedPes::on_hello(Pe& one) {
  const std::span<const uint8_t> front(reinterpret_cast<const uint8_t*>(one.in.data()),
                                       store::kPreambleBytes);
  auto preamble = store::decode_preamble(front, store::kMaxHelloReplyBody);
  require(preamble.status());
  if (!fill(one, store::kPreambleBytes + preamble.value().length)) return;
  auto reply = store::decode_hello_reply(preamble.value(),
                                         std::string_view(one.in).substr(store::kPreambleBytes));
  require(reply.status());
  if (reply.value().result != 0) fail("refused: " + reply.value().text);
  one.in.clear();
  one.step = Step::kIdle;
  --waiting_;
}

void SimulatedPes::on_header(Pe& one) {
  const std::span<const uint8_t> front(reinterpret_cast<const uint8_t*>(one.in.data()),
                                       store::kHeaderBytes);
  auto header = store::decode_header(front, store::kMaxReplyBody);
  require(header.status());
  one.in.clear();
  if (header.value().type != store::Type::kReply || header.value().seq != seq_) {
    fail("the store sent something that is not the answer");
  }
  // Small results are sent as they are, also when all records are equal.
  const bool one_for_all = header.value().result == store::kResultAllEqual;
  if (header.value().result != 0 && !(one_for_all && equal_)) {
    fail(fmt::format("the store answers {}", header.value().result));
  }
  const size_t records = one_for_all ? 1 : static_cast<size_t>(n_pes_);
  if (header.value().length != record_bytes_ * records) {
    fail(fmt::format("the result has {} bytes", header.value().length));
  }
  one.left = header.value().length;
  one.position = 0;
  one.step = Step::kBody;
}

bool SimulatedPes::consume_body(Pe& one) {
  while (one.left > 0) {
    const ssize_t got = read_some(one, scratch_.data(), std::min(scratch_.size(), one.left));
    if (got == 0) return false;
    check_piece(one, scratch_.data(), static_cast<size_t>(got));
    one.position += static_cast<size_t>(got);
    one.left -= static_cast<size_t>(got);
  }
  one.step = Step::kIdle;
  --waiting_;
  return true;
}

// Looks at the mark of every record that begins in this piece and is whole there.
void SimulatedPes::check_piece(const Pe& one, const char* data, size_t size) const {
  size_t pe = (one.position + record_bytes_ - 1) / record_bytes_;
  for (; pe * record_bytes_ + sizeof(uint64_t) <= one.position + size; ++pe) {
    uint64_t mark;
    std::memcpy(&mark, data + (pe * record_bytes_ - one.position), sizeof(mark));
    if (mark != mark_of(equal_ ? 0 : pe)) fail(fmt::format("the record of PE {} is wrong", pe));
  }
}

}  // namespace symm::bench
