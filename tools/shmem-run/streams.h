// The launcher's end of the PEs' standard streams.
// Threads: one. Ownership: each object owns its pipe end.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "base/unique_fd.h"

namespace symm::launcher {

// Writes everything to fd. False when the reader is gone.
bool write_all(int fd, std::string_view text);

// One output stream of one PE on its way to ours: as it comes, or line by line with a prefix, so
// that lines of several PEs do not mix. A line longer than 64 KiB is copied in pieces.
class OutputCopy {
 public:
  OutputCopy(int target, std::string prefix) : target_(target), prefix_(std::move(prefix)) {}

  // False when the target's reader is gone.
  bool take(std::string_view data);
  // The stream has ended: what is left of a line is copied.
  bool finish() { return copy_lines(true); }

 private:
  bool copy_lines(bool last);

  int target_;
  std::string prefix_;  // empty: as it comes
  std::string pending_;
};

// The reading end of a PE's output.
class OutputPipe {
 public:
  using Sink = std::function<void(std::string_view data)>;  // empty data: the end
  OutputPipe(UniqueFd source, Sink sink);

  int fd() const { return source_.get(); }
  bool open() const { return source_.valid(); }
  void pump();
  // Reads until nothing more is there and closes; for the moment when the PE has ended.
  void drain();

 private:
  UniqueFd source_;
  Sink sink_;
};

// Where standard input goes: the pipe of PE 0, or the part on PE 0's host.
class InputSink {
 public:
  virtual ~InputSink() = default;
  // Takes more now.
  virtual bool ready() const = 0;
  virtual void offer(std::string_view data) = 0;
  virtual void end() = 0;
};

// The writing end of PE 0's input; keeps what the pipe does not take at once.
class InputPipe : public InputSink {
 public:
  void connect(UniqueFd pipe);
  bool ready() const override { return sink_.valid() && pending_.empty(); }
  void offer(std::string_view data) override;
  void end() override;

  // The descriptor to wait on for writing; -1 when nothing is pending.
  int write_fd() const { return sink_.valid() && !pending_.empty() ? sink_.get() : -1; }
  void pump();
  // Bytes taken, or thrown away because PE 0 reads no more, since the last call.
  size_t take_count();

 private:
  UniqueFd sink_;
  std::string pending_;
  bool ending_ = false;
  size_t taken_ = 0;
};

// Our own standard input.
class StandardInput {
 public:
  // The descriptor to wait on; -1 when it has ended, or is a terminal that we are in the background
  // of, where a read would stop the launcher.
  int fd() const;
  // What is there, handed to the sink; its end too.
  void pump(InputSink& sink);

 private:
  bool ended_ = false;
};

}  // namespace symm::launcher
