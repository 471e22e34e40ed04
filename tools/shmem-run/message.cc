#include "shmem-run/message.h"

#include "base/bytes.h"

namespace symm::launcher {
namespace {

constexpr size_t kFront = sizeof(uint32_t) + sizeof(uint8_t) + sizeof(int32_t);
constexpr uint32_t kMaxItems = 65536;

bool known(uint8_t kind) {
  return (kind >= static_cast<uint8_t>(MessageKind::kSetup) &&
          kind <= static_cast<uint8_t>(MessageKind::kSignal)) ||
         (kind >= static_cast<uint8_t>(MessageKind::kAddress) &&
          kind <= static_cast<uint8_t>(MessageKind::kBeat));
}

void write_list(bytes::Writer& out, const std::vector<std::string>& list) {
  out.write(static_cast<uint32_t>(list.size()));
  for (const std::string& one : list) out.write_string(one);
}

Status read_count(bytes::Reader& in, uint32_t& count, const char* what) {
  SYMM_TRY(in.read(count, what));
  if (count <= kMaxItems) return {};
  return SYMM_ERROR(kInvalidValue, "{}: {} items are too many", what, count);
}

Status read_list(bytes::Reader& in, std::vector<std::string>& list, const char* what) {
  uint32_t count = 0;
  SYMM_TRY(read_count(in, count, what));
  for (uint32_t i = 0; i < count; ++i) {
    std::string one;
    SYMM_TRY(in.read_string(one, kMaxFrame, what));
    list.push_back(std::move(one));
  }
  return {};
}

}  // namespace

std::string encode(MessageKind kind, int32_t number, std::string_view text) {
  bytes::Writer out;
  out.write(static_cast<uint32_t>(text.size())).write(static_cast<uint8_t>(kind)).write(number);
  out.write_bytes(text);
  return out.take();
}

Result<std::optional<Message>> MessageReader::next() {
  if (pending_.size() < kFront) return std::optional<Message>();
  bytes::Reader in(pending_);
  uint32_t length = 0;
  uint8_t kind = 0;
  Message out;
  SYMM_TRY(in.read(length, "length"));
  SYMM_TRY(in.read(kind, "kind"));
  SYMM_TRY(in.read(out.number, "number"));
  if (!known(kind) || length > kMaxFrame) {
    return SYMM_ERROR(kInvalidValue, "message of kind {} and {} bytes", kind, length);
  }
  if (in.left() < length) return std::optional<Message>();
  SYMM_TRY(in.read_bytes(out.text, length, "text"));
  out.kind = static_cast<MessageKind>(kind);
  pending_.erase(0, kFront + length);
  return std::optional<Message>(std::move(out));
}

Result<bool> MessageReader::pass_greeting() {
  const size_t at = pending_.find(kGreeting);
  if (at != std::string::npos) {
    pending_.erase(0, at + kGreeting.size());
    return true;
  }
  if (pending_.size() > kMaxBeforeGreeting) {
    return SYMM_ERROR(kInvalidValue, "{} bytes that are not from shmem-run", pending_.size());
  }
  return false;
}

std::string encode(const Setup& setup) {
  bytes::Writer out;
  out.write(setup.n_pes).write(static_cast<uint32_t>(setup.pes.size()));
  for (int32_t pe : setup.pes) out.write(pe);
  write_list(out, setup.command);
  write_list(out, setup.environment);
  out.write_string(setup.folder).write_string(setup.secret);
  write_list(out, setup.others);
  out.write_string(setup.address).write(static_cast<uint8_t>(setup.bind_to_core ? 1 : 0));
  return out.take();
}

Result<Setup> decode_setup(std::string_view text) {
  Setup out;
  bytes::Reader in(text);
  uint32_t count = 0;
  uint8_t bind = 0;
  SYMM_TRY(in.read(out.n_pes, "number of PEs"));
  SYMM_TRY(read_count(in, count, "PEs"));
  for (uint32_t i = 0; i < count; ++i) {
    int32_t pe = 0;
    SYMM_TRY(in.read(pe, "PE"));
    if (pe < 0 || pe >= out.n_pes) return SYMM_ERROR(kInvalidValue, "PE {} is out of range", pe);
    out.pes.push_back(pe);
  }
  SYMM_TRY(read_list(in, out.command, "command"));
  SYMM_TRY(read_list(in, out.environment, "environment"));
  SYMM_TRY(in.read_string(out.folder, kMaxFrame, "folder"));
  SYMM_TRY(in.read_string(out.secret, kMaxFrame, "secret"));
  SYMM_TRY(read_list(in, out.others, "hosts"));
  SYMM_TRY(in.read_string(out.address, kMaxFrame, "address"));
  SYMM_TRY(in.read(bind, "binding"));
  SYMM_TRY(in.expect_end("setup"));
  if (out.command.empty() || out.pes.empty()) {
    return SYMM_ERROR(kInvalidValue, "a setup without a program or without PEs");
  }
  out.bind_to_core = bind != 0;
  return out;
}

}  // namespace symm::launcher
