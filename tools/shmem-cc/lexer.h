// Tokens of preprocessed C++, as far as the rewriter needs them: comments, directives and white
// space lie between tokens and are never touched. Pure functions.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace symm::cc {

enum class TokenKind : uint8_t { kIdentifier, kNumber, kString, kCharacter, kPunctuation };

struct Token {
  uint32_t offset;
  uint32_t length;
  TokenKind kind;
};

// Punctuation comes one character a token, except "::" and "->".
std::vector<Token> tokenize(std::string_view text);

struct SourceLocation {
  std::string file;
  uint64_t line = 0;
};

// The user's file and line of an offset, by the line markers before it.
SourceLocation locate(std::string_view text, size_t offset);

}  // namespace symm::cc
