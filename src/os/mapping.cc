#include "os/mapping.h"

#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

namespace symm::os {
namespace {

std::string limit_text(size_t bytes) {
  rlimit limit{};
  if (::getrlimit(RLIMIT_AS, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY) {
    return fmt::format("{} bytes of addresses wanted, RLIMIT_AS (ulimit -v) is {} bytes", bytes,
                       limit.rlim_cur);
  }
  return fmt::format("{} bytes of addresses wanted, a process has 2^47", bytes);
}

}  // namespace

size_t page_size() {
  static const size_t size = static_cast<size_t>(::sysconf(_SC_PAGESIZE));
  return size;
}

Mapping& Mapping::operator=(Mapping&& other) noexcept {
  if (this != &other) {
    reset();
    address_ = std::exchange(other.address_, nullptr);
    bytes_ = std::exchange(other.bytes_, 0);
  }
  return *this;
}

Result<Mapping> Mapping::reserve(size_t bytes, size_t alignment) {
  const size_t page = page_size();
  bytes = round_up(bytes, page);
  alignment = alignment < page ? page : alignment;
  const size_t wanted = bytes + alignment - page;
  if (wanted < bytes) return SYMM_ERROR(kNoMemory, "address range of {} bytes overflows", bytes);
  void* raw =
      ::mmap(nullptr, wanted, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (raw == MAP_FAILED) {
    return SYMM_ERROR(kNoMemory, "cannot reserve an address range: {}; {}", std::strerror(errno),
                      limit_text(wanted));
  }
  auto* start = static_cast<std::byte*>(raw);
  const auto number = reinterpret_cast<uintptr_t>(raw);
  const size_t front = round_up(number, alignment) - number;
  if (front > 0) ::munmap(start, front);
  const size_t back = wanted - front - bytes;
  if (back > 0) ::munmap(start + front + bytes, back);
  return Mapping(start + front, bytes);
}

Status Mapping::map_shared(size_t offset, size_t bytes, int fd, size_t fd_offset,
                           bool keep_out_of_dumps) {
  if (offset > bytes_ || bytes > bytes_ - offset) {
    return SYMM_ERROR(kInternal, "mapping of {} bytes at {} leaves the range of {} bytes", bytes,
                      offset, bytes_);
  }
  void* at = address_ + offset;
  void* got = ::mmap(at, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED | MAP_NORESERVE, fd,
                     static_cast<off_t>(fd_offset));
  if (got == MAP_FAILED) {
    return SYMM_ERROR(kNoMemory, "cannot map {} bytes of shared memory: {}; {}", bytes,
                      std::strerror(errno), limit_text(bytes));
  }
  // Only advice: a kernel without it writes larger core files.
  if (keep_out_of_dumps) (void)::madvise(at, bytes, MADV_DONTDUMP);
  return {};
}

Status Mapping::unmap(size_t offset, size_t bytes) {
  void* got = ::mmap(address_ + offset, bytes, PROT_NONE,
                     MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED | MAP_NORESERVE, -1, 0);
  if (got == MAP_FAILED) {
    return SYMM_ERROR(kInternal, "cannot take out a mapping: {}", std::strerror(errno));
  }
  return {};
}

void Mapping::reset() {
  if (address_ != nullptr) ::munmap(address_, bytes_);
  address_ = nullptr;
  bytes_ = 0;
}

}  // namespace symm::os
