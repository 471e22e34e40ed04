// Trace: what this PE did when, as spans on rows (host thread, stream, kernel core, engine queue),
// for a browser's trace viewer. Off unless SHMEM_TRACE names a file; then start() at init switches
// it on, and off it costs one relaxed load where a span would begin. Threads: any. Rows and spans
// live in this process until finish() adds them to the file that all PEs of the job share.
#pragma once

#include <atomic>
#include <cstdint>
#include <string>

#include "base/status.h"

namespace symm::trace {

extern std::atomic<bool> g_on;
// relaxed: whether to record; nothing is handed over by it.
inline bool on() { return g_on.load(std::memory_order_relaxed); }

// At init, before the PEs meet: PE 0 of the job empties the file, so that it holds one job. Counts:
// several instances of a process need as many finish(). kInternal with the path when the file
// cannot be opened.
Status start(int pe, bool new_job);
// Adds what was recorded since the last time to the file, under a lock of the file; after each call
// the file is complete JSON. The last one switches the recording off.
Status finish();

uint64_t now_ns();

// The number of the row with this name, made on first use.
int row(const std::string& name);
std::string row_name(int row);
// The row of this thread: that of the innermost RowScope, else one of its own.
int own_row();

// While it lives, spans of this thread go to another row. A negative row: nothing changes.
class RowScope {
 public:
  explicit RowScope(int row);
  RowScope(const RowScope&) = delete;
  RowScope& operator=(const RowScope&) = delete;
  ~RowScope();

 private:
  int before_;
};

// Numbers shown with a span; negative ones are left out.
struct Details {
  int64_t peer = -1;
  int64_t bytes = -1;
};

void add(int row, const char* kind, std::string name, uint64_t begin_ns, uint64_t end_ns,
         Details details = {});

// From construction to destruction, on a row or, with -1, on that of the thread. kind and name are
// static or outlive it.
class Span {
 public:
  Span(const char* kind, const char* name, int row = -1, Details details = {}) {
    if (on()) [[unlikely]]
      begin(kind, name, row, details);
  }
  Span(const Span&) = delete;
  Span& operator=(const Span&) = delete;
  ~Span() {
    if (begin_ns_ != 0) [[unlikely]]
      end();
  }

 private:
  void begin(const char* kind, const char* name, int row, Details details);
  void end();

  uint64_t begin_ns_ = 0;  // 0: not recorded
  const char* kind_;
  const char* name_;
  int row_;
  Details details_;
};

}  // namespace symm::trace
