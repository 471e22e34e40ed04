#include "shmem-cc/rewriter.h"

#include <cstdlib>

#include "shmem-cc/block_local.h"
#include "shmem-cc/edits.h"
#include "shmem-cc/token_text.h"
#include "shmem-cc/ub_rewriter.h"

namespace symm::cc {
namespace {

class Rewriter : private TokenText {
 public:
  explicit Rewriter(std::string_view text)
      : TokenText(text), ub_(*this, edits_), locals_(*this, edits_) {}

  Rewritten run() {
    for (size_t i = 0; i < count(); ++i) visit(i);
    result_.changed = !edits_.empty();
    if (!result_.changed) return std::move(result_);
    declare_entry();
    result_.needs_launch_header = result_.launches != 0 && !launch_declared_;
    result_.text = edits_.apply(text());
    return std::move(result_);
  }

 private:
  void error(size_t i, std::string text) { result_.errors.push_back({offset(i), std::move(text)}); }

  void erase_token(size_t i) { edits_.replace(offset(i), length(i), std::string(length(i), ' ')); }
  // Line breaks between the tokens stay.
  void erase_tokens(size_t first, size_t last) {
    for (size_t i = first; i <= last; ++i) erase_token(i);
  }

  void visit(size_t i) {
    if (i < skip_until_) return;
    if (is_punctuation(i)) {
      const char c = first_char(i);
      if (c == '<') visit_less(i);
      if (c == '[') visit_bracket(i);
      if (c == '(') go_on(ub_.c_cast(i));
      return;
    }
    switch (word(i)) {
      case Word::kErase:
        return erase_token(i);
      case Word::kEraseCall:
        return erase_word_call(i);
      case Word::kGlobal:
        return visit_kernel(i);
      case Word::kSimt:
        return visit_simt(i);
      case Word::kUbuf:
        if (go_on(ub_.shared_array(i, i < simt_end_))) return;
        edits_.replace(offset(i), length(i), "volatile");
        return;
      case Word::kCast:
        go_on(ub_.named_cast(i));
        return;
      default:
        if (locals_.any() && is_identifier(i)) {
          if (std::string why = locals_.use(i); !why.empty()) error(i, std::move(why));
        }
        if (is(i, "symm_rt_enter")) entry_declared_ = true;
        if (is(i, "Launcher") && i > 0 && is(i - 1, "class")) launch_declared_ = true;
    }
  }

  // A part of the text was dealt with up to token `next`; 0: it was not.
  bool go_on(size_t next) {
    if (next != 0) skip_until_ = next;
    return next != 0;
  }

  void erase_word_call(size_t i) {
    const size_t close = is(i + 1, "(") ? match_forward(i + 1) : i;
    if (close == count()) return error(i, std::string(str(i)) + ": no closing parenthesis");
    erase_tokens(i, close);
    skip_until_ = close + 1;
  }

  // ---- attributes

  void visit_bracket(size_t i) {
    if (!is(i + 1, "[") || !adjacent(i)) return;
    if (is(i + 2, "block_local") && is(i + 3, "]")) {
      if (std::string why = locals_.declare(i); !why.empty()) error(i, std::move(why));
      skip_until_ = i + 5;
    }
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

  struct Function {
    size_t name;
    size_t parameters;  // the opening parenthesis; count() if there is none
    bool returns_void = false;
  };

  // The function that a declaration from token `start` on declares.
  Function find_function(size_t start) const {
    Function found{count(), count()};
    for (size_t at = start; at < count(); ++at) {
      const std::string_view token = str(at);
      if (token == ";" || token == "{" || token == "}" || token == "=") break;
      if (token == "void") {
        found.returns_void = true;
      } else if (token == "[") {
        at = match_forward(at);
      } else if (token == "<") {
        at = match_angle(at);
      } else if (token == "(") {
        if (found.name == at - 1 || (found.name != count() && is(at - 1, ">"))) {
          found.parameters = at;
          break;
        }
        at = match_forward(at);
      } else if (is_name(at) && word(at) == Word::kNone && token != "__attribute__") {
        found.name = at;
      }
    }
    return found;
  }

  void visit_kernel(size_t i) {
    erase_token(i);
    const size_t start = statement_start(i);
    for (size_t k = start; k < i; ++k) {
      if (is(k, "typedef") || is(k, "using")) return;
    }
    const Function kernel = find_function(start);
    if (kernel.parameters == count() || !kernel.returns_void) {
      return error(i, "__global__ is not followed by a kernel: void name(parameters)");
    }
    guard_body(kernel.name, kernel.parameters, ratio_of(start, kernel.parameters));
  }

  // Arrays in the unified buffer that a SIMT function declares belong to all its lanes.
  void visit_simt(size_t i) {
    erase_token(i);
    const Function function = find_function(statement_start(i));
    if (function.parameters == count()) return;
    const size_t close = match_forward(function.parameters);
    if (is(close + 1, "{")) simt_end_ = match_forward(close + 1);
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
    const size_t line = text().find('\n');
    if (!text().empty() && text()[0] == '#' && line != std::string_view::npos) {
      edits_.insert(line + 1, "extern \"C\" int symm_rt_enter(const char*, int, int);\n" +
                                  std::string(text().substr(0, line + 1)));
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
  struct Configuration {
    size_t close = 0;  // first `>` of `>>>`
    int commas = 0;
  };
  // The first `>>>` outside parentheses after two commas: template arguments of a config value may
  // end in >>> too.
  bool find_configuration(size_t first, Configuration& found) const {
    for (size_t i = first; i + 2 < count(); ++i) {
      const char c = first_char(i);
      if (!is_punctuation(i)) continue;
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
    edits_.insert(offset(callee), "::symm::launch(\"" + kernel_name(callee, less) +
                                      "\", [=](auto... symm_args) -> decltype(" + call + ") { " +
                                      call + "; }, ");
    for (size_t i = callee; i < less + 3; ++i) drop(i);
    edits_.replace(offset(configuration.close), 1, ")");
    drop(configuration.close + 1);
    drop(configuration.close + 2);
    replace_zeros(open);
    // Words inside the configuration and the arguments are still to be visited.
    skip_until_ = less + 3;
  }

  void drop(size_t i) { edits_.replace(offset(i), length(i), ""); }

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
        edits_.replace(offset(i), length(i), "::symm::LaunchZero{}");
      }
    }
  }

  Edits edits_;
  UbRewriter ub_;
  BlockLocals locals_;
  Rewritten result_;
  size_t skip_until_ = 0;
  size_t simt_end_ = 0;  // inside a SIMT function up to this token
  bool entry_declared_ = false;
  bool launch_declared_ = false;
};

}  // namespace

Rewritten rewrite(std::string_view text) { return Rewriter(text).run(); }

}  // namespace symm::cc
