// The bytes between a PE and the store: a hello with its answer, then frames both ways. Pure
// encoding and decoding; everything from a peer goes through bytes::Reader and has limits that hold
// before anything is allocated. All numbers little-endian. Threads: any.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "base/status.h"
#include "base/unique_fd.h"
#include "store/rounds.h"

namespace symm::store {

inline constexpr std::array<uint8_t, 4> kTag = {'S', 'Y', 'M', 'M'};
inline constexpr uint16_t kProtocolVersion = 2;
inline constexpr uint16_t kDefaultMagic = 0x0ACC;
inline constexpr uint8_t kTlsHandshakeByte = 0x16;  // first byte of a TLS ClientHello

inline constexpr size_t kPreambleBytes = 12;  // tag, magic, version or result, body length
inline constexpr size_t kMaxHelloBody = 512;  // before authentication
inline constexpr size_t kMaxHelloReplyBody = 4096;
inline constexpr size_t kHeaderBytes = 12;
inline constexpr size_t kMaxRequestBody = size_t{10} << 20;
inline constexpr size_t kMaxReplyBody = Rounds::kMaxResult + 4096;
inline constexpr size_t kMaxKey = 1024;
inline constexpr size_t kMaxName = 256;
inline constexpr size_t kMaxLibraryVersion = 64;
inline constexpr size_t kMaxTrouble = 320;

// Results on the wire: Code numbers, and these.
inline constexpr int16_t kResultAllEqual = 1;  // of an allgather: one record, which all brought
inline constexpr int16_t kResultNotFound = -404;
inline constexpr int16_t kResultWantsTls = -501;  // said below TLS
inline constexpr int16_t kResultRetry =
    -500;  // the store of this address is closing: connect again

struct Hello {
  uint16_t magic = kDefaultMagic;
  uint16_t version = kProtocolVersion;
  uint64_t cookie = 0;  // of the job; 0 in default mode
  uint64_t instance = 0;
  int32_t pe = 0;
  int32_t n_pes = 0;
  std::string library;  // version text, for messages
  // From here on since version 2; what stands above keeps its place in every version.
  uint64_t token = 0;   // random, of one call of init: tells a second attempt from a second process
  uint8_t tls = 0;      // 1: this PE was told to use TLS
  std::string trouble;  // not empty: this PE cannot take part, and this is why
};

struct HelloReply {
  uint16_t magic = kDefaultMagic;
  int16_t result = 0;
  std::string text;                 // of a refusal
  std::array<uint8_t, 32> nonce{};  // from which all PEs derive the job key
};

// Fixed front of both; tells how many bytes follow.
struct Preamble {
  uint16_t magic = 0;
  uint16_t version = 0;  // of a hello; the result of a reply as two's complement
  uint32_t length = 0;
};
// kInvalidValue when the tag is wrong or the length is over the limit.
Result<Preamble> decode_preamble(std::span<const uint8_t> data, size_t max_body);

std::string encode(const Hello& hello);
std::string encode(const HelloReply& reply);
Result<Hello> decode_hello(const Preamble& preamble, std::string_view body);
Result<HelloReply> decode_hello_reply(const Preamble& preamble, std::string_view body);

enum class Type : uint16_t {
  kSet = 0,
  kGet = 1,
  kAdd = 2,
  kRemove = 3,
  kAppend = 4,
  kCas = 5,
  kBarrier = 6,
  kAllgather = 7,
  kGlobalExit = 8,
  kGoodbye = 9,
  kReply = 32,     // answers the request with the same seq
  kPeerLost = 33,  // notices; seq is 0
  kExitNotice = 34,
  kStoreClosing = 35,
  kWaitReport = 36,  // the step that the receiver waits in has waited long
};

struct Header {
  Type type = Type::kReply;
  int16_t result = 0;
  uint32_t length = 0;
  uint32_t seq = 0;
};
// A frame ready to send: bodies are shared, since one may go to every PE. A server without TLS may
// put a large body that goes to many into a file as well, which the kernel sends without a copy.
struct Frame {
  Header header;
  std::shared_ptr<const std::string> body;
  std::shared_ptr<const UniqueFd> file = nullptr;
};

std::string encode(const Header& header);
// kInvalidValue when the type is unknown or the length is over the limit.
Result<Header> decode_header(std::span<const uint8_t> data, size_t max_body);

// One body for all requests; which fields count depends on the type.
struct Request {
  Type type = Type::kSet;
  std::string key;       // or the name of a step
  std::string value;     // or the contribution to an allgather
  std::string expected;  // of kCas; empty means absent
  int64_t number = 0;    // kGet, kBarrier, kAllgather: time limit in ms (kGet: 0 at once, < 0 for
                         // ever); kAdd: what to add; kGlobalExit: status
};
std::string encode_body(const Request& request);
Result<Request> decode_request(Type type, std::string_view body);

struct Notice {
  int32_t pe = 0;  // or the status of kExitNotice
  std::string text;
};
std::string encode_body(const Notice& notice);
Result<Notice> decode_notice(std::string_view body);

// What the first bytes of a connection are.
enum class FirstBytes : uint8_t { kHello, kTls, kJunk };
FirstBytes classify(std::span<const uint8_t> data);
// Junk as text for a log: printable characters, others as dots.
std::string printable(std::span<const uint8_t> data);

}  // namespace symm::store
