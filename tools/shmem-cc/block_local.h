// The part of the rewriter that deals with [[block_local]] variables, of which every running core
// has its own copy: the variable becomes a function that returns the core's copy, and every later
// use of its name a call.
#pragma once

#include <string>
#include <string_view>
#include <unordered_map>

#include "shmem-cc/edits.h"
#include "shmem-cc/token_text.h"

namespace symm::cc {

class BlockLocals {
 public:
  BlockLocals(const TokenText& tokens, Edits& edits) : tokens_(tokens), edits_(edits) {}

  // Token i begins the attribute. Why the declaration cannot be rewritten, or empty.
  std::string declare(size_t i);
  // Rewrites token i if it names one of the variables. Why it cannot be, or empty.
  std::string use(size_t i);
  bool any() const { return !names_.empty(); }

 private:
  struct Declaration {
    size_t start = 0;
    size_t name = 0;
    size_t bracket = 0;  // of an initialiser in parentheses, or 0
    size_t end = 0;      // the semicolon
    bool is_extern = false;
    bool is_static = false;
    bool is_inline = false;
  };
  std::string parse(size_t start, Declaration& found) const;
  bool at_namespace_scope(size_t start) const;
  bool is_attribute(size_t i) const;
  void erase(size_t i);

  const TokenText& tokens_;
  Edits& edits_;
  std::unordered_map<std::string_view, size_t> names_;  // with the token that ends the declaration
};

}  // namespace symm::cc
