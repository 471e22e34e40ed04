// Running the compiler, and temporary files.
#pragma once

#include <string>
#include <vector>

#include "base/status.h"

namespace symm::cc {

// Runs the command to its end with our standard streams; returns its exit code, 128 + signal if a
// signal ended it. The code 127 with an error text stands for a command that could not be started.
Result<int> run_command(const std::vector<std::string>& command);

// The command as one line that a shell would take.
std::string quoted_command(const std::vector<std::string>& command);

// A folder that is removed with its content at the end.
class TemporaryFolder {
 public:
  TemporaryFolder() = default;
  ~TemporaryFolder();
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;

  Status open();
  std::string file(const std::string& name) const { return path_ + "/" + name; }

 private:
  std::string path_;
};

Result<std::string> read_file(const std::string& name);
Status write_file(const std::string& name, const std::string& content);

}  // namespace symm::cc
