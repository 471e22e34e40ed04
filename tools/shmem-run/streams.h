// The launcher's end of the PEs' standard streams: prefixed output and the forwarded terminal.
// Threads: one. Ownership: each object owns its pipe end.
#pragma once

#include <string>

#include "base/unique_fd.h"

namespace symm::launcher {

// Writes everything to fd. False when the reader is gone.
bool write_all(int fd, std::string_view text);

// Reads one output stream of one PE and copies it line by line, each with a prefix, so that lines
// of several PEs do not mix. A line longer than 64 KiB is copied in pieces.
class PrefixedStream {
 public:
  PrefixedStream(UniqueFd source, int target, std::string prefix);

  int fd() const { return source_.get(); }
  bool open() const { return source_.valid(); }
  // Reads what is there; at the end of the stream copies the rest and closes. False when the
  // target's reader is gone.
  bool pump();
  // Reads until nothing more is there; for the moment when the PE has ended. False as above.
  bool drain();

 private:
  bool copy_lines(bool last);

  UniqueFd source_;
  int target_;
  std::string prefix_;
  std::string pending_;
};

// Copies a terminal to PE 0. PE 0 runs in a process group of its own, so the terminal would stop it
// if it read for itself; files and pipes are handed to PE 0 as they are.
class TerminalInput {
 public:
  // Nothing to do unless standard input is a terminal and this process is in its foreground.
  void connect(UniqueFd pipe_to_pe0);

  // The descriptor to wait on for reading, or for writing while input is pending; -1 when neither.
  int read_fd() const;
  int write_fd() const;
  void pump_read();
  void pump_write();

 private:
  UniqueFd sink_;
  std::string pending_;
  bool ended_ = false;
};

}  // namespace symm::launcher
