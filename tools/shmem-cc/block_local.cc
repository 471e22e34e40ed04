#include "shmem-cc/block_local.h"

namespace symm::cc {

void BlockLocals::erase(size_t i) {
  edits_.replace(tokens_.offset(i), tokens_.length(i), std::string(tokens_.length(i), ' '));
}

bool BlockLocals::is_attribute(size_t i) const {
  return tokens_.is(i, "[") && tokens_.is(i + 1, "[") && tokens_.is(i + 2, "block_local") &&
         tokens_.is(i + 3, "]");
}

bool BlockLocals::at_namespace_scope(size_t start) const {
  for (size_t i = start; i-- > 0;) {
    if (tokens_.is(i, "}")) {
      i = tokens_.match_backward(i);
      if (i == tokens_.count()) return false;
      continue;
    }
    if (!tokens_.is(i, "{")) continue;
    // namespace a::b {, namespace {, extern "C" {
    for (size_t k = i; k-- > 0;) {
      if (tokens_.is(k, "namespace") || tokens_.is(k, "extern")) return at_namespace_scope(k);
      if (!tokens_.is_name(k) && !tokens_.is(k, "::") && tokens_.first_char(k) != '"') return false;
    }
    return false;
  }
  return true;
}

std::string BlockLocals::parse(size_t start, Declaration& found) const {
  found.start = start;
  found.name = tokens_.count();
  bool named = false;  // what follows the name has begun
  for (size_t i = start; i < tokens_.count(); ++i) {
    if (is_attribute(i)) {
      i += 4;
      continue;
    }
    if (tokens_.is(i, ";")) {
      found.end = i;
      return found.name == tokens_.count() ? "a variable needs a name" : "";
    }
    if (tokens_.is(i, ",")) return "declare one [[block_local]] variable at a time";
    if (tokens_.is(i, "extern")) found.is_extern = true;
    if (tokens_.is(i, "static")) found.is_static = true;
    if (tokens_.is(i, "inline")) found.is_inline = true;
    if (!named && tokens_.is(i, "<")) {
      i = tokens_.match_angle(i);
    } else if (tokens_.is(i, "(") || tokens_.is(i, "[") || tokens_.is(i, "{")) {
      if (!named && tokens_.is(i, "(")) found.bracket = i;
      named = true;
      i = tokens_.match_forward(i);
    } else if (tokens_.is(i, "=")) {
      named = true;
    } else if (!named && tokens_.is_name(i)) {
      found.name = i;
    }
  }
  return "the declaration of a [[block_local]] variable has no end";
}

std::string BlockLocals::declare(size_t i) {
  const size_t start = tokens_.statement_start(i);
  Declaration variable;
  if (std::string why = parse(start, variable); !why.empty()) return why;
  if (!at_namespace_scope(start)) {
    return "[[block_local]] variables are declared at namespace scope, outside of functions and "
           "classes";
  }
  for (size_t k = start; k < variable.name; ++k) {
    if (is_attribute(k)) {
      for (size_t part = k; part < k + 5; ++part) erase(part);
      k += 4;
    } else if (tokens_.is(k, "extern") || tokens_.is(k, "static") || tokens_.is(k, "inline") ||
               tokens_.is(k, "thread_local")) {
      erase(k);
    }
  }
  if (variable.bracket != 0) {
    edits_.replace(tokens_.offset(variable.bracket), 1, "{");
    edits_.replace(tokens_.offset(tokens_.match_forward(variable.bracket)), 1, "}");
  }
  const std::string name(tokens_.str(variable.name));
  const std::string holder = "symm_holder_" + name;
  // A type per file: files may have different variables of one name.
  const bool again = names_.count(tokens_.str(variable.name)) != 0;  // declared before, extern
  const std::string type = holder + (again ? "_defined" : "");
  edits_.insert(tokens_.offset(start), "namespace { struct " + type + " { ");
  std::string function = " }; } ";
  if (variable.is_static) function += "static ";
  if (variable.is_inline || variable.is_static) function += "inline ";
  function += "decltype(" + type + "::" + name + ")& symm_block_local_" + name + "()";
  if (variable.is_extern) {
    function += ";";
  } else {
    function += " { static const char symm_key = 0; return ::symm::core_local<" + type +
                ">(&symm_key)." + name + "; }";
  }
  edits_.insert(tokens_.end_of(variable.end), function);
  names_[tokens_.str(variable.name)] = variable.end;
  return "";
}

std::string BlockLocals::use(size_t i) {
  const auto found = names_.find(tokens_.str(i));
  if (found == names_.end() || i <= found->second || i == 0) return "";
  if (tokens_.is(i - 1, ".") || tokens_.is(i - 1, "->")) return "";
  // A type in front: a declaration that hides the variable. Which uses mean which, only a compiler
  // knows.
  static constexpr std::string_view kTypes[] = {"int",  "char", "float",    "double", "bool",
                                                "auto", "long", "unsigned", "signed", "short"};
  bool declared = tokens_.is_name(i - 1) && tokens_.is_identifier(i - 1);
  for (std::string_view type : kTypes) declared = declared || tokens_.is(i - 1, type);
  if (declared) {
    return std::string(tokens_.str(i)) +
           " is the name of a [[block_local]] variable; call this one otherwise";
  }
  edits_.replace(tokens_.offset(i), tokens_.length(i),
                 "symm_block_local_" + std::string(tokens_.str(i)) + "()");
  return "";
}

}  // namespace symm::cc
