// The part of the rewriter that deals with pointers into the unified buffer: casts to `__ubuf__ T*`
// become symm::ub_cast, and arrays that SIMT functions declare there become storage shared by the
// lanes of a core.
#pragma once

#include <string_view>
#include <unordered_set>

#include "shmem-cc/edits.h"
#include "shmem-cc/token_text.h"

namespace symm::cc {

class UbRewriter {
 public:
  UbRewriter(const TokenText& tokens, Edits& edits);

  // Each returns the token to go on with, or 0 when token i is not for it.
  size_t named_cast(size_t i);  // reinterpret_cast<__ubuf__ T*>(e), static_cast likewise
  size_t c_cast(size_t i);      // (__ubuf__ T*)e
  size_t shared_array(size_t i, bool in_simt);  // __ubuf__ T a[n];

 private:
  void collect_aliases();
  bool is_ub_pointer(size_t first, size_t last, size_t& star) const;
  void erase_ub_pointer(size_t first, size_t last, size_t star);
  bool is_cast(size_t open, size_t close) const;
  void erase(size_t i);

  const TokenText& tokens_;
  Edits& edits_;
  std::unordered_set<std::string_view> aliases_;  // names that stand for `__ubuf__ T*`
  int shared_ = 0;
};

}  // namespace symm::cc
