#include "base/bytes.h"

namespace symm::bytes {

Status Reader::too_short(const char* what, size_t wanted) const {
  return SYMM_ERROR(kInvalidValue, "{}: {} bytes wanted, {} left", what, wanted, left());
}

Status Reader::read_bytes(std::string& out, size_t count, const char* what) {
  if (left() < count) return too_short(what, count);
  out.assign(reinterpret_cast<const char*>(data_.data()) + at_, count);
  at_ += count;
  return {};
}

Status Reader::read_string(std::string& out, size_t limit, const char* what) {
  uint64_t length = 0;
  SYMM_TRY(read(length, what));
  if (length > limit) {
    return SYMM_ERROR(kInvalidValue, "{}: length {} is over the limit {}", what, length, limit);
  }
  return read_bytes(out, length, what);
}

Status Reader::expect_end(const char* what) const {
  if (left() == 0) return {};
  return SYMM_ERROR(kInvalidValue, "{}: {} bytes too many", what, left());
}

}  // namespace symm::bytes
