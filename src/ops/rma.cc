#include "ops/rma.h"

#include <algorithm>

#include "ops/batch.h"
#include "ops/streamed_copy.h"

namespace symm::ops {
namespace {

// Which PE's heap contains the address as it is mapped here, or -1.
int owner_of(const Instance& instance, const void* address) {
  for (int pe = 0; pe < instance.n_pes(); ++pe) {
    const Route& route = instance.route(pe);
    const uint64_t offset =
        reinterpret_cast<uintptr_t>(address) - reinterpret_cast<uintptr_t>(route.heap);
    if (route.heap != nullptr && offset < instance.heap_limit()) return pe;
  }
  return -1;
}

// No object ends behind this, on any processor that we know.
constexpr uint64_t kAddressSpace = uint64_t{1} << 57;

Status null_argument(const Instance& instance, const char* name, const Amount& amount,
                     const char* call, const char* cure) {
  return SYMM_ERROR(kInvalidParam, "{} on PE {}: the {} is null for {}; {}", call, instance.pe(),
                    name, amount.text(), cure);
}

std::string range_of(const Instance& instance) {
  const std::byte* base = instance.heap_base();
  return fmt::format("[{}, {})", static_cast<const void*>(base),
                     static_cast<const void*>(base + instance.heap_limit()));
}

Status check_alignment(const Instance& instance, const void* where, const void* local, size_t unit,
                       int pe, const char* call) {
  const size_t alignment = std::min(unit, sizeof(uint64_t));
  if (aligned(where, alignment) && aligned(local, alignment)) return {};
  return SYMM_ERROR(
      kInvalidParam,
      "{} on PE {}: elements of {} bytes at {} and, on PE {}, {} are not aligned to {} "
      "bytes; use the mem forms for any address",
      call, instance.pe(), unit, local, pe, where, alignment);
}

Status check_strides(const Instance& instance, ptrdiff_t to_stride, ptrdiff_t from_stride,
                     const char* call) {
  if (to_stride >= 1 && from_stride >= 1) return {};
  return SYMM_ERROR(kInvalidParam, "{} on PE {}: strides {} and {} must be at least 1", call,
                    instance.pe(), to_stride, from_stride);
}

}  // namespace

size_t Amount::bytes() const {
  if (count == 0) return 0;
  size_t reach = 0;
  size_t result = 0;
  if (__builtin_mul_overflow(count - 1, static_cast<size_t>(stride), &reach)) return SIZE_MAX;
  if (__builtin_add_overflow(reach, size_t{1}, &reach)) return SIZE_MAX;
  return __builtin_mul_overflow(reach, unit, &result) ? SIZE_MAX : result;
}

std::string Amount::text() const {
  if (stride != 1) {
    return fmt::format("{} elements of {} bytes at stride {}", count, unit, stride);
  }
  return unit == 1 ? fmt::format("{} bytes", count)
                   : fmt::format("{} elements of {} bytes", count, unit);
}

Status check_local(const Instance& instance, const void* address, const Amount& amount,
                   const char* name, const char* call) {
  const auto begin = reinterpret_cast<uintptr_t>(address);
  if (begin < kAddressSpace && amount.bytes() <= kAddressSpace - begin) return {};
  return SYMM_ERROR(kInvalidParam,
                    "{} on PE {}: {} at the {} {} are more than memory can hold; pass a smaller "
                    "count or stride",
                    call, instance.pe(), amount.text(), name, address);
}

Result<std::byte*> locate(const Instance& instance, const void* address, const Amount& amount,
                          int pe, const char* name, const char* call) {
  const size_t bytes = amount.bytes();
  if (std::byte* found = translate(instance, address, bytes, pe); found != nullptr) return found;
  if (pe < 0 || pe >= instance.n_pes()) {
    return SYMM_ERROR(kInvalidParam, "{} on PE {}: PE {} is not one of 0..{}", call, instance.pe(),
                      pe, instance.n_pes() - 1);
  }
  if (std::byte* found = instance.spaces().translate(address, bytes, pe); found != nullptr) {
    return found;
  }
  if (address == nullptr) {
    return null_argument(instance, name, amount, call, "pass memory from aclshmem_malloc");
  }
  const uint64_t limit = instance.heap_limit();
  const uint64_t offset =
      reinterpret_cast<uintptr_t>(address) - reinterpret_cast<uintptr_t>(instance.heap_base());
  if (offset < limit) {
    const std::string excess =
        bytes == SIZE_MAX ? "" : fmt::format(" {} bytes", bytes - (limit - offset));
    return SYMM_ERROR(
        kInvalidParam,
        "{} on PE {}: {} at {} for PE {} run{} over the end of the symmetric heap {}; pass a "
        "smaller count",
        call, instance.pe(), amount.text(), address, pe, excess, range_of(instance));
  }
  const bool internal = offset < instance.heap_bytes();
  if (pe == instance.pe() && !internal) {
    SYMM_TRY(check_local(instance, address, amount, name, call));
    return static_cast<std::byte*>(const_cast<void*>(address));
  }
  const int owner = owner_of(instance, address);
  const std::string hint =
      internal ? std::string(
                     "; the library's own memory lies there, pass memory from "
                     "aclshmem_malloc")
      : owner >= 0 ? fmt::format(
                         "; it is PE {}'s memory as aclshmem_ptr shows it, pass the address "
                         "of this PE's own object",
                         owner)
                   : std::string("; pass memory from aclshmem_malloc");
  return SYMM_ERROR(kInvalidParam,
                    "{} on PE {}: {} at {} for PE {} are outside the symmetric heap {}{}", call,
                    instance.pe(), amount.text(), address, pe, range_of(instance), hint);
}

Result<std::byte*> check_transfer(const Instance& instance, Direction direction, const void* remote,
                                  const void* local, const Amount& amount, int pe,
                                  const char* call) {
  const bool put = direction == Direction::kPut;
  const bool nothing = amount.count == 0 && pe >= 0 && pe < instance.n_pes();
  if (nothing) return static_cast<std::byte*>(nullptr);
  SYMM_ASSIGN(std::byte * where,
              locate(instance, remote, amount, pe, put ? "destination" : "source", call));
  if (local == nullptr) {
    return null_argument(instance, put ? "source" : "destination", amount, call,
                         "pass memory of this process");
  }
  return where;
}

namespace {

// Loads everything before it stores anything: the ranges may overlap.
template <typename Word>
void copy_both_ends(void* to, const void* from, size_t bytes) {
  const auto first = own_word<Word>(from);
  const auto last = own_word<Word>(static_cast<const std::byte*>(from) + bytes - sizeof(Word));
  std::memcpy(to, &first, sizeof(Word));
  std::memcpy(static_cast<std::byte*>(to) + bytes - sizeof(Word), &last, sizeof(Word));
}

void copy_rest(void* to, const void* from, size_t bytes) {
  if (bytes >= sizeof(uint64_t) && bytes <= 2 * sizeof(uint64_t)) {
    return copy_both_ends<uint64_t>(to, from, bytes);
  }
  if (bytes >= kStreamedBytes) return copy_streamed(to, from, bytes);
  std::memmove(to, from, bytes);
}

}  // namespace

void copy_out_rest(std::byte* to, const void* from, size_t bytes, const Route& route) {
  switch (bytes) {
    case 4:
      store_word(to, own_word<uint32_t>(from));
      return notify_if_watched(route, to, bytes);
    case 2:
      store_word(to, own_word<uint16_t>(from));
      return notify_if_watched(route, to, bytes);
    case 1:
      store_word(to, own_word<uint8_t>(from));
      return notify_if_watched(route, to, bytes);
    case 0:
      return;  // the addresses may be null
    default:
      return copy_rest(to, from, bytes);
  }
}

namespace {

template <typename Word>
void load_into(void* to, const std::byte* from) {
  const auto word = load_word<Word>(from);
  std::memcpy(to, &word, sizeof(word));
}

}  // namespace

void copy_in_rest(void* to, const std::byte* from, size_t bytes) {
  switch (bytes) {
    case 4:
      return load_into<uint32_t>(to, from);
    case 2:
      return load_into<uint16_t>(to, from);
    case 1:
      return load_into<uint8_t>(to, from);
    case 0:
      return;  // the addresses may be null
    default:
      return copy_rest(to, from, bytes);
  }
}

void wake_watchers(const Route& route, const std::byte* target, size_t bytes) {
  const auto offset = static_cast<uint64_t>(target - route.heap);
  bool watched = __atomic_load_n(&route.control->watchers_elsewhere, __ATOMIC_RELAXED) != 0;
  for (const symm_control_page::symm_watch& watch : route.control->watch) {
    const uint64_t begin = __atomic_load_n(&watch.begin, __ATOMIC_RELAXED);
    const uint64_t end = __atomic_load_n(&watch.end, __ATOMIC_RELAXED);
    watched = watched || (offset < end && offset + bytes > begin);
  }
  if (watched) os::notify(route.control->events);
}

Status check_strictly(Instance& instance, Direction direction, const std::byte* where,
                      const void* local, const Amount& amount, int pe, const char* call,
                      uint64_t* pending) {
  SYMM_TRY(check_alignment(instance, where, local, amount.unit, pe, call));
  const auto here = reinterpret_cast<uintptr_t>(local);
  const auto there = reinterpret_cast<uintptr_t>(where);
  const size_t bytes = amount.bytes();
  if (here < there + bytes && there < here + bytes) {
    return SYMM_ERROR(kInvalidParam,
                      "{} on PE {}: source and destination overlap: {} at {} and, on PE {}, {}; "
                      "copy through another buffer",
                      call, instance.pe(), amount.text(), local, pe,
                      static_cast<const void*>(where));
  }
  using Use = PendingBuffers::Use;
  const bool put = direction == Direction::kPut;
  const PendingBuffers::Buffer mine{call, local, bytes, pe, put ? Use::kReads : Use::kWrites};
  SYMM_TRY(instance.pending().conflict(mine, instance.pe()));
  SYMM_TRY(instance.pending().conflict({call, where, bytes, pe, put ? Use::kWrites : Use::kReads},
                                       instance.pe()));
  if (pending != nullptr) *pending = instance.pending().add(mine);
  return {};
}

Result<std::byte*> check_one(Instance& instance, Direction direction, void* dest,
                             const void* source, size_t bytes, int pe, const char* call) {
  const bool put = direction == Direction::kPut;
  const void* remote = put ? dest : source;
  const void* local = put ? source : dest;
  SYMM_ASSIGN(std::byte * where,
              check_transfer(instance, direction, remote, local, {bytes}, pe, call));
  if (where != nullptr && instance.check_level() == 2) {
    SYMM_TRY(check_strictly(instance, direction, where, local, {bytes}, pe, call, nullptr));
  }
  return where;
}

Status put_slow(Instance& instance, void* to, const void* from, const Amount& amount, int pe,
                const char* call, uint64_t* pending) {
  SYMM_ASSIGN(std::byte * target,
              check_transfer(instance, Direction::kPut, to, from, amount, pe, call));
  if (target == nullptr) return {};
  if (instance.check_level() == 2) {
    SYMM_TRY(check_strictly(instance, Direction::kPut, target, from, amount, pe, call, pending));
  }
  copy_out(target, from, amount.bytes(), instance.route(pe));
  return {};
}

Status get_slow(Instance& instance, void* to, const void* from, const Amount& amount, int pe,
                const char* call, uint64_t* pending) {
  SYMM_ASSIGN(std::byte * source,
              check_transfer(instance, Direction::kGet, from, to, amount, pe, call));
  if (source == nullptr) return {};
  if (instance.check_level() == 2) {
    SYMM_TRY(check_strictly(instance, Direction::kGet, source, to, amount, pe, call, pending));
  }
  copy_in(to, source, amount.bytes());
  return {};
}

Status iput(Instance& instance, void* to, const void* from, ptrdiff_t to_stride,
            ptrdiff_t from_stride, size_t count, size_t size, int pe, const char* call) {
  SYMM_TRY(check_strides(instance, to_stride, from_stride, call));
  SYMM_ASSIGN(std::byte * target, check_transfer(instance, Direction::kPut, to, from,
                                                 {count, size, to_stride}, pe, call));
  if (target == nullptr) return {};
  SYMM_TRY(check_local(instance, from, {count, size, from_stride}, "source", call));
  if (instance.check_level() == 2) {
    SYMM_TRY(check_alignment(instance, target, from, size, pe, call));
  }
  const auto* source = static_cast<const std::byte*>(from);
  const auto to_step = static_cast<size_t>(to_stride) * size;
  const auto from_step = static_cast<size_t>(from_stride) * size;
  for (size_t i = 0; i < count; ++i) {
    copy_out(target + i * to_step, source + i * from_step, size, instance.route(pe));
  }
  return {};
}

Status iget(Instance& instance, void* to, const void* from, ptrdiff_t to_stride,
            ptrdiff_t from_stride, size_t count, size_t size, int pe, const char* call) {
  SYMM_TRY(check_strides(instance, to_stride, from_stride, call));
  SYMM_ASSIGN(std::byte * source, check_transfer(instance, Direction::kGet, from, to,
                                                 {count, size, from_stride}, pe, call));
  if (source == nullptr) return {};
  SYMM_TRY(check_local(instance, to, {count, size, to_stride}, "destination", call));
  if (instance.check_level() == 2) {
    SYMM_TRY(check_alignment(instance, source, to, size, pe, call));
  }
  auto* target = static_cast<std::byte*>(to);
  const auto to_step = static_cast<size_t>(to_stride) * size;
  const auto from_step = static_cast<size_t>(from_stride) * size;
  for (size_t i = 0; i < count; ++i) {
    copy_in(target + i * to_step, source + i * from_step, size);
  }
  return {};
}

void* peer_pointer(const Instance& instance, void* address, int pe) {
  std::byte* found = translate(instance, address, 1, pe);
  return found != nullptr ? found : instance.spaces().translate(address, 1, pe);
}

}  // namespace symm::ops
