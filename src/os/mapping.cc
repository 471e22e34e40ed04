#include "os/mapping.h"

#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cinttypes>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <string>

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

struct Piece {
  uintptr_t first;
  uintptr_t last;
  bool shared;
};

// Calls visit(piece) for every mapping of this process, in order, until it returns false.
template <typename Visit>
void visit_mappings(Visit visit) {
  std::ifstream maps("/proc/self/maps");
  for (std::string line; std::getline(maps, line);) {
    Piece piece{};
    char access[5] = {};
    if (std::sscanf(line.c_str(), "%" SCNxPTR "-%" SCNxPTR " %4s", &piece.first, &piece.last,
                    access) != 3)
      continue;
    piece.shared = access[1] == 'w' && access[3] == 's';
    if (!visit(piece)) return;
  }
}

// How many of the bytes from `first` on are writable shared memory.
size_t shared_bytes_at(uintptr_t first, size_t bytes) {
  size_t found = 0;
  visit_mappings([&](const Piece& piece) {
    const uintptr_t at = first + found;
    if (piece.last <= at) return true;
    if (piece.first > at || !piece.shared) return false;
    found = std::min<size_t>(bytes, piece.last - first);
    return found < bytes;
  });
  return found;
}

// Bytes from `first` on that one mapping holds, at most `bytes`.
size_t mapped_piece(uintptr_t first, size_t bytes) {
  size_t found = bytes;
  visit_mappings([&](const Piece& piece) {
    if (piece.last <= first) return true;
    found = std::min<size_t>(bytes, piece.last - first);
    return false;
  });
  return found;
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

Status Mapping::map_alias(size_t offset, size_t bytes, const void* source) {
  const auto first = reinterpret_cast<uintptr_t>(source);
  if (offset > bytes_ || bytes > bytes_ - offset || first % page_size() != 0) {
    return SYMM_ERROR(kInvalidParam, "{} bytes at {}: pass whole pages that fit the range", bytes,
                      source);
  }
  // The kernel would extend a mapping past its end, into what lies behind it in the file.
  const size_t shared = shared_bytes_at(first, bytes);
  if (shared != bytes) {
    return SYMM_ERROR(
        kInvalidParam,
        "{} bytes at {} are not shared memory (only the first {} are); pass memory of "
        "a symmetric heap, for example from aclshmem_ptr",
        bytes, source, shared);
  }
  for (size_t done = 0; done < bytes;) {
    const size_t part = mapped_piece(first + done, bytes - done);
    // Old size 0: the old mapping stays.
    void* got = ::mremap(reinterpret_cast<void*>(first + done), 0, part,
                         MREMAP_MAYMOVE | MREMAP_FIXED, address_ + offset + done);
    if (got == MAP_FAILED) {
      const int error = errno;
      (void)unmap(offset, bytes);
      return SYMM_ERROR(kNoMemory, "cannot map {} bytes a second time: {}", bytes,
                        std::strerror(error));
    }
    done += part;
  }
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
