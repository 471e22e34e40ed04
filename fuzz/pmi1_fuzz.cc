// Everything that a PMI-1 server may say: the answers to hello, put, fence and get.
#include <sys/socket.h>
#include <unistd.h>

#include "base/unique_fd.h"
#include "bootstrap/pmix/pmi1_client.h"
#include "require.h"

namespace {

using namespace symm;
using namespace symm::bootstrap;

void converse(std::string_view answers) {
  int ends[2];
  SYMM_REQUIRE(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) == 0);
  UniqueFd client_end(ends[0]);
  UniqueFd server_end(ends[1]);
  // All at once and then the end: the client never waits.
  ssize_t sent =
      ::send(server_end.get(), answers.data(), answers.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
  SYMM_REQUIRE(answers.empty() || sent == static_cast<ssize_t>(answers.size()));
  ::shutdown(server_end.get(), SHUT_WR);
  Deadline deadline = Deadline::after_seconds(10);
  auto client = Pmi1Client::open(client_end.get(), 1, 3, deadline);
  if (!client.ok()) return;
  SYMM_REQUIRE(client.value()->value_limit() >= 63 && client.value()->value_limit() <= (32 << 10));
  if (!client.value()
           ->put("key", std::string("\0\xFF"
                                    "bytes",
                                    7))
           .ok())
    return;
  if (!client.value()->fence(deadline).ok()) return;
  for (int pe = 0; pe < 3; ++pe) {
    auto value = client.value()->get(pe, "key", deadline);
    if (value.ok()) SYMM_REQUIRE(value.value().size() * 2 <= answers.size());
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  std::string_view text(reinterpret_cast<const char*>(data), std::min<size_t>(size, 64 << 10));
  auto words = parse_pmi1_line(std::string(text));
  for (const auto& [name, value] : words) {
    SYMM_REQUIRE(name.find(' ') == std::string::npos);
    SYMM_REQUIRE(name.size() + value.size() < text.size());
  }
  converse(text);
  return 0;
}
