// DefaultStream: the stream on which the library queues for the user, and the notifies that kernels
// record, both made through the public runtime interface. Threads: open and close by the owner,
// drain by any.
#pragma once

#include <array>

#include "base/status.h"
#include "host_device/shmem_common_types.h"

namespace symm {

class DefaultStream {
 public:
  ~DefaultStream() { close(); }
  // Uses the device of this thread; when it has none, sets device `pe` modulo the number of
  // devices. Without any device there is no stream, and calls that need one say why.
  void open(int pe);
  void close();
  // Blocks until everything queued on the stream is done; the error of a task that failed.
  Status drain();

  void* stream() const { return stream_; }
  void* const* notifies() const { return notifies_.data(); }
  // kNotSupported with the reason when there is no stream.
  Status available() const;

 private:
  int take_device(int pe);

  void* stream_ = nullptr;
  std::array<void*, ACLSHMEM_MAX_AIV_PER_NPU> notifies_{};
  int device_ = -1;  // held by us, to be reset
  int error_ = 0;
};

}  // namespace symm
