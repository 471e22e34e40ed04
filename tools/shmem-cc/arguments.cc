#include "shmem-cc/arguments.h"

#include <algorithm>
#include <array>
#include <fstream>
#include <sstream>
#include <unordered_set>

namespace symm::cc {
namespace {

bool starts_with(std::string_view word, std::string_view prefix) {
  return word.substr(0, prefix.size()) == prefix;
}
bool ends_with(std::string_view word, std::string_view suffix) {
  return word.size() > suffix.size() && word.substr(word.size() - suffix.size()) == suffix;
}

// Options of g++ and clang whose value is the next word.
const std::unordered_set<std::string_view>& options_with_value() {
  static const std::unordered_set<std::string_view> table = {"-o",
                                                             "-I",
                                                             "-D",
                                                             "-U",
                                                             "-include",
                                                             "-isystem",
                                                             "-iquote",
                                                             "-idirafter",
                                                             "-imacros",
                                                             "-isysroot",
                                                             "-iprefix",
                                                             "-iwithprefix",
                                                             "-iwithprefixbefore",
                                                             "-imultilib",
                                                             "-L",
                                                             "-l",
                                                             "-x",
                                                             "-MF",
                                                             "-MT",
                                                             "-MQ",
                                                             "-Xlinker",
                                                             "-Xpreprocessor",
                                                             "-Xassembler",
                                                             "-Xclang",
                                                             "-T",
                                                             "-u",
                                                             "-z",
                                                             "-e",
                                                             "-h",
                                                             "-B",
                                                             "-arch",
                                                             "-target",
                                                             "-aux-info",
                                                             "-dumpbase",
                                                             "-dumpdir",
                                                             "-dumpbase-ext",
                                                             "-wrapper",
                                                             "-specs",
                                                             "--param",
                                                             "--sysroot",
                                                             "-include-pch"};
  return table;
}

bool is_preprocess_option(std::string_view word) {
  static constexpr std::array kPrefixes = {
      "-I",       "-D",       "-U",           "-include", "-isystem", "-iquote",       "-idirafter",
      "-imacros", "-iprefix", "-iwithprefix", "-M",       "-Wp,",     "-Xpreprocessor"};
  return std::any_of(kPrefixes.begin(), kPrefixes.end(),
                     [&](const char* p) { return starts_with(word, p); });
}
bool is_link_option(std::string_view word) {
  static constexpr std::array kPrefixes = {"-l", "-L", "-Wl,", "-Xlinker", "-T", "-z"};
  static constexpr std::array kWords = {"-shared",
                                        "-static",
                                        "-rdynamic",
                                        "-pie",
                                        "-s",
                                        "-u",
                                        "-e",
                                        "-h",
                                        "-nostdlib",
                                        "-nodefaultlibs",
                                        "-nostartfiles",
                                        "-static-libgcc",
                                        "-static-libstdc++"};
  return std::any_of(kPrefixes.begin(), kPrefixes.end(),
                     [&](const char* p) { return starts_with(word, p); }) ||
         std::find(kWords.begin(), kWords.end(), word) != kWords.end();
}
bool is_source(std::string_view word) {
  static constexpr std::array kEndings = {".cpp", ".cc", ".cxx", ".c++",
                                          ".C",   ".cp", ".asc", ".cce"};
  return std::any_of(kEndings.begin(), kEndings.end(),
                     [&](const char* e) { return ends_with(word, e); });
}

// Words of a response file: white space separates, quotes join, a backslash takes the next
// character as it is.
Status read_response(const std::string& name, std::vector<std::string>& words) {
  std::ifstream file(name);
  if (!file) return SYMM_ERROR(kInvalidParam, "cannot read the response file {}", name);
  std::stringstream content;
  content << file.rdbuf();
  const std::string text = content.str();
  std::string word;
  bool open = false;
  char quote = 0;
  for (size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (c == '\\' && i + 1 < text.size()) {
      word += text[++i];
      open = true;
    } else if (quote != 0) {
      if (c == quote) {
        quote = 0;
      } else {
        word += c;
      }
    } else if (c == '"' || c == '\'') {
      quote = c;
      open = true;
    } else if (c == ' ' || c == '\t' || c == '\n' || c == '\r') {
      if (open) words.push_back(word);
      word.clear();
      open = false;
    } else {
      word += c;
      open = true;
    }
  }
  if (open) words.push_back(word);
  return {};
}

class Parser {
 public:
  explicit Parser(std::vector<std::string> words) : words_(std::move(words)) {}

  Result<CommandLine> run() {
    if (!words_.empty() && words_[0] == "--launcher") {
      if (words_.size() < 2)
        return SYMM_ERROR(kInvalidParam, "--launcher needs the compiler command behind it");
      line_.launcher = true;
      line_.libraries = false;
      line_.compiler = {words_[1]};
      at_ = 2;
    }
    while (at_ < words_.size()) {
      SYMM_TRY(expand());
      if (at_ < words_.size()) SYMM_TRY(next());
    }
    return std::move(line_);
  }

 private:
  Status expand() {
    if (words_[at_].size() < 2 || words_[at_][0] != '@') return {};
    std::vector<std::string> content;
    SYMM_TRY(read_response(words_[at_].substr(1), content));
    const auto place = words_.erase(words_.begin() + static_cast<std::ptrdiff_t>(at_));
    words_.insert(place, content.begin(), content.end());
    return {};
  }

  Status next() {
    const std::string word = words_[at_];
    bool taken = false;
    SYMM_TRY(own_option(word, taken));
    if (taken) return {};
    if (word.empty() || word[0] != '-' || word == "-") {
      const bool source = force_cxx_ || is_source(word);
      ++at_;
      add({word}, source ? Role::kSource : Role::kInput);
      return {};
    }
    return compiler_option(word);
  }

  // `--name=value` or `--name value`
  bool value_of(const std::string& word, std::string_view name, std::string& value) {
    if (word == name && at_ + 1 < words_.size()) {
      value = words_[at_ + 1];
      at_ += 2;
      return true;
    }
    if (starts_with(word, std::string(name) + "=")) {
      value = word.substr(name.size() + 1);
      ++at_;
      return true;
    }
    return false;
  }

  Status own_option(const std::string& word, bool& taken) {
    taken = true;
    std::string value;
    if (value_of(word, "--npu-arch", value)) return set_arch(value);
    if (value_of(word, "--keep", value)) {
      line_.keep = value;
      return {};
    }
    if (value_of(word, "--compiler", value)) {
      line_.compiler = {value};
      return {};
    }
    if (word == "-mllvm") {
      at_ += 2;
      return {};
    }
    if (word == "-x" && at_ + 1 < words_.size() && set_language(words_[at_ + 1])) {
      at_ += 2;
      return {};
    }
    ++at_;
    if (word == "-xasc" || word == "-xcce" || word == "-xc++") {
      force_cxx_ = true;
    } else if (starts_with(word, "--cce-")) {
      // options of the device compiler that have no meaning here
    } else if (word == "--no-libraries") {
      line_.libraries = false;
    } else if (word == "--checked") {
      add({"-DSYMM_CHECKED=1"}, Role::kPreprocess);
    } else if (word == "--show-commands") {
      line_.verbose = true;
    } else if (word == "--shmem-help") {
      line_.help = true;
    } else if (word == "--shmem-version") {
      line_.version = true;
    } else {
      --at_;
      taken = false;
    }
    return {};
  }

  bool set_language(const std::string& language) {
    force_cxx_ = language == "c++" || language == "asc" || language == "cce";
    return force_cxx_ || language == "none";
  }

  Status set_arch(const std::string& value) {
    if (value == "dav-2201" || value == "dav-c220" || value == "2201" ||
        starts_with(value, "dav-c220-")) {
      line_.arch = 2201;
    } else if (value == "dav-3510" || value == "dav-c310" || value == "3510" ||
               starts_with(value, "dav-c310-")) {
      line_.arch = 3510;
    } else {
      return SYMM_ERROR(kInvalidParam, "--npu-arch={}: use dav-2201 or dav-3510", value);
    }
    return {};
  }

  Status compiler_option(const std::string& word) {
    std::vector<std::string> option = {word};
    ++at_;
    if (options_with_value().count(word) != 0) {
      if (at_ >= words_.size()) return SYMM_ERROR(kInvalidParam, "{} needs a value", word);
      option.push_back(words_[at_++]);
    }
    if (word == "-c") {
      line_.mode = Mode::kObject;
    } else if (word == "-S") {
      line_.mode = Mode::kAssembly;
    } else if (word == "-fsyntax-only") {
      line_.mode = Mode::kSyntax;
    } else if (word == "-E" || word == "-M" || word == "-MM") {
      line_.mode = Mode::kPreprocess;
      add(option, Role::kBoth);
    } else if (word == "--version" || starts_with(word, "-dump") || starts_with(word, "-print-")) {
      line_.mode = Mode::kQuery;
      add(option, Role::kBoth);
    } else if (word == "-o") {
      line_.output = option[1];
    } else if (starts_with(word, "-o")) {
      line_.output = word.substr(2);
    } else {
      dependency_option(word);
      const Role role = is_link_option(word)         ? Role::kLink
                        : is_preprocess_option(word) ? Role::kPreprocess
                                                     : Role::kBoth;
      add(option, role);
    }
    return {};
  }

  void dependency_option(const std::string& word) {
    if (word == "-MD" || word == "-MMD") line_.dependencies.wanted = true;
    if (starts_with(word, "-MF")) line_.dependencies.has_file = true;
    if (starts_with(word, "-MT") || starts_with(word, "-MQ")) line_.dependencies.has_target = true;
  }

  void add(std::vector<std::string> option, Role role) {
    line_.arguments.push_back({std::move(option), role});
  }

  std::vector<std::string> words_;
  size_t at_ = 0;
  bool force_cxx_ = false;
  CommandLine line_;
};

}  // namespace

bool CommandLine::has(std::string_view word) const {
  return std::any_of(arguments.begin(), arguments.end(), [&](const Argument& argument) {
    return std::find(argument.words.begin(), argument.words.end(), word) != argument.words.end();
  });
}

std::vector<std::string> CommandLine::words(std::initializer_list<Role> roles) const {
  std::vector<std::string> result;
  for (const Argument& argument : arguments) {
    if (std::find(roles.begin(), roles.end(), argument.role) == roles.end()) continue;
    result.insert(result.end(), argument.words.begin(), argument.words.end());
  }
  return result;
}

Result<CommandLine> parse_command_line(const std::vector<std::string>& words) {
  return Parser(words).run();
}

}  // namespace symm::cc
