#include "shmem-cc/lexer.h"

#include <cstdlib>
#include <cstring>

namespace symm::cc {
namespace {

bool is_word_start(unsigned char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || c == '$' || c >= 0x80;
}
bool is_digit(unsigned char c) { return c >= '0' && c <= '9'; }
bool is_word(unsigned char c) { return is_word_start(c) || is_digit(c); }

class Lexer {
 public:
  explicit Lexer(std::string_view text) : text_(text) {}

  std::vector<Token> run() {
    tokens_.reserve(text_.size() / 5);
    while (at_ < text_.size()) step();
    return std::move(tokens_);
  }

 private:
  char peek(size_t ahead) const { return at_ + ahead < text_.size() ? text_[at_ + ahead] : '\0'; }

  void step() {
    const unsigned char c = static_cast<unsigned char>(text_[at_]);
    if (c == '\n') {
      line_start_ = true;
      ++at_;
    } else if (c == ' ' || c == '\t' || c == '\r' || c == '\f' || c == '\v') {
      ++at_;
    } else if (c == '#' && line_start_) {
      skip_directive();
    } else if (c == '/' && peek(1) == '/') {
      skip_line();
    } else if (c == '/' && peek(1) == '*') {
      const size_t end = text_.find("*/", at_ + 2);
      at_ = end == std::string_view::npos ? text_.size() : end + 2;
    } else {
      line_start_ = false;
      token(c);
    }
  }

  void token(unsigned char c) {
    const size_t start = at_;
    if (is_word_start(c)) {
      word(start);
    } else if (is_digit(c) || (c == '.' && is_digit(static_cast<unsigned char>(peek(1))))) {
      number(start);
    } else if (c == '"' || c == '\'') {
      quoted(start);
    } else {
      const bool two = (c == ':' && peek(1) == ':') || (c == '-' && peek(1) == '>');
      at_ += two ? 2 : 1;
      add(start, TokenKind::kPunctuation);
    }
  }

  void word(size_t start) {
    while (at_ < text_.size() && is_word(static_cast<unsigned char>(text_[at_]))) ++at_;
    const std::string_view name = text_.substr(start, at_ - start);
    const char next = peek(0);
    const bool encoding = name == "L" || name == "u" || name == "U" || name == "u8";
    if (next == '"' &&
        (name == "R" || name == "LR" || name == "uR" || name == "UR" || name == "u8R")) {
      raw_string(start);
    } else if ((next == '"' || next == '\'') && encoding) {
      quoted(start);
    } else {
      add(start, TokenKind::kIdentifier);
    }
  }

  // A quote belongs to a number as digit separator when a digit or letter follows.
  void number(size_t start) {
    while (at_ < text_.size()) {
      const unsigned char c = static_cast<unsigned char>(text_[at_]);
      if ((c == '+' || c == '-') && std::strchr("eEpP", text_[at_ - 1]) != nullptr) {
        ++at_;
      } else if (is_word(c) || c == '.' ||
                 (c == '\'' && is_word(static_cast<unsigned char>(peek(1))))) {
        ++at_;
      } else {
        break;
      }
    }
    add(start, TokenKind::kNumber);
  }

  void quoted(size_t start) {
    const char quote = text_[at_++];
    while (at_ < text_.size() && text_[at_] != quote && text_[at_] != '\n')
      at_ += text_[at_] == '\\' ? 2 : 1;
    if (at_ < text_.size() && text_[at_] == quote) ++at_;
    if (at_ > text_.size()) at_ = text_.size();
    add(start, quote == '"' ? TokenKind::kString : TokenKind::kCharacter);
  }

  void raw_string(size_t start) {
    const size_t open = text_.find('(', at_);
    if (open == std::string_view::npos) {
      at_ = text_.size();
    } else {
      const std::string close = ")" + std::string(text_.substr(at_ + 1, open - at_ - 1)) + "\"";
      const size_t end = text_.find(close, open);
      at_ = end == std::string_view::npos ? text_.size() : end + close.size();
    }
    add(start, TokenKind::kString);
  }

  void skip_line() {
    const size_t end = text_.find('\n', at_);
    at_ = end == std::string_view::npos ? text_.size() : end;
  }

  // A directive ends at the first line end without a backslash.
  void skip_directive() {
    do {
      skip_line();
      if (at_ >= text_.size() || text_[at_ - 1] != '\\') return;
      ++at_;
    } while (true);
  }

  void add(size_t start, TokenKind kind) {
    tokens_.push_back({static_cast<uint32_t>(start), static_cast<uint32_t>(at_ - start), kind});
  }

  std::string_view text_;
  size_t at_ = 0;
  bool line_start_ = true;
  std::vector<Token> tokens_;
};

// Parses `# 12 "name" flags` and `#line 12 "name"`; false for other directives.
bool parse_marker(std::string_view line, SourceLocation& location) {
  size_t at = 1;
  while (at < line.size() && line[at] == ' ') ++at;
  if (line.substr(at, 4) == "line") at += 4;
  while (at < line.size() && line[at] == ' ') ++at;
  if (at >= line.size() || !is_digit(static_cast<unsigned char>(line[at]))) return false;
  location.line = std::strtoull(std::string(line.substr(at, 20)).c_str(), nullptr, 10);
  const size_t open = line.find('"', at);
  const size_t close = line.find('"', open + 1);
  if (open != std::string_view::npos && close != std::string_view::npos) {
    location.file = std::string(line.substr(open + 1, close - open - 1));
  }
  return true;
}

}  // namespace

std::vector<Token> tokenize(std::string_view text) { return Lexer(text).run(); }

SourceLocation locate(std::string_view text, size_t offset) {
  SourceLocation location{"<input>", 1};
  size_t start = 0;
  while (true) {
    const size_t end = text.find('\n', start);
    if (end == std::string_view::npos || end >= offset) return location;
    const std::string_view line = text.substr(start, end - start);
    if (line.empty() || line[0] != '#' || !parse_marker(line, location)) ++location.line;
    start = end + 1;
  }
}

}  // namespace symm::cc
