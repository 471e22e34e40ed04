#include "shmem-cc/ub_rewriter.h"

#include <string>

namespace symm::cc {
namespace {

// These may follow the parameter list of a function type or lambda, so they do not start the
// operand of a cast.
const std::unordered_set<std::string_view>& after_parameters() {
  static const std::unordered_set<std::string_view> table = {
      "const",     "volatile", "noexcept", "override", "final",         "mutable",
      "constexpr", "requires", "throw",    "try",      "__attribute__", "asm",
      "__asm__",   "and",      "or",       "consteval"};
  return table;
}

}  // namespace

UbRewriter::UbRewriter(const TokenText& tokens, Edits& edits) : tokens_(tokens), edits_(edits) {
  collect_aliases();
}

void UbRewriter::erase(size_t i) {
  edits_.replace(tokens_.offset(i), tokens_.length(i), std::string(tokens_.length(i), ' '));
}

void UbRewriter::collect_aliases() {
  const TokenText& t = tokens_;
  for (size_t i = 0; i + 3 < t.count(); ++i) {
    const Word kind = t.word(i);
    if (kind != Word::kUsing && kind != Word::kTypedef) continue;
    size_t end = i + 1;
    bool marked = false;
    int stars = 0;
    while (end < t.count() && !t.is(end, ";") && !t.is(end, "{") && !t.is(end, "(") &&
           end < i + 40) {
      marked |= t.is(end, "__ubuf__");
      stars += t.is(end, "*") ? 1 : 0;
      ++end;
    }
    if (!marked || stars != 1 || !t.is(end, ";")) continue;
    if (kind == Word::kUsing && t.is_identifier(i + 1) && t.is(i + 2, "=") && t.is(end - 1, "*")) {
      aliases_.insert(t.str(i + 1));
    }
    if (kind == Word::kTypedef && t.is_identifier(end - 1) && t.is(end - 2, "*"))
      aliases_.insert(t.str(end - 1));
  }
}

// Tokens [first, last) are a type `... __ubuf__ ... *`, possibly with const or restrict behind.
bool UbRewriter::is_ub_pointer(size_t first, size_t last, size_t& star) const {
  const TokenText& t = tokens_;
  bool marked = false;
  int stars = 0;
  for (size_t i = first; i < last; ++i) {
    if (t.is(i, "__ubuf__")) marked = true;
    if (t.is(i, "*")) {
      ++stars;
      star = i;
    }
    if (t.is(i, "&") || t.is(i, ";") || t.is(i, "=") || t.is(i, "(")) return false;
  }
  if (!marked || stars != 1) return false;
  for (size_t i = star + 1; i < last; ++i) {
    if (!t.is(i, "const") && !t.is(i, "__restrict__") && !t.is(i, "__restrict") &&
        !t.is(i, "volatile"))
      return false;
  }
  return true;
}

// Leaves the pointed-to type.
void UbRewriter::erase_ub_pointer(size_t first, size_t last, size_t star) {
  for (size_t i = first; i < last; ++i) {
    if (i >= star || tokens_.is(i, "__ubuf__") || tokens_.word(i) == Word::kErase) erase(i);
  }
}

size_t UbRewriter::named_cast(size_t i) {
  const TokenText& t = tokens_;
  if (!t.is(i + 1, "<")) return 0;
  const size_t close = t.match_angle(i + 1);
  if (close == t.count() || !t.is(close + 1, "(")) return 0;
  if (close == i + 3 && aliases_.count(t.str(i + 2)) != 0) {
    edits_.replace(t.offset(i), t.length(i), "::symm::ub_alias_cast");
    return i + 1;
  }
  size_t star = 0;
  if (!is_ub_pointer(i + 2, close, star)) return 0;
  edits_.replace(t.offset(i), t.length(i), "::symm::ub_cast");
  erase_ub_pointer(i + 2, close, star);
  return close;
}

size_t UbRewriter::c_cast(size_t i) {
  const TokenText& t = tokens_;
  if (i + 2 >= t.count()) return 0;
  const bool alias =
      t.is(i + 2, ")") && t.is_identifier(i + 1) && aliases_.count(t.str(i + 1)) != 0;
  size_t close = i + 2;
  size_t star = 0;
  if (!alias) {
    close = i + 1;
    bool marked = false;
    while (close < t.count() && !t.is(close, ")") && !t.is(close, "(") && !t.is(close, ";")) {
      marked |= t.is(close++, "__ubuf__");
    }
    if (!marked || !t.is(close, ")") || !is_ub_pointer(i + 1, close, star)) return 0;
  }
  if (!is_cast(i, close)) return 0;
  edits_.replace(t.offset(i), 1, alias ? "::symm::UbAliasCast<" : "::symm::UbCast<");
  if (!alias) erase_ub_pointer(i + 1, close, star);
  edits_.replace(t.offset(close), 1, ">()->*");
  return close + 1;
}

// `(type)` is a cast if an operand follows and what stands before does not make it a parameter
// list.
bool UbRewriter::is_cast(size_t open, size_t close) const {
  const TokenText& t = tokens_;
  if (open > 0 && t.is_name(open - 1)) return false;
  if (open > 0 && t.is(open - 1, "]")) return false;
  if (close + 1 >= t.count()) return false;
  const Token& next = t.token(close + 1);
  if (next.kind == TokenKind::kIdentifier) return after_parameters().count(t.str(close + 1)) == 0;
  if (next.kind != TokenKind::kPunctuation) return true;
  const std::string_view token = t.str(close + 1);
  return token == "(" || token == "&" || token == "*" || token == "+" || token == "-" ||
         token == "~" || token == "!" || token == "::";
}

size_t UbRewriter::shared_array(size_t i, bool in_simt) {
  const TokenText& t = tokens_;
  if (!in_simt) return 0;
  size_t end = i + 1;
  size_t name = 0;
  size_t dimensions = 0;
  while (end < t.count() && !t.is(end, ";")) {
    // A pointer, a parameter or an initialised variable is not a shared array.
    if (t.is(end, "*") || t.is(end, "&") || t.is(end, ")") || t.is(end, "(") || t.is(end, "=") ||
        t.is(end, "{") || t.is(end, ",")) {
      return 0;
    }
    if (t.is(end, "[")) {
      if (dimensions == 0) dimensions = end;
      end = t.match_forward(end);
      if (end == t.count()) return 0;
    } else if (t.is(end, "<")) {
      end = t.match_angle(end);
      if (end == t.count()) return 0;
    } else if (t.is_identifier(end) && dimensions == 0) {
      name = end;
    }
    ++end;
  }
  const bool declares = name > i + 1 && end < t.count() &&
                        (dimensions == name + 1 || (dimensions == 0 && end == name + 1));
  if (!declares) return 0;
  const size_t first = i > 0 && (t.is(i - 1, "static")) ? i - 1 : i;
  const std::string type = "symm_shared_" + std::to_string(++shared_);
  // Everything but the last `;` is replaced on the first line; gaps with line breaks stay.
  edits_.insert(t.offset(first), "using " + type + " = volatile " + t.flat(i + 1, name) + " " +
                                     t.flat(name + 1, end) + "; static const char " + type +
                                     "_key = 0; " + type + "& " + std::string(t.str(name)) +
                                     " = *::symm::simt_shared<" + type + ">(&" + type + "_key)");
  for (size_t k = first; k < end; ++k) edits_.replace(t.offset(k), t.length(k), "");
  return end;
}

}  // namespace symm::cc
