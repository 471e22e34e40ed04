#include "store/protocol.h"

#include <algorithm>

#include "base/bytes.h"

namespace symm::store {
namespace {

constexpr size_t kMaxNoticeText = 4096;

std::string with_preamble(uint16_t magic, uint16_t version, const std::string& body) {
  bytes::Writer out;
  for (uint8_t byte : kTag) out.write(byte);
  out.write(magic).write(version).write(static_cast<uint32_t>(body.size())).write_bytes(body);
  return out.take();
}

bool known(uint16_t type) {
  return type <= static_cast<uint16_t>(Type::kGoodbye) ||
         (type >= static_cast<uint16_t>(Type::kReply) &&
          type <= static_cast<uint16_t>(Type::kWaitReport));
}

}  // namespace

Result<Preamble> decode_preamble(std::span<const uint8_t> data, size_t max_body) {
  bytes::Reader in(data);
  for (uint8_t expected : kTag) {
    uint8_t byte = 0;
    SYMM_TRY(in.read(byte, "tag"));
    if (byte != expected) return SYMM_ERROR(kInvalidValue, "not a hello of this protocol");
  }
  Preamble out;
  SYMM_TRY(in.read(out.magic, "magic"));
  SYMM_TRY(in.read(out.version, "version"));
  SYMM_TRY(in.read(out.length, "length"));
  if (out.length > max_body) {
    return SYMM_ERROR(kInvalidValue, "hello of {} bytes is over the limit {}", out.length,
                      max_body);
  }
  return out;
}

std::string encode(const Hello& hello) {
  bytes::Writer body;
  body.write(hello.cookie).write(hello.instance).write(hello.pe).write(hello.n_pes);
  body.write_string(std::string_view(hello.library).substr(0, kMaxLibraryVersion));
  body.write(hello.token).write(hello.tls);
  body.write_string(std::string_view(hello.trouble).substr(0, kMaxTrouble));
  return with_preamble(hello.magic, hello.version, body.data());
}

std::string encode(const HelloReply& reply) {
  bytes::Writer body;
  body.write_string(std::string_view(reply.text).substr(0, kMaxHelloReplyBody / 2));
  for (uint8_t byte : reply.nonce) body.write(byte);
  return with_preamble(reply.magic, static_cast<uint16_t>(reply.result), body.data());
}

namespace {

Status decode_hello_front(bytes::Reader& in, Hello& out) {
  SYMM_TRY(in.read(out.cookie, "cookie"));
  SYMM_TRY(in.read(out.instance, "instance"));
  SYMM_TRY(in.read(out.pe, "PE number"));
  SYMM_TRY(in.read(out.n_pes, "number of PEs"));
  return in.read_string(out.library, kMaxLibraryVersion, "library version");
}

}  // namespace

Result<Hello> decode_hello(const Preamble& preamble, std::string_view body) {
  Hello out;
  out.magic = preamble.magic;
  out.version = preamble.version;
  bytes::Reader in(body);
  // Another version may have another body: what can be read goes into the message, no more.
  Status front = decode_hello_front(in, out);
  if (out.version != kProtocolVersion) {
    if (!front.ok()) out.pe = -1;
    return out;
  }
  SYMM_TRY(std::move(front));
  SYMM_TRY(in.read(out.token, "token"));
  SYMM_TRY(in.read(out.tls, "TLS"));
  SYMM_TRY(in.read_string(out.trouble, kMaxTrouble, "trouble"));
  SYMM_TRY(in.expect_end("hello"));
  return out;
}

Result<HelloReply> decode_hello_reply(const Preamble& preamble, std::string_view body) {
  HelloReply out;
  out.magic = preamble.magic;
  out.result = static_cast<int16_t>(preamble.version);
  bytes::Reader in(body);
  SYMM_TRY(in.read_string(out.text, kMaxHelloReplyBody, "text"));
  for (uint8_t& byte : out.nonce) SYMM_TRY(in.read(byte, "nonce"));
  SYMM_TRY(in.expect_end("answer to the hello"));
  return out;
}

std::string encode(const Header& header) {
  bytes::Writer out;
  out.write(static_cast<uint16_t>(header.type)).write(header.result);
  out.write(header.length).write(header.seq);
  return out.take();
}

Result<Header> decode_header(std::span<const uint8_t> data, size_t max_body) {
  bytes::Reader in(data);
  uint16_t type = 0;
  Header out;
  SYMM_TRY(in.read(type, "type"));
  SYMM_TRY(in.read(out.result, "result"));
  SYMM_TRY(in.read(out.length, "length"));
  SYMM_TRY(in.read(out.seq, "sequence number"));
  if (!known(type)) return SYMM_ERROR(kInvalidValue, "frame of unknown type {}", type);
  if (out.length > max_body) {
    return SYMM_ERROR(kInvalidValue, "frame of {} bytes is over the limit {}", out.length,
                      max_body);
  }
  out.type = static_cast<Type>(type);
  return out;
}

std::string encode_body(const Request& request) {
  bytes::Writer out;
  out.write_string(request.key).write_string(request.value);
  out.write_string(request.expected).write(request.number);
  return out.take();
}

Result<Request> decode_request(Type type, std::string_view body) {
  if (static_cast<uint16_t>(type) > static_cast<uint16_t>(Type::kGoodbye)) {
    return SYMM_ERROR(kInvalidValue, "frame type {} is not a request", static_cast<uint16_t>(type));
  }
  Request out;
  out.type = type;
  bytes::Reader in(body);
  bool step = type == Type::kBarrier || type == Type::kAllgather;
  SYMM_TRY(in.read_string(out.key, step ? kMaxName : kMaxKey, "key"));
  SYMM_TRY(in.read_string(out.value, kMaxRequestBody, "value"));
  SYMM_TRY(in.read_string(out.expected, kMaxRequestBody, "expected value"));
  SYMM_TRY(in.read(out.number, "number"));
  SYMM_TRY(in.expect_end("request"));
  if (out.key.empty() && !step && type != Type::kGlobalExit && type != Type::kGoodbye) {
    return SYMM_ERROR(kInvalidValue, "the key is empty");
  }
  return out;
}

std::string encode_body(const Notice& notice) {
  bytes::Writer out;
  out.write(notice.pe).write_string(std::string_view(notice.text).substr(0, kMaxNoticeText));
  return out.take();
}

Result<Notice> decode_notice(std::string_view body) {
  Notice out;
  bytes::Reader in(body);
  SYMM_TRY(in.read(out.pe, "PE number"));
  SYMM_TRY(in.read_string(out.text, kMaxNoticeText, "text"));
  SYMM_TRY(in.expect_end("notice"));
  return out;
}

FirstBytes classify(std::span<const uint8_t> data) {
  if (data.empty()) return FirstBytes::kJunk;
  if (data[0] == kTlsHandshakeByte) return FirstBytes::kTls;
  size_t count = std::min(data.size(), kTag.size());
  return std::equal(kTag.begin(), kTag.begin() + count, data.begin()) ? FirstBytes::kHello
                                                                      : FirstBytes::kJunk;
}

std::string printable(std::span<const uint8_t> data) {
  std::string out;
  for (uint8_t byte : data) out += byte >= 0x20 && byte < 0x7F ? static_cast<char>(byte) : '.';
  return out;
}

}  // namespace symm::store
