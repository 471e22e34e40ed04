// bytes::Reader and bytes::Writer: bounded, little-endian encoding. Everything that a peer sent is
// parsed through Reader; a short or hostile input ends in a failed Status, never in a read past the
// end.
#pragma once

#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "base/status.h"

namespace symm::bytes {

class Reader {
 public:
  explicit Reader(std::span<const uint8_t> data) : data_(data) {}
  explicit Reader(std::string_view data)
      : data_(reinterpret_cast<const uint8_t*>(data.data()), data.size()) {}

  size_t left() const { return data_.size() - at_; }

  template <typename T>
  Status read(T& out, const char* what) {
    static_assert(std::is_integral_v<T>);
    if (left() < sizeof(T)) return too_short(what, sizeof(T));
    std::memcpy(&out, data_.data() + at_, sizeof(T));
    at_ += sizeof(T);
    return {};
  }
  // A string with a 64-bit length in front, refused when longer than limit.
  Status read_string(std::string& out, size_t limit, const char* what);
  Status read_bytes(std::string& out, size_t count, const char* what);
  // Fails when bytes remain: a frame with a tail is not what the sender meant.
  Status expect_end(const char* what) const;

 private:
  Status too_short(const char* what, size_t wanted) const;
  std::span<const uint8_t> data_;
  size_t at_ = 0;
};

class Writer {
 public:
  template <typename T>
  Writer& write(T value) {
    static_assert(std::is_integral_v<T>);
    size_t at = data_.size();
    data_.resize(at + sizeof(T));
    std::memcpy(data_.data() + at, &value, sizeof(T));
    return *this;
  }
  Writer& write_string(std::string_view text) {
    write<uint64_t>(text.size());
    data_.append(text);
    return *this;
  }
  Writer& write_bytes(std::string_view text) {
    data_.append(text);
    return *this;
  }
  const std::string& data() const { return data_; }
  std::string take() { return std::move(data_); }

 private:
  std::string data_;
};

}  // namespace symm::bytes
