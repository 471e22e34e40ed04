// The replacements that turn one text into another, collected in any order.
#pragma once

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

namespace symm::cc {

class Edits {
 public:
  bool empty() const { return edits_.empty(); }

  // Replaces `length` bytes at `offset`. Edits must not overlap; insertions at one offset keep
  // their order and come before a replacement there.
  void replace(size_t offset, size_t length, std::string text) {
    edits_.push_back({offset, length, edits_.size(), std::move(text)});
  }
  void insert(size_t offset, std::string text) { replace(offset, 0, std::move(text)); }

  std::string apply(std::string_view text) {
    std::sort(edits_.begin(), edits_.end(), [](const Edit& a, const Edit& b) {
      if (a.offset != b.offset) return a.offset < b.offset;
      if ((a.length == 0) != (b.length == 0)) return a.length == 0;
      return a.order < b.order;
    });
    std::string result;
    result.reserve(text.size() + text.size() / 16);
    size_t done = 0;
    for (const Edit& edit : edits_) {
      result.append(text.substr(done, edit.offset - done));
      result.append(edit.text);
      done = edit.offset + edit.length;
    }
    result.append(text.substr(done));
    return result;
  }

 private:
  struct Edit {
    size_t offset;
    size_t length;
    size_t order;
    std::string text;
  };
  std::vector<Edit> edits_;
};

}  // namespace symm::cc
