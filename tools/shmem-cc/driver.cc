#include "shmem-cc/driver.h"

#include <unistd.h>

#include <cstdio>
#include <filesystem>
#include <map>

#include "base/config.h"
#include "shmem-cc/lexer.h"
#include "shmem-cc/process.h"
#include "shmem-cc/rewriter.h"

namespace symm::cc {
namespace {

namespace fs = std::filesystem;
using Words = std::vector<std::string>;

void append(Words& words, const Words& more) {
  words.insert(words.end(), more.begin(), more.end());
}

class Driver {
 public:
  Driver(const CommandLine& line, const Installation& installation)
      : line_(line), installation_(installation) {
    const std::string chosen = config::text("SHMEM_CXX");
    compiler_ = !line.compiler.empty() ? line.compiler
                : !chosen.empty()      ? Words{chosen}
                                       : Words{installation.default_compiler};
    clang_ = compiler_.back().find("clang") != std::string::npos;
  }

  int run() {
    size_t sources = 0;
    for (const Argument& argument : line_.arguments)
      sources += argument.role == Role::kSource ? 1 : 0;
    if (line_.mode == Mode::kQuery || line_.mode == Mode::kPreprocess ||
        (sources == 0 && line_.mode != Mode::kLink)) {
      return plain();
    }
    if (sources > 1 && line_.mode != Mode::kLink && !line_.output.empty()) {
      return report(
          SYMM_ERROR(kInvalidParam, "-o with -c or -S takes one input file, not {}", sources));
    }
    if (Status status = folder_.open(); !status.ok()) return report(status);
    for (const Argument& argument : line_.arguments) {
      if (argument.role != Role::kSource) continue;
      if (const int code = compile(argument.words[0]); code != 0) return code;
    }
    return line_.mode == Mode::kLink ? link() : 0;
  }

 private:
  int report(const Status& status) const {
    std::fprintf(stderr, "shmem-cc: error: %.*s\n", static_cast<int>(status.text().size()),
                 status.text().data());
    return 1;
  }

  int execute(const Words& command) const {
    if (line_.verbose) std::fprintf(stderr, "%s\n", quoted_command(command).c_str());
    Result<int> code = run_command(command);
    return code.ok() ? code.value() : report(code.status());
  }

  // Macros that gate kernel code, unless the user set them.
  Words defines() const {
    const bool newer = line_.arch == 3510;
    const std::vector<std::pair<std::string, std::string>> wanted = {
        {"SYMM_SHMEM_CC", "1"},
        {"__CCE_AICORE__", newer ? "310" : "220"},
        {"__NPU_ARCH__", newer ? "3510" : "2201"},
        {newer ? "__DAV_C310_VEC__" : "__DAV_C220_VEC__", "1"}};
    Words result;
    for (const auto& [name, value] : wanted) {
      bool given = false;
      for (const std::string& word : line_.words({Role::kPreprocess})) {
        given |= word == "-D" + name || word.rfind("-D" + name + "=", 0) == 0;
      }
      if (!given) result.push_back("-D" + name + "=" + value);
    }
    return result;
  }

  Words include_roots() const {
    Words result;
    if (line_.launcher) return result;
    for (const std::string& root : installation_.include_roots) append(result, {"-isystem", root});
    return result;
  }

  // The compiler with our macros, and everything else as it came.
  int plain() const {
    Words command = compiler_;
    if (line_.mode != Mode::kQuery) append(command, defines());
    if (line_.mode == Mode::kObject) command.push_back("-c");
    if (line_.mode == Mode::kAssembly) command.push_back("-S");
    if (line_.mode == Mode::kSyntax) command.push_back("-fsyntax-only");
    for (const Argument& argument : line_.arguments) {
      if (argument.role == Role::kSource) append(command, {"-x", "c++"});
      append(command, argument.words);
      if (argument.role == Role::kSource) append(command, {"-x", "none"});
    }
    if (line_.mode != Mode::kQuery) append(command, include_roots());
    if (!line_.output.empty()) append(command, {"-o", line_.output});
    return execute(command);
  }

  std::string output_of(const std::string& source) const {
    const std::string stem = fs::path(source).stem().string();
    switch (line_.mode) {
      case Mode::kLink:
        return folder_.file(std::to_string(objects_.size()) + "-" + stem + ".o");
      case Mode::kObject:
        return line_.output.empty() ? stem + ".o" : line_.output;
      case Mode::kAssembly:
        return line_.output.empty() ? stem + ".s" : line_.output;
      default:
        return "";
    }
  }

  // Dependency files are named after the final output, not after our temporary one.
  Words dependency_words(const std::string& source, const std::string& output) const {
    Words result;
    if (!line_.dependencies.wanted) return result;
    const std::string named = line_.mode != Mode::kLink ? output
                              : line_.output.empty()    ? fs::path(source).stem().string() + ".o"
                                                        : line_.output;
    if (!line_.dependencies.has_file)
      append(result, {"-MF", fs::path(named).replace_extension(".d").string()});
    if (!line_.dependencies.has_target) append(result, {"-MQ", named});
    return result;
  }

  int preprocess(const std::string& source, const std::string& result, const std::string& output,
                 bool launch_header) const {
    Words command = compiler_;
    append(command, defines());
    if (launch_header) append(command, {"-include", kLaunchHeader});
    append(command, line_.words({Role::kBoth, Role::kPreprocess}));
    append(command, include_roots());
    append(command, dependency_words(source, output));
    if (clang_) command.push_back("-Qunused-arguments");
    append(command, {"-E", "-x", "c++", source, "-o", result});
    return execute(command);
  }

  int compile(const std::string& source) {
    const std::string text_file = folder_.file("preprocessed.ii");
    const std::string output = output_of(source);
    if (line_.mode == Mode::kLink) objects_[source] = output;
    if (const int code = preprocess(source, text_file, output, false); code != 0) return code;
    Result<std::string> text = read_file(text_file);
    if (!text.ok()) return report(text.status());
    Rewritten rewritten = rewrite(text.value());
    if (rewritten.needs_launch_header && rewritten.errors.empty()) {
      if (const int code = preprocess(source, text_file, output, true); code != 0) return code;
      text = read_file(text_file);
      if (!text.ok()) return report(text.status());
      rewritten = rewrite(text.value());
    }
    for (const RewriteError& error : rewritten.errors) {
      const SourceLocation place = locate(text.value(), error.offset);
      std::fprintf(stderr, "%s:%llu: error: %s\n", place.file.c_str(),
                   static_cast<unsigned long long>(place.line), error.text.c_str());
    }
    if (!rewritten.errors.empty()) return 1;
    if (!rewritten.changed) return compile_plain(source, output);
    if (!line_.keep.empty()) {
      if (Status status = write_file(line_.keep, rewritten.text); !status.ok())
        return report(status);
    }
    const std::string input = folder_.file(fs::path(source).stem().string() + ".ii");
    if (Status status = write_file(input, rewritten.text); !status.ok()) return report(status);
    return compile_rewritten(input, output);
  }

  void add_mode(Words& command, const std::string& output) const {
    command.push_back(line_.mode == Mode::kSyntax     ? "-fsyntax-only"
                      : line_.mode == Mode::kAssembly ? "-S"
                                                      : "-c");
    if (!output.empty()) append(command, {"-o", output});
  }

  // Nothing in it is for us.
  int compile_plain(const std::string& source, const std::string& output) const {
    Words command = compiler_;
    append(command, defines());
    append(command, line_.words({Role::kBoth, Role::kPreprocess}));
    append(command, include_roots());
    append(command, dependency_words(source, output));
    if (clang_) command.push_back("-Qunused-arguments");
    add_mode(command, output);
    append(command, {"-x", "c++", source});
    return execute(command);
  }

  int compile_rewritten(const std::string& input, const std::string& output) const {
    Words command = compiler_;
    append(command, line_.words({Role::kBoth}));
    // The comments that mark intended fall-through are gone after preprocessing.
    command.push_back("-Wno-implicit-fallthrough");
    if (clang_) command.push_back("-Qunused-arguments");
    add_mode(command, output);
    append(command, {"-x", "c++-cpp-output", input});
    return execute(command);
  }

  int link() const {
    Words command = compiler_;
    for (const Argument& argument : line_.arguments) {
      if (argument.role == Role::kSource) {
        command.push_back(objects_.at(argument.words[0]));
      } else if (argument.role != Role::kPreprocess) {
        append(command, argument.words);
      }
    }
    if (!line_.output.empty()) append(command, {"-o", line_.output});
    append(command, libraries());
    return execute(command);
  }

  Words libraries() const {
    Words result;
    if (!line_.libraries || installation_.library_folder.empty() || line_.has("-nostdlib"))
      return result;
    append(result, {"-L" + installation_.library_folder,
                    "-Wl,-rpath," + installation_.library_folder, "-Wl,--as-needed"});
    for (const char* name : {"shmem", "ascendcl", "shmem_utils"}) {
      std::error_code ignored;
      if (fs::exists(installation_.library_folder + "/lib" + name + ".so", ignored))
        append(result, {std::string("-l") + name});
    }
    append(result, {"-Wl,--no-as-needed"});
    return result;
  }

  const CommandLine& line_;
  const Installation& installation_;
  Words compiler_;
  bool clang_ = false;
  TemporaryFolder folder_;
  std::map<std::string, std::string> objects_;
};

}  // namespace

Installation find_installation() {
  Installation found;
  found.default_compiler = SYMM_CC_COMPILER;
  std::error_code failed;
  const fs::path program = fs::read_symlink("/proc/self/exe", failed);
  const fs::path prefix = program.parent_path().parent_path();
  fs::path include = prefix / "include";
  if (failed || !fs::exists(include / "kernel_operator.h", failed))
    include = SYMM_CC_SOURCE_INCLUDE;
  for (const char* root : {"", "device", "device/impl", "device_simt", "host"}) {
    const fs::path folder = root[0] == '\0' ? include : include / root;
    if (fs::exists(folder, failed)) found.include_roots.push_back(folder.string());
  }
  for (const char* folder : {"lib", SYMM_CC_LIBDIR}) {
    if (fs::exists(prefix / folder / "libascendcl.so", failed))
      found.library_folder = (prefix / folder).string();
  }
  return found;
}

int run(const CommandLine& line, const Installation& installation) {
  return Driver(line, installation).run();
}

}  // namespace symm::cc
