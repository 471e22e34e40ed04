#include "shmem-cc/token_text.h"

#include <unordered_map>
#include <unordered_set>

namespace symm::cc {
namespace {

const std::unordered_map<std::string_view, Word>& words() {
  static const std::unordered_map<std::string_view, Word> table = {
      {"__aicore__", Word::kErase},
      {"__gm__", Word::kErase},
      {"__vector__", Word::kErase},
      {"__cube__", Word::kErase},
      {"__cbuf__", Word::kErase},
      {"__ca__", Word::kErase},
      {"__cb__", Word::kErase},
      {"__cc__", Word::kErase},
      {"__fbuf__", Word::kErase},
      {"__simt_vf__", Word::kSimt},
      {"__simt_callee__", Word::kSimt},
      {"__mix__", Word::kEraseCall},
      {"__schedmode__", Word::kEraseCall},
      {"__launch_bounds__", Word::kEraseCall},
      {"__inout_pipe__", Word::kEraseCall},
      {"__global__", Word::kGlobal},
      {"__ubuf__", Word::kUbuf},
      {"reinterpret_cast", Word::kCast},
      {"static_cast", Word::kCast},
      {"using", Word::kUsing},
      {"typedef", Word::kTypedef}};
  return table;
}

// After one of these a parenthesis opens an expression, not a parameter list.
const std::unordered_set<std::string_view>& expression_keywords() {
  static const std::unordered_set<std::string_view> table = {
      "return",   "case",     "throw", "else", "do",  "co_return",
      "co_yield", "co_await", "and",   "or",   "not", "delete"};
  return table;
}

}  // namespace

bool TokenText::is_name(size_t i) const {
  return is_identifier(i) && expression_keywords().count(str(i)) == 0;
}

Word TokenText::word(size_t i) const {
  if (!is_identifier(i)) return Word::kNone;
  const auto found = words().find(str(i));
  return found == words().end() ? Word::kNone : found->second;
}

size_t TokenText::match_forward(size_t open) const {
  int depth = 0;
  for (size_t i = open; i < count(); ++i) {
    if (tokens_[i].kind != TokenKind::kPunctuation) continue;
    const char c = text_[tokens_[i].offset];
    if (c == '(' || c == '[' || c == '{') ++depth;
    if ((c == ')' || c == ']' || c == '}') && --depth == 0) return i;
  }
  return count();
}

size_t TokenText::match_backward(size_t close) const {
  int depth = 0;
  for (size_t i = close + 1; i-- > 0;) {
    if (tokens_[i].kind != TokenKind::kPunctuation) continue;
    const char c = text_[tokens_[i].offset];
    if (c == ')' || c == ']' || c == '}') ++depth;
    if ((c == '(' || c == '[' || c == '{') && --depth == 0) return i;
  }
  return count();
}

size_t TokenText::match_angle(size_t open) const {
  int depth = 0;
  for (size_t i = open; i < count(); ++i) {
    if (tokens_[i].kind != TokenKind::kPunctuation) continue;
    const char c = text_[tokens_[i].offset];
    if (c == '(' || c == '[' || c == '{') {
      i = match_forward(i);
    } else if (c == '<') {
      ++depth;
    } else if (str(i) == ">" && --depth == 0) {
      return i;
    } else if (c == ';') {
      return count();
    }
  }
  return count();
}

size_t TokenText::match_angle_backward(size_t close) const {
  int depth = 0;
  for (size_t i = close + 1; i-- > 0;) {
    if (tokens_[i].kind != TokenKind::kPunctuation) continue;
    const char c = text_[tokens_[i].offset];
    if (c == ')' || c == ']' || c == '}') {
      i = match_backward(i);
      if (i == count()) return count();
    } else if (str(i) == ">") {
      ++depth;
    } else if (c == '<' && --depth == 0) {
      return i;
    } else if (c == ';') {
      return count();
    }
  }
  return count();
}

size_t TokenText::statement_start(size_t i) const {
  while (i > 0) {
    const std::string_view before = str(i - 1);
    if (before == ";" || before == "{" || before == "}") break;
    --i;
  }
  return i;
}

std::string TokenText::flat(size_t first, size_t last) const {
  std::string result;
  for (size_t i = first; i < last; ++i) {
    const Word kind = word(i);
    if (kind == Word::kErase || kind == Word::kSimt) continue;
    if (!result.empty()) result += ' ';
    result += kind == Word::kUbuf ? std::string("volatile") : std::string(str(i));
  }
  return result;
}

}  // namespace symm::cc
