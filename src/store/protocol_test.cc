#include "store/protocol.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace symm::store {
namespace {

std::span<const uint8_t> view(const std::string& text) {
  return {reinterpret_cast<const uint8_t*>(text.data()), text.size()};
}

Result<Hello> parse_hello(const std::string& bytes) {
  SYMM_ASSIGN(Preamble preamble, decode_preamble(view(bytes), kMaxHelloBody));
  return decode_hello(preamble, std::string_view(bytes).substr(kPreambleBytes));
}

Hello sample_hello() {
  Hello hello;
  hello.magic = 0x1234;
  hello.cookie = 0x0102030405060708u;
  hello.instance = 7;
  hello.pe = 3;
  hello.n_pes = 9;
  hello.library = "1.2.3";
  hello.token = 77;
  hello.tls = 1;
  hello.trouble = "no disk";
  return hello;
}

TEST(Protocol, HelloRoundTrip) {
  auto back = parse_hello(encode(sample_hello()));
  ASSERT_TRUE(back.ok()) << back.status().to_string();
  EXPECT_EQ(back.value().magic, 0x1234);
  EXPECT_EQ(back.value().version, kProtocolVersion);
  EXPECT_EQ(back.value().cookie, 0x0102030405060708u);
  EXPECT_EQ(back.value().instance, 7u);
  EXPECT_EQ(back.value().pe, 3);
  EXPECT_EQ(back.value().n_pes, 9);
  EXPECT_EQ(back.value().library, "1.2.3");
  EXPECT_EQ(back.value().token, 77u);
  EXPECT_EQ(back.value().tls, 1);
  EXPECT_EQ(back.value().trouble, "no disk");
}

TEST(Protocol, EveryCutOfAHelloIsRefused) {
  std::string good = encode(sample_hello());
  for (size_t size = 0; size < good.size(); ++size)
    EXPECT_FALSE(parse_hello(good.substr(0, size)).ok()) << size;
  EXPECT_FALSE(parse_hello(good + "x").ok());
}

TEST(Protocol, TheBytesAreFixed) {
  EXPECT_EQ(encode(sample_hello()).substr(0, 12),
            std::string("SYMM\x34\x12\x02\x00\x3D\x00\x00\x00", 12));
  EXPECT_EQ(encode(Header{Type::kAllgather, -3, 0x01020304, 5}),
            std::string("\x07\x00\xFD\xFF\x04\x03\x02\x01\x05\x00\x00\x00", 12));
}

TEST(Protocol, AnotherVersionNeedsNoKnownBody) {
  Preamble preamble{0x1234, 9, 3};
  auto hello = decode_hello(preamble, "xyz");
  ASSERT_TRUE(hello.ok());
  EXPECT_EQ(hello.value().version, 9);
  EXPECT_EQ(hello.value().pe, -1);
  // The front keeps its place in all versions.
  std::string bytes = encode(sample_hello());
  auto front = decode_hello(preamble, std::string_view(bytes).substr(kPreambleBytes));
  ASSERT_TRUE(front.ok());
  EXPECT_EQ(front.value().pe, 3);
  EXPECT_EQ(front.value().library, "1.2.3");
}

TEST(Protocol, HelloReplyRoundTrip) {
  HelloReply reply;
  reply.result = kResultRetry;
  reply.text = "later";
  reply.nonce.fill(0xAB);
  std::string bytes = encode(reply);
  auto preamble = decode_preamble(view(bytes), kMaxHelloReplyBody);
  ASSERT_TRUE(preamble.ok());
  auto back = decode_hello_reply(preamble.value(), std::string_view(bytes).substr(kPreambleBytes));
  ASSERT_TRUE(back.ok());
  EXPECT_EQ(back.value().result, kResultRetry);
  EXPECT_EQ(back.value().text, "later");
  EXPECT_EQ(back.value().nonce[31], 0xAB);
  reply.text = std::string(100000, 'x');
  bytes = encode(reply);
  EXPECT_LE(bytes.size(), kPreambleBytes + kMaxHelloReplyBody);
}

TEST(Protocol, HeaderLimits) {
  std::string good = encode(Header{Type::kSet, 0, 100, 5});
  EXPECT_TRUE(decode_header(view(good), 100).ok());
  EXPECT_FALSE(decode_header(view(good), 99).ok());
  EXPECT_FALSE(
      decode_header(view(encode(Header{Type::kSet, 0, 0xFFFFFFFF, 5})), kMaxRequestBody).ok());
  EXPECT_FALSE(decode_header(view(encode(Header{static_cast<Type>(10), 0, 0, 5})), 100).ok());
  EXPECT_FALSE(decode_header(view(encode(Header{static_cast<Type>(37), 0, 0, 5})), 100).ok());
  EXPECT_FALSE(decode_header(view(good.substr(0, 11)), 100).ok());
}

TEST(Protocol, RequestRoundTripAndLimits) {
  Request request{Type::kCas, "key", "new", "old", -5};
  auto back = decode_request(Type::kCas, encode_body(request));
  ASSERT_TRUE(back.ok());
  EXPECT_EQ(back.value().key, "key");
  EXPECT_EQ(back.value().value, "new");
  EXPECT_EQ(back.value().expected, "old");
  EXPECT_EQ(back.value().number, -5);
  request.key = std::string(kMaxKey + 1, 'k');
  EXPECT_FALSE(decode_request(Type::kCas, encode_body(request)).ok());
  request.key = "";
  EXPECT_FALSE(decode_request(Type::kSet, encode_body(request)).ok());
  EXPECT_TRUE(decode_request(Type::kBarrier, encode_body(request)).ok());
  EXPECT_FALSE(decode_request(Type::kReply, encode_body(request)).ok());
  std::string bytes = encode_body({Type::kSet, "k", "v", "", 0});
  for (size_t size = 0; size < bytes.size(); ++size) {
    EXPECT_FALSE(decode_request(Type::kSet, bytes.substr(0, size)).ok()) << size;
  }
  EXPECT_FALSE(decode_request(Type::kSet, bytes + "x").ok());
}

TEST(Protocol, NoticeRoundTrip) {
  auto back = decode_notice(encode_body(Notice{7, "PE 7 is lost"}));
  ASSERT_TRUE(back.ok());
  EXPECT_EQ(back.value().pe, 7);
  EXPECT_EQ(back.value().text, "PE 7 is lost");
  EXPECT_FALSE(decode_notice("").ok());
}

TEST(Protocol, FirstBytes) {
  EXPECT_EQ(classify(view("SYMM")), FirstBytes::kHello);
  EXPECT_EQ(classify(view("SY")), FirstBytes::kHello);
  EXPECT_EQ(classify(view("\x16\x03\x01")), FirstBytes::kTls);
  EXPECT_EQ(classify(view("GET ")), FirstBytes::kJunk);
  EXPECT_EQ(classify(view("SYMX")), FirstBytes::kJunk);
  EXPECT_EQ(classify(view("")), FirstBytes::kJunk);
  EXPECT_EQ(printable(view(std::string("a\0\n~", 4))), "a..~");
}

}  // namespace
}  // namespace symm::store
