#include "core/spaces.h"

#include <sys/mman.h>

#include <bit>
#include <cerrno>
#include <cstring>
#include <mutex>

#include "base/log.h"
#include "core/current.h"
#include "core/instance.h"

namespace symm {
namespace {

constexpr uint64_t kHeapGrain = ACLSHMEM_PAGE_SIZE;
constexpr uint64_t kMaxHeap = uint64_t{1} << 46;

Status check_heap(uint64_t bytes, uint64_t alignment) {
  if (bytes == 0 || bytes > kMaxHeap) {
    return SYMM_ERROR(kInvalidValue, "heap_size {} is not between 1 and {}", bytes, kMaxHeap);
  }
  if (alignment != 0 && (!std::has_single_bit(alignment) || alignment > kHeapGrain)) {
    return SYMM_ERROR(kInvalidValue, "alignment {} of a heap is not a power of two up to {}",
                      alignment, kHeapGrain);
  }
  return {};
}

// Puts the pages of a mapping at another address as well (of == 0) or instead.
Status move_pages(void* from, size_t of, size_t bytes, void* to) {
  if (::mremap(from, of, bytes, MREMAP_MAYMOVE | MREMAP_FIXED, to) == MAP_FAILED) {
    return SYMM_ERROR(kNoMemory, "cannot change the pages at {}: {}", to, std::strerror(errno));
  }
  return {};
}

// The buffer's contents go into the shared pages, which then take the place of its own.
Status share_pages(const Space& space, std::byte* shared, void* address) {
  std::memcpy(shared, address, space.bytes);
  return move_pages(shared, 0, space.bytes, address);
}

Status unshare_pages(const Space& space) {
  void* own =
      ::mmap(nullptr, space.bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (own == MAP_FAILED) {
    return SYMM_ERROR(kNoMemory, "no memory for {} private bytes: {}", space.bytes,
                      std::strerror(errno));
  }
  std::memcpy(own, space.base, space.bytes);
  Status moved = move_pages(own, space.bytes, space.bytes, space.base);
  if (!moved.ok()) ::munmap(own, space.bytes);
  return moved;
}

}  // namespace

Result<std::unique_ptr<Space>> Spaces::make(Space::Kind kind, uint64_t bytes) {
  auto space = std::make_unique<Space>();
  PeerMemory::Request request;
  request.pe = instance_.pe();
  request.n_pes = instance_.n_pes();
  request.heap_bytes = os::round_up(bytes, kHeapGrain);
  request.control_bytes = os::page_size();
  space->number = ++made_;
  request.salt = salt_ + space->number * 0x9e3779b97f4a7c15ULL;
  request.timeout_s = instance_.options().operation_timeout_s;
  request.check = [this] { return instance_.health().check(); };
  SYMM_ASSIGN(space->memory, PeerMemory::open(instance_.control(), request));
  space->kind = kind;
  space->bytes = kind == Space::Kind::kRegistered ? bytes : request.heap_bytes;
  for (int pe = 0; pe < request.n_pes; ++pe) space->peers.push_back(space->memory->view(pe).heap);
  space->base = space->memory->view(request.pe).heap;
  return space;
}

void Spaces::add(std::unique_ptr<Space> space) {
  std::unique_lock lock(mutex_);
  spaces_.push_back(std::move(space));
}

std::unique_ptr<Space> Spaces::take(uint64_t number) {
  std::unique_lock lock(mutex_);
  for (auto it = spaces_.begin(); it != spaces_.end(); ++it) {
    if ((*it)->number != number) continue;
    std::unique_ptr<Space> space = std::move(*it);
    spaces_.erase(it);
    return space;
  }
  return nullptr;
}

Result<SymmetricHeap*> Spaces::host_side(const void* site) {
  if (SymmetricHeap* there = host_heap(); there != nullptr) return there;
  const uint64_t bytes = instance_.options().heap_bytes;
  SYMM_TRY(barrier_->agree({MemoryCall::kCreateHeap, bytes, 0, 0, HOST_SIDE, site}));
  SYMM_ASSIGN(std::unique_ptr<Space> space, make(Space::Kind::kHostSide, bytes));
  space->heap = std::make_unique<SymmetricHeap>(space->base, bytes, HOST_SIDE, barrier_);
  SymmetricHeap* heap = space->heap.get();
  instance_.device().set_host_heap(space->base, space->peers, bytes);
  add(std::move(space));
  return heap;
}

Result<uint64_t> Spaces::make_heap(uint64_t bytes, uint64_t alignment, const void* site) {
  Status wrong = check_heap(bytes, alignment);
  SYMM_TRY(barrier_->agree({MemoryCall::kCreateHeap, bytes, alignment,
                            wrong.ok() ? 0 : MemoryRecord::kRefused, 0, site}));
  if (!wrong.ok()) return wrong;
  SYMM_ASSIGN(std::unique_ptr<Space> space, make(Space::Kind::kUserHeap, bytes));
  const uint64_t number = space->number;
  // Numbers of spaces follow those of the two kinds of memory.
  space->heap =
      std::make_unique<SymmetricHeap>(space->base, space->bytes, number + DEVICE_SIDE, barrier_,
                                      alignment == 0 ? Allocator::kGrain : alignment);
  add(std::move(space));
  return number;
}

Status Spaces::destroy_heap(uint64_t number, const void* site) {
  const bool known = heap(number) != nullptr;
  SYMM_TRY(barrier_->agree(
      {MemoryCall::kDestroyHeap, number, 0, known ? 0 : MemoryRecord::kRefused, 0, site}));
  std::unique_ptr<Space> space = take(number);
  if (!space)
    return SYMM_ERROR(kInvalidParam, "there is no heap {}: never made, or destroyed before",
                      number);
  if (const std::string left = space->heap->leaks(); !left.empty()) {
    SYMM_LOG(kWarn, "heap {} is destroyed with blocks in it: {}", number, left);
  }
  // PEs that are threads of this process use each other's mapping: nobody takes it away before all
  // have forgotten it.
  return instance_.control().barrier("destroying a heap");
}

Status Spaces::check_buffer(const void* address, uint64_t bytes) const {
  const auto begin = reinterpret_cast<uintptr_t>(address);
  const size_t page = os::page_size();
  if (address == nullptr || bytes == 0 || begin % page != 0 || bytes % page != 0) {
    return SYMM_ERROR(kInvalidParam,
                      "{} bytes at {} are not whole pages of {} bytes; take the buffer from "
                      "aligned_alloc or mmap",
                      bytes, address, page);
  }
  const uintptr_t end = begin + bytes;
  for (int pe = 0; pe < instance_.n_pes(); ++pe) {
    const auto heap = reinterpret_cast<uintptr_t>(instance_.route(pe).heap);
    if (heap != 0 && begin < heap + instance_.heap_bytes() && end > heap) {
      return SYMM_ERROR(kInvalidParam, "{} lies in the symmetric heap of PE {}: it is symmetric",
                        address, pe);
    }
  }
  std::shared_lock lock(mutex_);
  for (const auto& space : spaces_) {
    const auto base = reinterpret_cast<uintptr_t>(space->base);
    if (begin < base + space->bytes && end > base) {
      return SYMM_ERROR(kInvalidParam,
                        "{} bytes at {} overlap the {} bytes at {} that are symmetric already",
                        bytes, address, space->bytes, static_cast<void*>(space->base));
    }
  }
  return {};
}

Status Spaces::register_buffer(void* address, uint64_t bytes, const void* site) {
  Status wrong = check_buffer(address, bytes);
  SYMM_TRY(barrier_->agree(
      {MemoryCall::kRegister, bytes, 0, wrong.ok() ? 0 : MemoryRecord::kRefused, 0, site}));
  if (!wrong.ok()) return wrong;
  SYMM_ASSIGN(std::unique_ptr<Space> space, make(Space::Kind::kRegistered, bytes));
  Status shared = share_pages(*space, space->base, address);
  SYMM_TRY(instance_.control().agree(std::move(shared), "registering a buffer"));
  space->base = static_cast<std::byte*>(address);
  add(std::move(space));
  return {};
}

Status Spaces::unregister_buffer(void* address, const void* site) {
  uint64_t number = 0;
  Status wrong;
  {
    std::shared_lock lock(mutex_);
    const Space* space = find(address);
    if (space == nullptr || space->kind != Space::Kind::kRegistered) {
      wrong =
          SYMM_ERROR(kInvalidParam, "{} is not registered: never, or unregistered before", address);
    } else if (space->base != address) {
      wrong = SYMM_ERROR(kInvalidParam,
                         "{} lies {} bytes inside the registered buffer of {} bytes at {}", address,
                         static_cast<std::byte*>(address) - space->base, space->bytes,
                         static_cast<void*>(space->base));
    } else {
      number = space->number;
    }
  }
  SYMM_TRY(barrier_->agree(
      {MemoryCall::kUnregister, number, 0, wrong.ok() ? 0 : MemoryRecord::kRefused, 0, site}));
  if (!wrong.ok()) return wrong;
  const std::unique_ptr<Space> space = take(number);
  return instance_.control().agree(unshare_pages(*space), "unregistering a buffer");
}

const Space* Spaces::find(const void* address) const {
  for (const auto& space : spaces_) {
    const uint64_t offset =
        reinterpret_cast<uintptr_t>(address) - reinterpret_cast<uintptr_t>(space->base);
    if (offset < space->bytes) return space.get();
  }
  return nullptr;
}

std::byte* Spaces::translate(const void* address, size_t bytes, int pe) const {
  std::shared_lock lock(mutex_);
  const Space* space = find(address);
  if (space == nullptr || pe < 0 || static_cast<size_t>(pe) >= space->peers.size()) return nullptr;
  const auto offset = static_cast<uint64_t>(static_cast<const std::byte*>(address) - space->base);
  if (bytes > space->bytes - offset) return nullptr;
  if (pe == instance_.pe()) return space->base + offset;
  return static_cast<std::byte*>(space->peers[static_cast<size_t>(pe)]) + offset;
}

SymmetricHeap* Spaces::heap(uint64_t number) const {
  std::shared_lock lock(mutex_);
  for (const auto& space : spaces_) {
    if (space->number == number && space->kind == Space::Kind::kUserHeap) return space->heap.get();
  }
  return nullptr;
}

SymmetricHeap* Spaces::heap_around(const void* address) const {
  std::shared_lock lock(mutex_);
  const Space* space = find(address);
  return space != nullptr && space->kind == Space::Kind::kUserHeap ? space->heap.get() : nullptr;
}

SymmetricHeap* Spaces::host_heap() const {
  std::shared_lock lock(mutex_);
  for (const auto& space : spaces_) {
    if (space->kind == Space::Kind::kHostSide) return space->heap.get();
  }
  return nullptr;
}

std::vector<std::string> Spaces::leaks() const {
  std::shared_lock lock(mutex_);
  std::vector<std::string> lines;
  for (const auto& space : spaces_) {
    if (space->heap == nullptr) {
      lines.push_back(fmt::format("a registered buffer of {} bytes", space->bytes));
    } else if (const std::string left = space->heap->leaks(); !left.empty()) {
      const bool host = space->kind == Space::Kind::kHostSide;
      lines.push_back((host ? "HOST_SIDE heap: " : fmt::format("heap {}: ", space->number)) + left);
    }
  }
  return lines;
}

void Spaces::close(bool keep) {
  std::unique_lock lock(mutex_);
  for (auto& space : spaces_) {
    // The program's buffer must outlive the instance.
    if (space->kind == Space::Kind::kRegistered) {
      if (Status own = unshare_pages(*space); !own.ok()) {
        SYMM_LOG(kWarn, "a registered buffer stays shared memory: {}", own.text());
      }
    }
    if (keep) keep_mapped(std::move(space->memory));
  }
  spaces_.clear();
}

}  // namespace symm
