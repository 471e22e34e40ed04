#include "shmem-cc/rewriter.h"

#include <unordered_map>
#include <unordered_set>

#include "shmem-cc/edits.h"
#include "shmem-cc/lexer.h"

namespace symm::cc {
namespace {

enum class Word : uint8_t { kNone, kErase, kEraseCall, kGlobal, kUbuf, kCast, kUsing, kTypedef };

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
      {"__simt_vf__", Word::kErase},
      {"__simt_callee__", Word::kErase},
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

// These may follow the parameter list of a function type or lambda, so they do not start the
// operand of a cast.
const std::unordered_set<std::string_view>& after_parameters() {
  static const std::unordered_set<std::string_view> table = {
      "const",     "volatile", "noexcept", "override", "final",         "mutable",
      "constexpr", "requires", "throw",    "try",      "__attribute__", "asm",
      "__asm__",   "and",      "or",       "consteval"};
  return table;
}

class Rewriter {
 public:
  explicit Rewriter(std::string_view text) : text_(text), tokens_(tokenize(text)) {}

  Rewritten run() {
    collect_aliases();
    for (size_t i = 0; i < tokens_.size(); ++i) visit(i);
    result_.changed = !edits_.empty();
    if (!result_.changed) return std::move(result_);
    declare_entry();
    result_.needs_launch_header = result_.launches != 0 && !launch_declared_;
    result_.text = edits_.apply(text_);
    return std::move(result_);
  }

 private:
  std::string_view str(size_t i) const {
    return text_.substr(tokens_[i].offset, tokens_[i].length);
  }
  size_t count() const { return tokens_.size(); }
  bool is(size_t i, std::string_view what) const { return i < count() && str(i) == what; }
  bool is_identifier(size_t i) const {
    return i < count() && tokens_[i].kind == TokenKind::kIdentifier;
  }
  size_t end_of(size_t i) const { return size_t{tokens_[i].offset} + tokens_[i].length; }
  bool adjacent(size_t i) const { return end_of(i) == tokens_[i + 1].offset; }
  void error(size_t i, std::string text) {
    result_.errors.push_back({tokens_[i].offset, std::move(text)});
  }

  Word word(size_t i) const {
    if (tokens_[i].kind != TokenKind::kIdentifier) return Word::kNone;
    const auto found = words().find(str(i));
    return found == words().end() ? Word::kNone : found->second;
  }

  void erase_token(size_t i) {
    edits_.replace(tokens_[i].offset, tokens_[i].length, std::string(tokens_[i].length, ' '));
  }
  // Line breaks between the tokens stay.
  void erase_tokens(size_t first, size_t last) {
    for (size_t i = first; i <= last; ++i) erase_token(i);
  }

  void visit(size_t i) {
    if (i < skip_until_) return;
    const Token& token = tokens_[i];
    if (token.kind == TokenKind::kPunctuation) {
      const char c = text_[token.offset];
      if (c == '<') visit_less(i);
      if (c == '[') visit_bracket(i);
      if (c == '(') visit_parenthesis(i);
      return;
    }
    if (token.kind != TokenKind::kIdentifier) return;
    switch (word(i)) {
      case Word::kErase:
        erase_token(i);
        break;
      case Word::kEraseCall:
        erase_word_call(i);
        break;
      case Word::kGlobal:
        visit_kernel(i);
        break;
      case Word::kUbuf:
        edits_.replace(token.offset, token.length, "volatile");
        break;
      case Word::kCast:
        visit_named_cast(i);
        break;
      default:
        if (str(i) == "symm_rt_enter") entry_declared_ = true;
        if (str(i) == "Launcher" && i > 0 && is(i - 1, "class")) launch_declared_ = true;
    }
  }

  void erase_word_call(size_t i) {
    const size_t close = is(i + 1, "(") ? match_forward(i + 1) : i;
    if (close == count()) return error(i, std::string(str(i)) + ": no closing parenthesis");
    erase_tokens(i, close);
    skip_until_ = close + 1;
  }

  // The token that closes the bracket at `open`, or count().
  size_t match_forward(size_t open) const {
    int depth = 0;
    for (size_t i = open; i < count(); ++i) {
      if (tokens_[i].kind != TokenKind::kPunctuation) continue;
      const char c = text_[tokens_[i].offset];
      if (c == '(' || c == '[' || c == '{') ++depth;
      if ((c == ')' || c == ']' || c == '}') && --depth == 0) return i;
    }
    return count();
  }
  // The token that opens the bracket at `close`, or count().
  size_t match_backward(size_t close) const {
    int depth = 0;
    for (size_t i = close + 1; i-- > 0;) {
      if (tokens_[i].kind != TokenKind::kPunctuation) continue;
      const char c = text_[tokens_[i].offset];
      if (c == ')' || c == ']' || c == '}') ++depth;
      if ((c == '(' || c == '[' || c == '{') && --depth == 0) return i;
    }
    return count();
  }
  // The `>` of a template argument list that opens at `open`, or count().
  size_t match_angle(size_t open) const {
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
  size_t match_angle_backward(size_t close) const {
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

  // ---- attributes

  void visit_bracket(size_t i) {
    if (!is(i + 1, "[") || !adjacent(i)) return;
    if (is(i + 2, "bisheng") && is(i + 3, "::")) {
      const size_t close = match_forward(i);
      if (close == count()) return error(i, "attribute without an end");
      erase_tokens(i, close);
      skip_until_ = close + 1;
    }
  }

  // ---- kernels

  struct Ratio {
    int cube = 1;
    int vector = 2;
  };

  // `first` to `last`: the words of a kernel declaration before its parameters.
  Ratio ratio_of(size_t first, size_t last) const {
    Ratio ratio;
    for (size_t i = first; i <= last; ++i) {
      if (is(i, "__vector__")) ratio = {0, 1};
      if (is(i, "__cube__")) ratio = {1, 0};
      if ((is(i, "core_ratio") || is(i, "__mix__")) && is(i + 1, "(") && is(i + 3, ",") &&
          is(i + 5, ")")) {
        ratio = {std::atoi(std::string(str(i + 2)).c_str()),
                 std::atoi(std::string(str(i + 4)).c_str())};
      }
    }
    return ratio;
  }

  // The first token of the declaration that holds token i.
  size_t declaration_start(size_t i) const {
    while (i > 0) {
      const std::string_view before = str(i - 1);
      if (before == ";" || before == "{" || before == "}") break;
      --i;
    }
    return i;
  }

  void visit_kernel(size_t i) {
    erase_token(i);
    size_t at = i + 1;
    size_t name = count();
    bool returns_void = false;
    const size_t start = declaration_start(i);
    for (size_t k = start; k < i; ++k) returns_void |= is(k, "void");
    for (; at < count(); ++at) {
      const std::string_view token = str(at);
      if (token == ";" || token == "{" || token == "}" || token == "=") break;
      if (token == "void") {
        returns_void = true;
      } else if (token == "[") {
        at = match_forward(at);
      } else if (token == "<" && name != count()) {
        at = match_angle(at);
      } else if (token == "(") {
        if (returns_void && name != count()) break;
        at = match_forward(at);
      } else if (is_identifier(at) && word(at) != Word::kEraseCall && token != "__attribute__") {
        if (word(at) == Word::kNone) name = at;
      }
    }
    if (at >= count() || !is(at, "(") || name == count()) {
      return error(i, "__global__ is not followed by a kernel: void name(parameters)");
    }
    guard_body(name, at, ratio_of(start, at));
  }

  // Puts the entry guard behind the `{` of a definition; a declaration stays as it is.
  void guard_body(size_t name, size_t parameters, Ratio ratio) {
    size_t at = match_forward(parameters);
    if (at == count()) return error(parameters, "parameter list of a kernel without an end");
    for (++at; at < count(); ++at) {
      if (is(at, ";") || is(at, "{")) break;
      if (is(at, "(") || is(at, "[")) at = match_forward(at);
    }
    if (at >= count() || is(at, ";")) return;
    ++result_.kernels;
    edits_.insert(end_of(at), " if (!symm_rt_enter(\"" + std::string(str(name)) + "\", " +
                                  std::to_string(ratio.cube) + ", " + std::to_string(ratio.vector) +
                                  ")) return;");
  }

  // A file with kernels but without our headers still gets the declaration of the guard. The first
  // line is the marker that names the main file and must stay first.
  void declare_entry() {
    if (result_.kernels == 0 || entry_declared_) return;
    const size_t line = text_.find('\n');
    if (!text_.empty() && text_[0] == '#' && line != std::string_view::npos) {
      edits_.insert(line + 1, "extern \"C\" int symm_rt_enter(const char*, int, int);\n" +
                                  std::string(text_.substr(0, line + 1)));
    } else {
      edits_.insert(0, "extern \"C\" int symm_rt_enter(const char*, int, int); ");
    }
  }

  // ---- launches

  void visit_less(size_t i) {
    if (i + 2 >= count() || !is(i + 1, "<") || !is(i + 2, "<") || !adjacent(i)) return;
    if (i == 0 || is(i - 1, "operator")) return;
    visit_launch(i);
  }

  // The first token of the expression that ends before token `end`, or `end` if there is none.
  size_t callee_start(size_t end) const {
    size_t at = end;
    while (at > 0) {
      size_t primary = at - 1;
      if (is(primary, ">")) {
        const size_t open = match_angle_backward(primary);
        if (open == count() || open == 0) return end;
        primary = open - 1;
      } else {
        while (is(primary, ")") || is(primary, "]")) {
          const size_t open = match_backward(primary);
          if (open == count()) return end;
          const bool called =
              open > 0 && (is_name(open - 1) || is(open - 1, ")") || is(open - 1, "]"));
          if (!called) return open;
          primary = open - 1;
        }
      }
      if (!is_name(primary)) return at == end ? end : at;
      at = primary;
      if (at > 0 && is(at - 1, "template")) --at;
      if (at > 0 && is(at - 1, "::")) {
        --at;
        if (at == 0 || !(is_name(at - 1) || is(at - 1, ">"))) return at;
      } else if (at > 0 && (is(at - 1, "->") || is(at - 1, "."))) {
        --at;
      } else {
        return at;
      }
    }
    return at;
  }
  bool is_name(size_t i) const {
    return is_identifier(i) && expression_keywords().count(str(i)) == 0;
  }

  // Tokens as one line of text, words replaced.
  std::string flat(size_t first, size_t last) const {
    std::string result;
    for (size_t i = first; i < last; ++i) {
      const Word kind = word(i);
      if (kind == Word::kErase) continue;
      if (!result.empty()) result += ' ';
      result += kind == Word::kUbuf ? std::string("volatile") : std::string(str(i));
    }
    return result;
  }

  struct Configuration {
    size_t close = 0;  // first `>` of `>>>`
    int commas = 0;
  };
  // The first `>>>` outside parentheses after two commas: template arguments of a config value may
  // end in >>> too.
  bool find_configuration(size_t first, Configuration& found) const {
    for (size_t i = first; i + 2 < count(); ++i) {
      const char c = text_[tokens_[i].offset];
      if (tokens_[i].kind != TokenKind::kPunctuation) continue;
      if (c == '(' || c == '[' || c == '{') {
        i = match_forward(i);
        if (i == count()) return false;
      } else if (c == ',') {
        ++found.commas;
      } else if (c == ';') {
        return false;
      } else if (str(i) == ">" && is(i + 1, ">") && is(i + 2, ">") && is(i + 3, "(") &&
                 found.commas >= 2) {
        found.close = i;
        return true;
      }
    }
    return false;
  }

  void visit_launch(size_t less) {
    const size_t callee = callee_start(less);
    if (callee == less) return error(less, "<<< is not preceded by the name of a kernel");
    Configuration configuration;
    if (!find_configuration(less + 3, configuration)) {
      return error(less, "launch needs <<<blocks, nullptr, stream>>>(arguments)");
    }
    if (configuration.commas > 3)
      return error(less, "a launch takes three or four values between <<< and >>>");
    const size_t open = configuration.close + 3;
    if (match_forward(open) == count()) return error(open, "arguments of a launch without an end");
    ++result_.launches;

    const std::string call = flat(callee, less) + "(symm_args...)";
    edits_.insert(tokens_[callee].offset, "::symm::launch(\"" + kernel_name(callee, less) +
                                              "\", [=](auto... symm_args) -> decltype(" + call +
                                              ") { " + call + "; }, ");
    for (size_t i = callee; i < less + 3; ++i) drop(i);
    edits_.replace(tokens_[configuration.close].offset, 1, ")");
    drop(configuration.close + 1);
    drop(configuration.close + 2);
    replace_zeros(open);
    // Words inside the configuration and the arguments are still to be visited.
    skip_until_ = less + 3;
  }

  void drop(size_t i) { edits_.replace(tokens_[i].offset, tokens_[i].length, ""); }

  std::string kernel_name(size_t first, size_t last) const {
    for (size_t i = first; i < last; ++i) {
      if (is(i, "<")) {
        last = i;
        break;
      }
    }
    std::string name = is_identifier(last - 1) ? std::string(str(last - 1)) : flat(first, last);
    std::erase_if(name, [](char c) { return c == '"' || c == '\\'; });
    return name;
  }

  // Arguments that are just 0 or NULL may be meant for a pointer.
  void replace_zeros(size_t open) {
    const size_t close = match_forward(open);
    for (size_t i = open + 1; i < close; ++i) {
      if (is(i, "(") || is(i, "[") || is(i, "{")) {
        i = match_forward(i);
        continue;
      }
      const bool alone = (i == open + 1 || is(i - 1, ",")) && (i + 1 == close || is(i + 1, ","));
      if (alone && (is(i, "0") || is(i, "__null") || is(i, "NULL"))) {
        edits_.replace(tokens_[i].offset, tokens_[i].length, "::symm::LaunchZero{}");
      }
    }
  }

  // ---- casts to pointers into the unified buffer

  // Names that stand for `__ubuf__ T*`.
  void collect_aliases() {
    for (size_t i = 0; i + 3 < count(); ++i) {
      const Word kind = word(i);
      if (kind != Word::kUsing && kind != Word::kTypedef) continue;
      size_t end = i + 1;
      bool marked = false;
      int stars = 0;
      while (end < count() && !is(end, ";") && !is(end, "{") && !is(end, "(") && end < i + 40) {
        marked |= is(end, "__ubuf__");
        stars += is(end, "*") ? 1 : 0;
        ++end;
      }
      if (!marked || stars != 1 || !is(end, ";")) continue;
      if (kind == Word::kUsing && is_identifier(i + 1) && is(i + 2, "=") && is(end - 1, "*"))
        aliases_.insert(str(i + 1));
      if (kind == Word::kTypedef && is_identifier(end - 1) && is(end - 2, "*"))
        aliases_.insert(str(end - 1));
    }
  }

  // Tokens [first, last) are a type `... __ubuf__ ... *`, possibly with const or restrict behind.
  bool is_ub_pointer(size_t first, size_t last, size_t& star) const {
    bool marked = false;
    int stars = 0;
    for (size_t i = first; i < last; ++i) {
      if (is(i, "__ubuf__")) marked = true;
      if (is(i, "*")) {
        ++stars;
        star = i;
      }
      if (is(i, "&") || is(i, ";") || is(i, "=") || is(i, "(")) return false;
    }
    if (!marked || stars != 1) return false;
    for (size_t i = star + 1; i < last; ++i) {
      if (!is(i, "const") && !is(i, "__restrict__") && !is(i, "__restrict") && !is(i, "volatile"))
        return false;
    }
    return true;
  }

  void visit_named_cast(size_t i) {
    if (!is(i + 1, "<")) return;
    const size_t close = match_angle(i + 1);
    if (close == count() || !is(close + 1, "(")) return;
    if (close == i + 3 && aliases_.count(str(i + 2)) != 0) {
      edits_.replace(tokens_[i].offset, tokens_[i].length, "::symm::ub_alias_cast");
      return;
    }
    size_t star = 0;
    if (!is_ub_pointer(i + 2, close, star)) return;
    edits_.replace(tokens_[i].offset, tokens_[i].length, "::symm::ub_cast");
    erase_ub_pointer(i + 2, close, star);
    skip_until_ = close;
  }

  // Leaves the pointed-to type of `__ubuf__ T*`.
  void erase_ub_pointer(size_t first, size_t last, size_t star) {
    for (size_t i = first; i < last; ++i) {
      if (i >= star || is(i, "__ubuf__") || word(i) == Word::kErase) erase_token(i);
    }
  }

  void visit_parenthesis(size_t i) {
    if (i + 2 >= count()) return;
    const bool alias = is(i + 2, ")") && is_identifier(i + 1) && aliases_.count(str(i + 1)) != 0;
    size_t close = i + 2;
    size_t star = 0;
    if (!alias) {
      close = i + 1;
      bool marked = false;
      while (close < count() && !is(close, ")") && !is(close, "(") && !is(close, ";"))
        marked |= is(close++, "__ubuf__");
      if (!marked || !is(close, ")") || !is_ub_pointer(i + 1, close, star)) return;
    }
    if (!is_cast(i, close)) return;
    if (alias) {
      edits_.replace(tokens_[i].offset, 1, "::symm::UbAliasCast<");
      edits_.replace(tokens_[close].offset, 1, ">()->*");
      return;
    }
    edits_.replace(tokens_[i].offset, 1, "::symm::UbCast<");
    erase_ub_pointer(i + 1, close, star);
    edits_.replace(tokens_[close].offset, 1, ">()->*");
    skip_until_ = close + 1;
  }

  // `(type)` is a cast if an operand follows, and what stands before does not make it a parameter
  // list.
  bool is_cast(size_t open, size_t close) const {
    if (open > 0 && is_identifier(open - 1) && expression_keywords().count(str(open - 1)) == 0)
      return false;
    if (open > 0 && is(open - 1, "]")) return false;
    if (close + 1 >= count()) return false;
    const Token& next = tokens_[close + 1];
    if (next.kind == TokenKind::kIdentifier) return after_parameters().count(str(close + 1)) == 0;
    if (next.kind != TokenKind::kPunctuation) return true;
    const std::string_view token = str(close + 1);
    return token == "(" || token == "&" || token == "*" || token == "+" || token == "-" ||
           token == "~" || token == "!" || token == "::";
  }

  std::string_view text_;
  std::vector<Token> tokens_;
  Edits edits_;
  Rewritten result_;
  std::unordered_set<std::string_view> aliases_;
  size_t skip_until_ = 0;
  bool entry_declared_ = false;
  bool launch_declared_ = false;
};

}  // namespace

Rewritten rewrite(std::string_view text) { return Rewriter(text).run(); }

}  // namespace symm::cc
