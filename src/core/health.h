// Health: whether the job is still whole, and the first error of the instance. The failure word is
// what every wait looks at; it goes from 0 to 1 once and stays. Threads: any. lose() is called from
// the bootstrap plug-in's thread.
#pragma once

#include <cstdint>
#include <mutex>
#include <string>

#include "base/status.h"
#include "host_device/symm_wait_abi.h"

namespace symm {

class Health {
 public:
  // Declares the job broken and wakes the waits of this PE. Only the first call counts.
  void lose(Code code, int pe, std::string text);
  bool lost() const;
  // The reason, empty while all is well.
  std::string why() const;
  int lost_pe() const;
  // A failed Status when the job is broken.
  Status check() const;

  const uint32_t* word() const { return &word_; }
  // Whom to wake; null until the control page exists and after it is gone.
  void set_events(symm_event_count* events);

  // Keeps the first error of calls that cannot return one. True when it was the first.
  bool record(const Status& status);
  Status first_error() const;
  void clear_error();

 private:
  uint32_t word_ = 0;  // atomic
  mutable std::mutex mutex_;
  Code code_ = Code::kOk;
  int pe_ = -1;
  std::string why_;
  symm_event_count* events_ = nullptr;
  Status first_;
};

}  // namespace symm
