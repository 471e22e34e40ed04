// Puts and gets of host threads. The way of a put is short on purpose: range check, translation,
// copy. Everything that can go wrong is in rma.cc. Threads: any.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>

#include "base/status.h"
#include "core/instance.h"
#include "os/wait.h"

namespace symm::ops {

// How much a call asked for, kept as it was passed for messages.
struct Amount {
  size_t count;          // elements
  size_t unit = 1;       // bytes of one
  ptrdiff_t stride = 1;  // from one to the next, in elements

  // Bytes from the first to the end of the last; SIZE_MAX when the number overflows.
  size_t bytes() const;
  std::string text() const;
};

enum class Direction { kPut, kGet };

// Where [address, address + bytes) of this PE's heap lies on `pe`, as mapped here. Null when the PE
// or the range is wrong: then locate() says why.
inline std::byte* translate(const Instance& instance, const void* address, size_t bytes, int pe) {
  const uint64_t offset =
      reinterpret_cast<uintptr_t>(address) - reinterpret_cast<uintptr_t>(instance.heap_base());
  const uint64_t limit = instance.heap_limit();
  if (static_cast<unsigned>(pe) >= static_cast<unsigned>(instance.n_pes()) || offset > limit ||
      bytes > limit - offset) [[unlikely]] {
    return nullptr;
  }
  return instance.route(pe).heap + offset;
}

// All checks of one address: where it lies on `pe` as mapped here, or the error that says what is
// wrong with it. A PE may name its own memory that is not symmetric. `name` is that of the
// argument.
Result<std::byte*> locate(const Instance& instance, const void* address, const Amount& amount,
                          int pe, const char* name, const char* call);

// kInvalidParam when the amount at an address of this process is more than memory can hold.
Status check_local(const Instance& instance, const void* address, const Amount& amount,
                   const char* name, const char* call);

// All checks of a transfer between the symmetric `remote` on `pe` and `local`, any memory here.
// Where `remote` lies as mapped here; null when nothing is to be moved: then both may be null.
Result<std::byte*> check_transfer(const Instance& instance, Direction direction, const void* remote,
                                  const void* local, const Amount& amount, int pe,
                                  const char* call);

// Stores or loads that other PEs may watch must not tear: naturally aligned 1, 2, 4 and 8 bytes
// move as one.
template <typename Word>
inline void move_word(void* to, const void* from) {
  Word word;
  std::memcpy(&word, from, sizeof(word));
  // relaxed: order comes from fence, quiet, signals and barriers
  __atomic_store_n(static_cast<Word*>(to), word, __ATOMIC_RELAXED);
}

template <typename Word>
inline void load_word(void* to, const void* from) {
  Word word = __atomic_load_n(static_cast<const Word*>(from), __ATOMIC_RELAXED);
  std::memcpy(to, &word, sizeof(word));
}

inline bool aligned(const void* address, size_t bytes) {
  return (reinterpret_cast<uintptr_t>(address) & (bytes - 1)) == 0;
}

// Wakes the PE when one of its threads waits for a value in [target, target + bytes).
[[gnu::cold]] void wake_watchers(const Route& route, const std::byte* target, size_t bytes);

// A small store may be a flag that somebody sleeps on. Only a thread that waits for this very place
// is woken: a PE that sleeps in a barrier must not cost every put a system call.
inline void notify_if_watched(const Route& route, const std::byte* target, size_t bytes) {
  // relaxed: a hint; who is missed finds the value after its time limit
  if (__atomic_load_n(&route.control->watchers, __ATOMIC_RELAXED) != 0) [[unlikely]] {
    wake_watchers(route, target, bytes);
  }
}

[[gnu::always_inline]] inline void copy_out(std::byte* to, const void* from, size_t bytes,
                                            const Route& route) {
  switch (bytes) {
    case 8:
      if (!aligned(to, 8)) break;
      move_word<uint64_t>(to, from);
      return notify_if_watched(route, to, bytes);
    case 4:
      if (!aligned(to, 4)) break;
      move_word<uint32_t>(to, from);
      return notify_if_watched(route, to, bytes);
    case 2:
      if (!aligned(to, 2)) break;
      move_word<uint16_t>(to, from);
      return notify_if_watched(route, to, bytes);
    case 1:
      move_word<uint8_t>(to, from);
      return notify_if_watched(route, to, bytes);
    case 0:
      return;  // the addresses may be null
    default:
      break;
  }
  std::memcpy(to, from, bytes);
}

[[gnu::always_inline]] inline void copy_in(void* to, const std::byte* from, size_t bytes) {
  switch (bytes) {
    case 8:
      if (!aligned(from, 8)) break;
      return load_word<uint64_t>(to, from);
    case 4:
      if (!aligned(from, 4)) break;
      return load_word<uint32_t>(to, from);
    case 2:
      if (!aligned(from, 2)) break;
      return load_word<uint16_t>(to, from);
    case 1:
      return load_word<uint8_t>(to, from);
    case 0:
      return;  // the addresses may be null
    default:
      break;
  }
  std::memcpy(to, from, bytes);
}

Status put_slow(Instance& instance, void* to, const void* from, const Amount& amount, int pe,
                const char* call);
Status get_slow(Instance& instance, void* to, const void* from, const Amount& amount, int pe,
                const char* call);

// The way of nearly every put: false, with nothing done, when the PE, the range or an address is
// wrong.
[[gnu::always_inline]] inline bool try_put(Instance& instance, void* to, const void* from,
                                           size_t bytes, int pe) {
  std::byte* target = translate(instance, to, bytes, pe);
  if (target == nullptr || from == nullptr) [[unlikely]]
    return false;
  copy_out(target, from, bytes, instance.route(pe));
  return true;
}

[[gnu::always_inline]] inline bool try_get(Instance& instance, void* to, const void* from,
                                           size_t bytes, int pe) {
  const std::byte* source = translate(instance, from, bytes, pe);
  if (source == nullptr || to == nullptr) [[unlikely]]
    return false;
  copy_in(to, source, bytes);
  return true;
}

// Copies `bytes` from any memory here to the symmetric address `to` on `pe`. The data is on its way
// to be visible there; fence, quiet, signals and barriers order it. kInvalidParam for a wrong PE or
// range, with nothing copied.
inline Status put(Instance& instance, void* to, const void* from, size_t bytes, int pe,
                  const char* call) {
  if (try_put(instance, to, from, bytes, pe)) [[likely]]
    return {};
  return put_slow(instance, to, from, {bytes}, pe, call);
}

// Copies `bytes` from the symmetric address `from` on `pe` to any memory here; complete on return.
inline Status get(Instance& instance, void* to, const void* from, size_t bytes, int pe,
                  const char* call) {
  if (try_get(instance, to, from, bytes, pe)) [[likely]]
    return {};
  return get_slow(instance, to, from, {bytes}, pe, call);
}

// Strided forms: element i goes from from[i * from_stride] to to[i * to_stride]; strides and counts
// in elements of `size` bytes, strides at least 1.
Status iput(Instance& instance, void* to, const void* from, ptrdiff_t to_stride,
            ptrdiff_t from_stride, size_t count, size_t size, int pe, const char* call);
Status iget(Instance& instance, void* to, const void* from, ptrdiff_t to_stride,
            ptrdiff_t from_stride, size_t count, size_t size, int pe, const char* call);

// The address of PE `pe`'s copy of a symmetric object as this process sees it, null when there is
// none. The own PE's answer is the address itself.
void* peer_pointer(const Instance& instance, void* address, int pe);

}  // namespace symm::ops
