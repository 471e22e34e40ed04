// A child process with a pipe to its input and from its output, for tests. Killed and reaped by the
// destructor.
#pragma once

#include <fcntl.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <optional>
#include <string>
#include <vector>

#include "base/deadline.h"
#include "base/unique_fd.h"

extern char** environ;

namespace symm::test {

class Child {
 public:
  // `environment` is added to ours. stderr goes where ours goes.
  Child(const std::vector<std::string>& command, const std::vector<std::string>& environment = {}) {
    int in[2];
    int out[2];
    EXPECT_EQ(pipe2(in, O_CLOEXEC), 0);
    EXPECT_EQ(pipe2(out, O_CLOEXEC), 0);
    input_.reset(in[1]);
    output_.reset(out[0]);
    UniqueFd child_in(in[0]);
    UniqueFd child_out(out[1]);
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, child_in.get(), 0);
    posix_spawn_file_actions_adddup2(&actions, child_out.get(), 1);
    std::vector<char*> args;
    for (const std::string& word : command) args.push_back(const_cast<char*>(word.c_str()));
    args.push_back(nullptr);
    std::vector<char*> variables;
    for (const std::string& item : environment)
      variables.push_back(const_cast<char*>(item.c_str()));
    for (char** entry = environ; *entry != nullptr; ++entry) variables.push_back(*entry);
    variables.push_back(nullptr);
    EXPECT_EQ(posix_spawn(&pid_, args[0], &actions, nullptr, args.data(), variables.data()), 0);
    posix_spawn_file_actions_destroy(&actions);
  }
  Child(const Child&) = delete;
  Child& operator=(const Child&) = delete;
  ~Child() {
    if (pid_ <= 0) return;
    ::kill(pid_, SIGKILL);
    waitpid(pid_, nullptr, 0);
  }

  void kill(int signal) { ::kill(pid_, signal); }
  void answer() { EXPECT_EQ(write(input_.get(), "\n", 1), 1); }

  // The next line of output; nothing at the end of output or after the limit.
  std::optional<std::string> line(std::chrono::milliseconds limit = std::chrono::seconds(30)) {
    auto deadline = Deadline::after(limit);
    while (true) {
      if (auto end = buffer_.find('\n'); end != std::string::npos) {
        std::string out = buffer_.substr(0, end);
        buffer_.erase(0, end + 1);
        return out;
      }
      pollfd item{output_.get(), POLLIN, 0};
      if (poll(&item, 1, static_cast<int>(deadline.left().count())) <= 0) return std::nullopt;
      char piece[1024];
      ssize_t count = read(output_.get(), piece, sizeof piece);
      if (count <= 0) return std::nullopt;
      buffer_.append(piece, static_cast<size_t>(count));
    }
  }
  // The first line that begins so; fails the test when the output ends before.
  std::string expect(const std::string& begin) {
    std::string seen;
    while (auto next = line()) {
      if (next->starts_with(begin)) return *next;
      seen += *next + "\n";
    }
    ADD_FAILURE() << "no line '" << begin << "'; seen: " << seen;
    return "";
  }
  // Exit code, or 128 + signal.
  int wait() {
    int status = 0;
    waitpid(pid_, &status, 0);
    pid_ = -1;
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  }

 private:
  pid_t pid_ = -1;
  UniqueFd input_;
  UniqueFd output_;
  std::string buffer_;
};

}  // namespace symm::test
