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

// At SHMEM_CHECK=2: what is legal for the range but not for the call. `where` is the remote range
// as mapped here.
Status check_strictly(Instance& instance, Direction direction, const std::byte* where,
                      const void* local, const Amount& amount, int pe, const char* call,
                      uint64_t* pending);

// Stores and loads that other PEs may watch must not tear: naturally aligned 1, 2, 4 and 8 bytes
// move as one. Relaxed: order comes from fence, quiet, signals and barriers.
#if defined(__x86_64__) && !defined(__SANITIZE_THREAD__)
// One instruction at any address, and atomic when aligned; the packed type only says that it may be
// any address.
template <typename Word>
struct [[gnu::packed, gnu::may_alias]] AnyWord {
  Word value;
};
template <typename Word>
inline void store_word(void* to, Word word) {
  static_cast<volatile AnyWord<Word>*>(to)->value = word;
}
template <typename Word>
inline Word load_word(const void* from) {
  return static_cast<const volatile AnyWord<Word>*>(from)->value;
}
#else
template <typename Word>
inline void store_word(void* to, Word word) {
  if ((reinterpret_cast<uintptr_t>(to) & (sizeof(Word) - 1)) == 0) [[likely]] {
    __atomic_store_n(static_cast<Word*>(to), word, __ATOMIC_RELAXED);
  } else {
    std::memcpy(to, &word, sizeof(word));
  }
}
template <typename Word>
inline Word load_word(const void* from) {
  if ((reinterpret_cast<uintptr_t>(from) & (sizeof(Word) - 1)) == 0) [[likely]] {
    return __atomic_load_n(static_cast<const Word*>(from), __ATOMIC_RELAXED);
  }
  Word word;
  std::memcpy(&word, from, sizeof(word));
  return word;
}
#endif

// From and to memory of this thread, which nobody watches.
template <typename Word>
inline Word own_word(const void* from) {
  Word word;
  std::memcpy(&word, from, sizeof(word));
  return word;
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

// The copies of all other sizes, as memmove does it: the ranges may overlap.
void copy_out_rest(std::byte* to, const void* from, size_t bytes, const Route& route);
void copy_in_rest(void* to, const std::byte* from, size_t bytes);

[[gnu::always_inline]] inline void copy_out(std::byte* to, const void* from, size_t bytes,
                                            const Route& route) {
  if (bytes != sizeof(uint64_t)) return copy_out_rest(to, from, bytes, route);
  store_word(to, own_word<uint64_t>(from));
  notify_if_watched(route, to, bytes);
}

[[gnu::always_inline]] inline void copy_in(void* to, const std::byte* from, size_t bytes) {
  if (bytes != sizeof(uint64_t)) return copy_in_rest(to, from, bytes);
  const auto word = load_word<uint64_t>(from);
  std::memcpy(to, &word, sizeof(word));
}

// With all checks. `pending` not null: the local buffer stays in use after the call, under the
// number that goes there (0 when nobody keeps count).
Status put_slow(Instance& instance, void* to, const void* from, const Amount& amount, int pe,
                const char* call, uint64_t* pending = nullptr);
Status get_slow(Instance& instance, void* to, const void* from, const Amount& amount, int pe,
                const char* call, uint64_t* pending = nullptr);

// Where a range lies on `pe`, null when something is wrong or every call is to be checked (the slow
// forms say what).
[[gnu::always_inline]] inline std::byte* fast_target(const FastPath& fast, const void* address,
                                                     size_t bytes, int pe) {
  const uint64_t offset =
      reinterpret_cast<uintptr_t>(address) - reinterpret_cast<uintptr_t>(fast.base);
  if (static_cast<uint32_t>(pe) >= fast.n_pes || bytes > fast.limit || offset > fast.limit - bytes)
      [[unlikely]] {
    return nullptr;
  }
  return fast.routes[static_cast<uint32_t>(pe)].heap + offset;
}

// The same for at most 16 bytes. The last few bytes of the heap count as wrong here and are left to
// the slow forms, so that one comparison does.
[[gnu::always_inline]] inline std::byte* fast_word(const FastPath& fast, const void* address,
                                                   int pe) {
  const uint64_t offset =
      reinterpret_cast<uintptr_t>(address) - reinterpret_cast<uintptr_t>(fast.base);
  if (static_cast<uint32_t>(pe) >= fast.n_pes || offset > fast.last) [[unlikely]] {
    return nullptr;
  }
  return fast.routes[static_cast<uint32_t>(pe)].heap + offset;
}

// The way of nearly every put: false, with nothing done, when the PE, the range or an address is
// wrong.
[[gnu::always_inline]] inline bool try_put(const FastPath& fast, void* to, const void* from,
                                           size_t bytes, int pe) {
  if (from == nullptr) [[unlikely]]
    return false;
  std::byte* target =
      bytes == sizeof(uint64_t) ? fast_word(fast, to, pe) : fast_target(fast, to, bytes, pe);
  if (target == nullptr) [[unlikely]]
    return false;
  copy_out(target, from, bytes, fast.routes[static_cast<uint32_t>(pe)]);
  return true;
}

[[gnu::always_inline]] inline bool try_get(const FastPath& fast, void* to, const void* from,
                                           size_t bytes, int pe) {
  if (to == nullptr) [[unlikely]]
    return false;
  const std::byte* source =
      bytes == sizeof(uint64_t) ? fast_word(fast, from, pe) : fast_target(fast, from, bytes, pe);
  if (source == nullptr) [[unlikely]]
    return false;
  copy_in(to, source, bytes);
  return true;
}

// One value of 1, 2, 4 or 8 bytes, in a register.
template <typename Word>
[[gnu::always_inline]] inline bool try_put_word(const FastPath& fast, void* to, Word word, int pe) {
  std::byte* target = fast_word(fast, to, pe);
  if (target == nullptr) [[unlikely]]
    return false;
  store_word(target, word);
  notify_if_watched(fast.routes[static_cast<uint32_t>(pe)], target, sizeof(word));
  return true;
}

// Copies `bytes` from any memory here to the symmetric address `to` on `pe`. The data is on its way
// to be visible there; fence, quiet, signals and barriers order it. kInvalidParam for a wrong PE or
// range, with nothing copied.
inline Status put(Instance& instance, void* to, const void* from, size_t bytes, int pe,
                  const char* call) {
  if (try_put(instance.fast(), to, from, bytes, pe)) [[likely]]
    return {};
  return put_slow(instance, to, from, {bytes}, pe, call);
}

// Copies `bytes` from the symmetric address `from` on `pe` to any memory here; complete on return.
inline Status get(Instance& instance, void* to, const void* from, size_t bytes, int pe,
                  const char* call) {
  if (try_get(instance.fast(), to, from, bytes, pe)) [[likely]]
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
