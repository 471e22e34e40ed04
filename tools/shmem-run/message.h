// What the launcher and its part on another host say to each other over the agent's pipes: a
// greeting line, then frames. Everything received is bounded and parsed through bytes::Reader.
// Threads: plain data. Ownership: values.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"

namespace symm::launcher {

// The first line of a part; what a login shell prints before it is passed over.
inline constexpr std::string_view kGreeting = "shmem-run part 1\n";
inline constexpr size_t kMaxBeforeGreeting = size_t{64} << 10;
inline constexpr size_t kMaxFrame = size_t{8} << 20;

enum class MessageKind : uint8_t {
  // To the part.
  kSetup = 1,   // encoded Setup
  kBegin = 2,   // the address of PE 0; the PEs start
  kInput = 3,   // for PE 0's standard input; empty: its end
  kSignal = 4,  // number
  // From the part.
  kAddress = 16,      // where PE 0 listens
  kOutput = 17,       // number: PE; standard output
  kErrorOutput = 18,  // number: PE; standard error
  kExit = 19,         // number: PE; text: wait status, as a decimal number
  kFailed = 20,       // text: why the PEs cannot be started
  kTaken = 21,        // number: bytes of input that PE 0's pipe has taken
  kBeat = 22,         // nothing to say
};

struct Message {
  MessageKind kind = MessageKind::kBeat;
  int32_t number = 0;
  std::string text;
};

std::string encode(MessageKind kind, int32_t number, std::string_view text);

// Takes messages off a stream of bytes.
class MessageReader {
 public:
  void append(std::string_view bytes) { pending_.append(bytes); }
  // The next whole message, none when it has not all arrived, kInvalidValue when it is no message.
  Result<std::optional<Message>> next();
  // The same for the greeting: true once it has been passed.
  Result<bool> pass_greeting();

 private:
  std::string pending_;
};

// What a part needs to start its PEs. The secret travels here and on no command line.
struct Setup {
  int32_t n_pes = 0;
  std::vector<int32_t> pes;
  std::vector<std::string> command;
  std::vector<std::string> environment;  // NAME=value
  std::string folder;                    // working folder
  std::string secret;
  std::vector<std::string> others;  // the other hosts; asked for the way to them
  std::string address;              // under which others reach this host; empty: find out
  bool bind_to_core = false;
};

std::string encode(const Setup& setup);
Result<Setup> decode_setup(std::string_view text);

}  // namespace symm::launcher
