// Internal to the kernel side: finding the instance, translating symmetric addresses, waking and
// waiting, and ending a kernel with a message. Called by kernel cores; nothing here blocks except
// wait_for.
#ifndef SYMM_DEVICE_STATE_INL_H
#define SYMM_DEVICE_STATE_INL_H

#include <cstdarg>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <initializer_list>

#include "ascendc/core_abi.h"
#include "host_device/symm_device_state.h"

// Pointers into the unified buffer are told apart from global memory by this qualifier.
#ifndef SYMM_UB
#define SYMM_UB volatile
#endif
// For functions that only run when something is wrong.
#define SYMM_COLD __attribute__((noinline, cold))

namespace symm_dev {

// Use of symm_core.user.
enum {
  kUserState = 0,    // selected instance; null: the one of the launch
  kUserEngines = 1,  // aclshmem_transport_t bits of the queue engines this core has used
  kUserTurn = 2,     // counts waits and tests for any element
  kUserPolls = 3,    // counts calls that programs poll with
};

// Ends the kernel with an error: the text says which call, which PE, and what is wrong.
[[noreturn]] SYMM_COLD __attribute__((format(printf, 1, 2))) inline void trap(const char* format,
                                                                              ...) {
  char text[400];
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(text, sizeof text, format, arguments);
  va_end(arguments);
  symm_rt_trap(text);
  __builtin_unreachable();
}

// True on a core of a running kernel, false on a host thread.
inline bool in_kernel() { return symm_rt_core() != nullptr; }

[[noreturn]] SYMM_COLD inline void no_state(const char* call, bool kernel) {
  if (kernel) {
    trap("%s: SHMEM is not initialised: launch the kernel between aclshmemx_init_attr and finalize",
         call);
  }
  trap("%s: only kernels may call this; it was called on a host thread", call);
}

// The instance that the calls of this core work on. Traps when there is none.
inline symm_device_state* state(const char* call) {
  symm_core* core = symm_rt_core();
  if (__builtin_expect(core == nullptr, 0)) no_state(call, false);
  void* found = core->user[kUserState] != nullptr ? core->user[kUserState] : core->state;
  if (__builtin_expect(found == nullptr, 0)) no_state(call, true);
  return static_cast<symm_device_state*>(found);
}

// Called where programs poll without waiting (g, test, quiet, load): every 16th time the other
// cores run once.
inline void polled() {
  symm_core* core = symm_rt_core();
  if (core == nullptr) return;
  const uintptr_t count = reinterpret_cast<uintptr_t>(core->user[kUserPolls]) + 1;
  core->user[kUserPolls] = reinterpret_cast<void*>(count);
  if (count % 16 == 0) symm_rt_yield();
}

// Makes the later calls of this core work on another instance.
inline void select_instance(uint64_t id, const char* call) {
  symm_device_state* current = state(call);
  if (current->instance_id == id) return;
  symm_device_state* found =
      current->find_instance != nullptr ? current->find_instance(id) : nullptr;
  if (found == nullptr)
    trap("%s: this process has no instance %llu", call, static_cast<unsigned long long>(id));
  symm_rt_core()->user[kUserState] = found;
}

// Number of this core among the vector cores of the launch.
inline int64_t core_index(const symm_core* core) {
  return core->block * core->ratio + core->sub_block;
}

SYMM_COLD inline bool lies_in_peer_heap(const symm_device_state* s, uintptr_t address, int* pe) {
  for (int i = 0; i < s->base.npes; ++i) {
    const uintptr_t base = reinterpret_cast<uintptr_t>(s->peer_heap[i]);
    if (base != 0 && address - base < s->heap_limit) {
      *pe = i;
      return true;
    }
  }
  return false;
}

[[noreturn]] SYMM_COLD inline void bad_address(const symm_device_state* s, const void* address,
                                               uint64_t bytes, int pe, const char* call) {
  const uintptr_t at = reinterpret_cast<uintptr_t>(address);
  const uintptr_t heap = reinterpret_cast<uintptr_t>(s->base.heap_base);
  int owner = -1;
  if (at - heap < s->heap_limit) {
    trap(
        "%s on PE %d: %llu bytes at offset %llu of the symmetric heap run over its end (%llu "
        "bytes)",
        call, s->base.mype, static_cast<unsigned long long>(bytes),
        static_cast<unsigned long long>(at - heap), static_cast<unsigned long long>(s->heap_limit));
  }
  if (at - heap < s->base.heap_size) {
    trap(
        "%s on PE %d to PE %d: address %p lies in the library's own memory behind the symmetric "
        "heap (%llu bytes); pass memory from aclshmem_malloc",
        call, s->base.mype, pe, address, static_cast<unsigned long long>(s->heap_limit));
  }
  if (lies_in_peer_heap(s, at, &owner)) {
    trap(
        "%s on PE %d: address %p lies in the heap of PE %d as mapped here (from aclshmem_ptr?); "
        "pass the local symmetric "
        "address and the PE number",
        call, s->base.mype, address, owner);
  }
  trap("%s on PE %d to PE %d: address %p is not symmetric memory (aclshmem_malloc)", call,
       s->base.mype, pe, address);
}

[[noreturn]] SYMM_COLD inline void bad_pe(const symm_device_state* s, int pe, const char* call) {
  trap("%s on PE %d: there is no PE %d, PEs are 0..%d", call, s->base.mype, pe, s->base.npes - 1);
}

[[noreturn]] SYMM_COLD inline void unmapped(const symm_device_state* s, int pe, const char* call) {
  trap(
      "%s on PE %d: the memory of PE %d is not mapped here (another host?), so loads and stores "
      "cannot reach it; use the "
      "roce calls",
      call, s->base.mype, pe);
}

// Addresses outside the device heap: the HOST_SIDE heap, or any own memory when the target is this
// PE.
SYMM_COLD inline char* remote_elsewhere(const symm_device_state* s, const void* address,
                                        uint64_t bytes, int pe, const char* call) {
  const uintptr_t at = reinterpret_cast<uintptr_t>(address);
  const uintptr_t offset = at - reinterpret_cast<uintptr_t>(s->host_heap);
  if (s->host_heap != nullptr && offset < s->host_heap_limit &&
      bytes <= s->host_heap_limit - offset) {
    char* base = static_cast<char*>(s->peer_host_heap[pe]);
    if (base == nullptr) unmapped(s, pe, call);
    return base + offset;
  }
  if (s->find_space != nullptr) {
    void* found = s->find_space(s->owner, address, bytes, pe);
    if (found != nullptr) return static_cast<char*>(found);
  }
  // The library's own part of the heap is nobody's target, also not this PE's.
  const bool inside = at - reinterpret_cast<uintptr_t>(s->base.heap_base) < s->base.heap_size;
  if (pe == s->base.mype && !inside) return static_cast<char*>(const_cast<void*>(address));
  bad_address(s, address, bytes, pe, call);
}

// Where `bytes` at a symmetric address lie for PE pe, as mapped here. Traps when they cannot be
// reached.
inline char* remote(const symm_device_state* s, const void* address, uint64_t bytes, int pe,
                    const char* call) {
  if (__builtin_expect(static_cast<uint32_t>(pe) >= static_cast<uint32_t>(s->base.npes), 0))
    bad_pe(s, pe, call);
  const uintptr_t offset =
      reinterpret_cast<uintptr_t>(address) - reinterpret_cast<uintptr_t>(s->base.heap_base);
  if (__builtin_expect(offset >= s->heap_limit || bytes > s->heap_limit - offset, 0)) {
    return remote_elsewhere(s, address, bytes, pe, call);
  }
  char* base = static_cast<char*>(s->peer_heap[pe]);
  if (__builtin_expect(base == nullptr, 0)) unmapped(s, pe, call);
  return base + offset;
}

// The same for an address that may already be the one mapped here (from aclshmem_roce_ptr).
inline char* remote_or_mapped(const symm_device_state* s, const void* address, uint64_t bytes,
                              int pe, const char* call) {
  if (static_cast<uint32_t>(pe) < static_cast<uint32_t>(s->base.npes) &&
      s->peer_heap[pe] != nullptr) {
    const uintptr_t offset =
        reinterpret_cast<uintptr_t>(address) - reinterpret_cast<uintptr_t>(s->peer_heap[pe]);
    if (offset < s->heap_limit && bytes <= s->heap_limit - offset) {
      return static_cast<char*>(s->peer_heap[pe]) + offset;
    }
  }
  return remote(s, address, bytes, pe, call);
}

// Bytes of `count` elements; as many as there can be when the product does not fit.
template <typename T>
constexpr uint64_t bytes_of(uint64_t count) {
  return count > UINT64_MAX / sizeof(T) ? UINT64_MAX : count * sizeof(T);
}

template <typename T>
inline T* remote_as(const symm_device_state* s, const T* address, uint64_t count, int pe,
                    const char* call) {
  return reinterpret_cast<T*>(remote(s, address, bytes_of<T>(count), pe, call));
}

// Nothing is mapped below this address.
constexpr uintptr_t kLowestAddress = 4096;

[[noreturn]] SYMM_COLD inline void bad_own(const symm_device_state* s, const volatile void* address,
                                           const char* what, const char* call) {
  trap("%s on PE %d: %s is %p, which is no address of memory", call, s->base.mype, what,
       const_cast<const void*>(address));
}

// The local side of a call: any memory of this PE, but not null.
template <typename T>
inline T* own(const symm_device_state* s, T* address, const char* what, const char* call) {
  if (__builtin_expect(reinterpret_cast<uintptr_t>(address) < kLowestAddress, 0))
    bad_own(s, address, what, call);
  return address;
}

// Orders everything before against everything after, and stops the compiler. The thread sanitizer
// does not know plain fences; a read-modify-write of a local word is the same to the processor.
inline void full_fence() {
#if defined(__SANITIZE_THREAD__)
  static thread_local uint32_t word;
  __atomic_fetch_add(&word, 0, __ATOMIC_SEQ_CST);
#else
  __atomic_thread_fence(__ATOMIC_SEQ_CST);
#endif
}

// Wakes a PE after a store that it may wait for. The fence orders the store before the look at the
// waiters.
inline void notify(symm_event_count* events) {
  full_fence();
  if (__atomic_load_n(&events->waiters, __ATOMIC_RELAXED) != 0) symm_rt_notify(events);
}

inline symm_event_count* events_of(const symm_device_state* s, int pe) {
  symm_control_page* page = s->peer_control[pe];
  return page == nullptr ? nullptr : &page->events;
}

inline void notify_pe(const symm_device_state* s, int pe) {
  if (symm_event_count* events = events_of(s, pe)) notify(events);
}

// What a wait says about itself when it takes long.
struct WaitText {
  const char* call;
  int32_t kind;         // SYMM_WAIT_KIND_*
  int32_t team;         // -1: none
  int32_t peer;         // -1: unknown or many
  const void* address;  // of the word, if one
  int64_t wanted;
  int32_t compare;  // aclshmem_cmp_op_type_t, -1: none
};

// Blocks the core until poll() is true; other cores run meanwhile. poll reads with acquire.
template <typename Poll>
inline void wait_for(const symm_device_state* s, Poll& poll, const WaitText& text) {
  if (poll()) return;
  symm_wait wait{};
  wait.poll = [](void* argument) -> int { return (*static_cast<Poll*>(argument))() ? 1 : 0; };
  wait.argument = &poll;
  wait.domain = s->wait;
  wait.call = text.call;
  wait.team = text.team;
  wait.peer = text.peer;
  wait.address = text.address;
  wait.wanted = text.wanted;
  wait.compare = text.compare;
  wait.kind = text.kind;
  symm_rt_wait(&wait);
}

}  // namespace symm_dev

// The state block of the instance that this core works on.
inline aclshmem_device_host_state_t* aclshmemi_get_state() {
  return &symm_dev::state("aclshmemi_get_state")->base;
}

#endif
