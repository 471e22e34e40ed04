// The front of a connection and the frames: preamble, hello, its answer, headers, notices.
#include "require.h"
#include "store/protocol.h"

namespace {

using namespace symm::store;

std::string_view text(std::span<const uint8_t> data) {
  return {reinterpret_cast<const char*>(data.data()), data.size()};
}

void hello(std::span<const uint8_t> data) {
  auto preamble = decode_preamble(data, kMaxHelloBody);
  if (!preamble.ok()) return;
  SYMM_REQUIRE(preamble.value().length <= kMaxHelloBody);
  auto parsed = decode_hello(preamble.value(), text(data.subspan(kPreambleBytes)));
  if (!parsed.ok() || parsed.value().version != kProtocolVersion) return;
  std::string again = encode(parsed.value());
  SYMM_REQUIRE(text(data.subspan(kPreambleBytes)) ==
               std::string_view(again).substr(kPreambleBytes));
}

void frame(std::span<const uint8_t> data) {
  auto header = decode_header(data, kMaxRequestBody);
  if (!header.ok()) return;
  SYMM_REQUIRE(header.value().length <= kMaxRequestBody);
  SYMM_REQUIRE(encode(header.value()) == text(data.first(kHeaderBytes)));
  std::string_view body = text(data.subspan(kHeaderBytes));
  auto request = decode_request(header.value().type, body);
  if (request.ok()) SYMM_REQUIRE(encode_body(request.value()) == body);
  auto notice = decode_notice(body);
  if (notice.ok()) SYMM_REQUIRE(encode_body(notice.value()) == body);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  std::span<const uint8_t> input(data, size);
  hello(input);
  frame(input);
  auto reply = decode_preamble(input, kMaxHelloReplyBody);
  if (reply.ok()) (void)decode_hello_reply(reply.value(), text(input.subspan(kPreambleBytes))).ok();
  classify(input);
  SYMM_REQUIRE(printable(input).size() == size);
  return 0;
}
