#include "core/pending_buffers.h"

#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <optional>

namespace symm {
namespace {

constexpr uint64_t kSumStart = 0xcbf29ce484222325u;
constexpr uint64_t kSumFactor = 0x100000001b3u;

uint64_t add_to_sum(uint64_t sum, const unsigned char* bytes, size_t count) {
  for (size_t i = 0; i < count; ++i) sum = (sum ^ bytes[i]) * kSumFactor;
  return sum;
}

// Reads through the kernel, since the buffer may be gone: nothing when it is not mapped any more.
std::optional<uint64_t> sum_of(const void* address, size_t bytes) {
  std::array<unsigned char, 16384> copy;
  uint64_t sum = kSumStart;
  auto from = reinterpret_cast<uintptr_t>(address);
  while (bytes > 0) {
    const size_t part = std::min(bytes, copy.size());
    iovec local{copy.data(), part};
    iovec remote{reinterpret_cast<void*>(from), part};  // NOLINT: an address as the kernel takes it
    if (::process_vm_readv(::getpid(), &local, 1, &remote, 1, 0) != static_cast<ssize_t>(part)) {
      if (errno == EFAULT) return std::nullopt;
      // not allowed here (seccomp): then directly
      std::memcpy(copy.data(), remote.iov_base, part);
    }
    sum = add_to_sum(sum, copy.data(), part);
    from += part;
    bytes -= part;
  }
  return sum;
}

bool touches(const PendingBuffers::Buffer& a, const PendingBuffers::Buffer& b) {
  const auto first = reinterpret_cast<uintptr_t>(a.address);
  const auto second = reinterpret_cast<uintptr_t>(b.address);
  return first < second + b.bytes && second < first + a.bytes;
}

}  // namespace

uint64_t PendingBuffers::add(const Buffer& buffer) {
  const uint64_t sum = buffer.use == Use::kReads
                           ? sum_of(buffer.address, buffer.bytes).value_or(kSumStart)
                           : kSumStart;
  std::lock_guard lock(mutex_);
  if (entries_.size() == kMost) entries_.pop_front();
  entries_.push_back({buffer, next_, sum});
  return next_++;
}

Status PendingBuffers::conflict(const Buffer& buffer, int my_pe) const {
  std::lock_guard lock(mutex_);
  for (const Entry& entry : entries_) {
    const Buffer& busy = entry.buffer;
    if (busy.use == Use::kReads && buffer.use == Use::kReads) continue;
    if (!touches(busy, buffer)) continue;
    return SYMM_ERROR(
        kInvalidParam,
        "{} on PE {}: {} {} bytes at {}, which {} to PE {} still {} ({} bytes at {}); "
        "call aclshmem_quiet in between",
        buffer.call, my_pe, buffer.use == Use::kReads ? "reads" : "writes", buffer.bytes,
        buffer.address, busy.call, busy.pe, busy.use == Use::kReads ? "reads" : "writes",
        busy.bytes, busy.address);
  }
  return {};
}

template <typename Chosen>
Status PendingBuffers::complete_if(const char* call, int my_pe, Chosen chosen) {
  std::lock_guard lock(mutex_);
  Status first;
  std::erase_if(entries_, [&](const Entry& entry) {
    if (!chosen(entry)) return false;
    const Buffer& buffer = entry.buffer;
    if (buffer.use == Use::kWrites || !first.ok()) return true;
    const std::optional<uint64_t> sum = sum_of(buffer.address, buffer.bytes);
    if (sum == entry.sum) return true;
    first = SYMM_ERROR(kInvalidParam,
                       "{} on PE {}: the {} bytes at {} that {} to PE {} reads {} before they were "
                       "complete; keep a source until aclshmem_quiet",
                       call, my_pe, buffer.bytes, buffer.address, buffer.call, buffer.pe,
                       sum ? "were changed" : "were given back");
    return true;
  });
  return first;
}

Status PendingBuffers::complete(const char* call, int my_pe) {
  return complete_if(call, my_pe, [](const Entry&) { return true; });
}

Status PendingBuffers::complete_to(const char* call, int my_pe, std::span<const int> pes) {
  return complete_if(call, my_pe, [&](const Entry& entry) {
    return std::find(pes.begin(), pes.end(), entry.buffer.pe) != pes.end();
  });
}

Status PendingBuffers::complete_sources(const char* call, int my_pe) {
  return complete_if(call, my_pe,
                     [](const Entry& entry) { return entry.buffer.use == Use::kReads; });
}

Status PendingBuffers::complete_one(const char* call, int my_pe, uint64_t number) {
  return complete_if(call, my_pe, [=](const Entry& entry) { return entry.number == number; });
}

}  // namespace symm
