// A text with its tokens, and the questions the rewriter asks about them: which word, which bracket
// belongs to which. Pure; the text must outlive it.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "shmem-cc/lexer.h"

namespace symm::cc {

// Words with a meaning to the rewriter.
enum class Word : uint8_t {
  kNone,
  kErase,      // means nothing on a CPU
  kEraseCall,  // the same, with arguments in parentheses
  kGlobal,
  kUbuf,
  kCast,
  kUsing,
  kTypedef,
  kSimt,  // __simt_vf__, __simt_callee__
};

class TokenText {
 public:
  explicit TokenText(std::string_view text) : text_(text), tokens_(tokenize(text)) {}

  size_t count() const { return tokens_.size(); }
  std::string_view text() const { return text_; }
  const Token& token(size_t i) const { return tokens_[i]; }
  std::string_view str(size_t i) const {
    return text_.substr(tokens_[i].offset, tokens_[i].length);
  }
  size_t offset(size_t i) const { return tokens_[i].offset; }
  size_t length(size_t i) const { return tokens_[i].length; }
  size_t end_of(size_t i) const { return size_t{tokens_[i].offset} + tokens_[i].length; }
  char first_char(size_t i) const { return text_[tokens_[i].offset]; }

  bool is(size_t i, std::string_view what) const { return i < count() && str(i) == what; }
  bool is_punctuation(size_t i) const {
    return i < count() && tokens_[i].kind == TokenKind::kPunctuation;
  }
  bool is_identifier(size_t i) const {
    return i < count() && tokens_[i].kind == TokenKind::kIdentifier;
  }
  // An identifier that can be the name of something: not `return` and the like.
  bool is_name(size_t i) const;
  bool adjacent(size_t i) const { return end_of(i) == tokens_[i + 1].offset; }
  Word word(size_t i) const;

  // The token that closes the bracket at `open` or opens the one at `close`; count() if there is
  // none.
  size_t match_forward(size_t open) const;
  size_t match_backward(size_t close) const;
  // The same for a template argument list.
  size_t match_angle(size_t open) const;
  size_t match_angle_backward(size_t close) const;
  // The first token of the declaration or statement that holds token i.
  size_t statement_start(size_t i) const;
  // Tokens [first, last) on one line, without the words that mean nothing.
  std::string flat(size_t first, size_t last) const;

 private:
  std::string_view text_;
  std::vector<Token> tokens_;
};

}  // namespace symm::cc
