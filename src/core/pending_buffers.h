// PendingBuffers: the local buffers of non-blocking transfers that nobody has completed yet, kept
// at SHMEM_CHECK=2 to find buffers that are used too early. A put's source must not change before
// quiet, a get's destination must be neither read nor written. Threads: any.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <mutex>
#include <span>

#include "base/status.h"

namespace symm {

class PendingBuffers {
 public:
  enum class Use { kReads, kWrites };
  // What a transfer does with its local buffer, and for messages who asked.
  struct Buffer {
    const char* call;  // static storage
    const void* address;
    size_t bytes;
    int pe;  // the other side
    Use use;
  };

  // Keeps the buffer and a sum of what it holds; its number, never 0. Only the newest kMost are
  // kept.
  uint64_t add(const Buffer& buffer);
  // kInvalidParam when `buffer` touches one that is kept in a way that is not allowed yet.
  Status conflict(const Buffer& buffer, int my_pe) const;
  // They are complete: all of them, those to some PEs, the sources of puts, one. kInvalidParam when
  // the source of one has changed since it was given.
  Status complete(const char* call, int my_pe);
  Status complete_to(const char* call, int my_pe, std::span<const int> pes);
  Status complete_sources(const char* call, int my_pe);
  Status complete_one(const char* call, int my_pe, uint64_t number);

 private:
  static constexpr size_t kMost = 4096;
  struct Entry {
    Buffer buffer;
    uint64_t number;
    uint64_t sum;
  };
  template <typename Chosen>
  Status complete_if(const char* call, int my_pe, Chosen chosen);

  mutable std::mutex mutex_;
  std::deque<Entry> entries_;
  uint64_t next_ = 1;
};

}  // namespace symm
