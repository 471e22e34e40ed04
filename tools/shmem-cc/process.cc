#include "shmem-cc/process.h"

#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>

extern char** environ;

namespace symm::cc {

Result<int> run_command(const std::vector<std::string>& command) {
  std::vector<char*> arguments;
  for (const std::string& word : command) arguments.push_back(const_cast<char*>(word.c_str()));
  arguments.push_back(nullptr);
  // Ctrl-C ends the compiler; we live on to remove our files. The child gets the default action
  // back.
  struct sigaction ignore = {};
  struct sigaction before = {};
  ignore.sa_handler = SIG_IGN;
  sigaction(SIGINT, &ignore, &before);
  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  sigset_t defaults;
  sigemptyset(&defaults);
  sigaddset(&defaults, SIGINT);
  posix_spawnattr_setsigdefault(&attributes, &defaults);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGDEF);
  pid_t pid = 0;
  const int failed =
      posix_spawnp(&pid, arguments[0], nullptr, &attributes, arguments.data(), environ);
  posix_spawnattr_destroy(&attributes);
  int status = 0;
  if (failed == 0) {
    while (waitpid(pid, &status, 0) < 0 && errno == EINTR) {
    }
  }
  sigaction(SIGINT, &before, nullptr);
  if (failed != 0) {
    return SYMM_ERROR(kInvalidParam,
                      "cannot start the compiler {}: {}; choose one with --compiler or SHMEM_CXX",
                      command[0], std::strerror(failed));
  }
  return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

std::string quoted_command(const std::vector<std::string>& command) {
  std::string line;
  for (const std::string& word : command) {
    if (!line.empty()) line += ' ';
    if (word.find_first_of(" \t'\"\\$`(){}<>|&;*?") == std::string::npos && !word.empty()) {
      line += word;
      continue;
    }
    line += '\'';
    for (const char c : word) line += c == '\'' ? std::string("'\\''") : std::string(1, c);
    line += '\'';
  }
  return line;
}

TemporaryFolder::~TemporaryFolder() {
  std::error_code ignored;
  if (!path_.empty()) std::filesystem::remove_all(path_, ignored);
}

Status TemporaryFolder::open() {
  std::error_code failed;
  std::string pattern = (std::filesystem::temp_directory_path(failed) / "shmem-cc-XXXXXX").string();
  if (failed || mkdtemp(pattern.data()) == nullptr) {
    return SYMM_ERROR(kInvalidParam, "cannot make a temporary folder {}: {}; is TMPDIR right?",
                      pattern, failed ? failed.message() : std::strerror(errno));
  }
  path_ = pattern;
  return {};
}

Result<std::string> read_file(const std::string& name) {
  std::FILE* file = std::fopen(name.c_str(), "rb");
  if (file == nullptr)
    return SYMM_ERROR(kInvalidParam, "cannot read {}: {}", name, std::strerror(errno));
  std::string content;
  std::error_code ignored;
  content.resize(std::filesystem::file_size(name, ignored));
  const size_t got = std::fread(content.data(), 1, content.size(), file);
  std::fclose(file);
  content.resize(got);
  return content;
}

Status write_file(const std::string& name, const std::string& content) {
  std::FILE* file = std::fopen(name.c_str(), "wb");
  if (file == nullptr)
    return SYMM_ERROR(kInvalidParam, "cannot write {}: {}", name, std::strerror(errno));
  const size_t put = std::fwrite(content.data(), 1, content.size(), file);
  if (std::fclose(file) != 0 || put != content.size()) {
    return SYMM_ERROR(kInvalidParam, "cannot write {}: {}", name, std::strerror(errno));
  }
  return {};
}

}  // namespace symm::cc
