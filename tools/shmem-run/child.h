// Child: one PE process, in a process group of its own that ends with the launcher.
// Threads: the launcher is single-threaded. Ownership: owns the process until it is reaped, and its
// pipe ends.
#pragma once

#include <sys/types.h>

#include <optional>
#include <string>
#include <vector>

#include "base/status.h"
#include "base/unique_fd.h"

namespace symm::launcher {

struct ChildSetup {
  std::vector<std::string> command;      // program and arguments, substituted
  std::vector<std::string> environment;  // NAME=value, replaces what is inherited
  int stdin_fd = -1;                     // becomes descriptor 0; -1: /dev/null
  int stdout_fd = -1;                    // -1: inherited
  int stderr_fd = -1;
  int keep_fd = -1;    // stays open across exec under its own number
  int processor = -1;  // bound to this processor; -1: not bound
};

class Child {
 public:
  // Starts the program. Fails with the reason when it cannot be executed. The caller's signal mask
  // is emptied in the child. The child is killed when the launcher dies.
  static Result<Child> start(const ChildSetup& setup);

  pid_t pid() const { return pid_; }
  bool running() const { return running_; }
  // Sends a signal to the whole group.
  void signal(int number) const;
  // Reaps the child if it has ended: kills what is left of its group and returns the wait status.
  std::optional<int> try_reap();
  // Waits for a child that was sent SIGKILL, which cannot be refused.
  void reap_killed();

 private:
  pid_t pid_ = -1;
  bool running_ = false;
};

// The exit code a shell would show: the status itself, or 128 + signal.
int exit_code_of(int wait_status);
// "exited with code 3" or "was ended by signal 9 (Killed)".
std::string describe_exit(int wait_status);

}  // namespace symm::launcher
