#include "os/shared_memory.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#ifndef MADV_COLLAPSE
#define MADV_COLLAPSE 25
#endif
#ifndef MFD_NOEXEC_SEAL
#define MFD_NOEXEC_SEAL 8U
#endif

namespace symm::os {
namespace {

constexpr int kSeals = F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL;
constexpr size_t kHugePage = 2UL << 20;

}  // namespace

Result<SharedMemory> SharedMemory::create(const char* name, size_t bytes) {
  SharedMemory memory;
  int fd = ::memfd_create(name, MFD_CLOEXEC | MFD_ALLOW_SEALING | MFD_NOEXEC_SEAL);
  // Kernels before 6.3 do not know the no-exec flag.
  if (fd < 0 && errno == EINVAL) fd = ::memfd_create(name, MFD_CLOEXEC | MFD_ALLOW_SEALING);
  if (fd < 0) return SYMM_ERROR(kNoMemory, "memfd_create: {}", std::strerror(errno));
  memory.fd_.reset(fd);
  memory.bytes_ = bytes;
  if (::ftruncate(fd, static_cast<off_t>(bytes)) != 0) {
    return SYMM_ERROR(kNoMemory, "cannot size shared memory to {} bytes: {}", bytes,
                      std::strerror(errno));
  }
  if (::fcntl(fd, F_ADD_SEALS, kSeals) != 0) {
    return SYMM_ERROR(kInternal, "cannot seal shared memory: {}", std::strerror(errno));
  }
  return memory;
}

Status check_sealed(int fd, size_t bytes) {
  struct stat info {};
  if (::fstat(fd, &info) != 0) {
    return SYMM_ERROR(kSmem, "descriptor of shared memory: {}", std::strerror(errno));
  }
  if (static_cast<size_t>(info.st_size) != bytes) {
    return SYMM_ERROR(kSmem, "shared memory has {} bytes instead of {}", info.st_size, bytes);
  }
  int seals = ::fcntl(fd, F_GET_SEALS);
  if (seals < 0 || (seals & kSeals) != kSeals) {
    return SYMM_ERROR(kSmem, "shared memory is not sealed against a change of its size");
  }
  return {};
}

size_t collapse_to_huge_pages(void* address, size_t bytes) {
  auto* start = static_cast<volatile char*>(address);
  for (size_t at = 0; at < bytes; at += kHugePage) start[at] = start[at];
  size_t huge = 0;
  for (size_t at = 0; at + kHugePage <= bytes; at += kHugePage) {
    if (::madvise(static_cast<char*>(address) + at, kHugePage, MADV_COLLAPSE) != 0) break;
    huge += kHugePage;
  }
  return huge;
}

}  // namespace symm::os
