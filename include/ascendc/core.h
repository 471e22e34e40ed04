// How the kernel language headers reach the core that runs them: the arena of the unified buffer,
// the state that the headers keep per core, and errors. Header-only; the runtime behind it is
// core_abi.h. Threads: everything concerns the calling core only.
#pragma once

#include <cstdarg>
#include <cstdio>
#include <cstring>

#include "ascendc/core_abi.h"
#include "ascendc/types.h"

// The core is the same all through a kernel instance, so compilers may ask for it once per
// function.
extern "C" symm_core* symm_rt_core(void) __attribute__((const));

namespace symm::kernel {

// Bytes of the unified buffer of the chip that this file is compiled for.
#if __NPU_ARCH__ == 3510
inline constexpr uint64_t kUbSize = 256 * 1024;
#else
inline constexpr uint64_t kUbSize = 192 * 1024;
#endif
inline constexpr uint64_t kUbBlock = 32;
// Integers below this are offsets into the unified buffer, all others are host addresses: nothing
// is mapped this low.
inline constexpr uint64_t kUbAddressLimit = 256 * 1024;

constexpr uint64_t round_up(uint64_t value, uint64_t unit) {
  return (value + unit - 1) / unit * unit;
}

// Ends the kernel with a message. Does not return: unwinds inside a kernel, aborts on a host
// thread.
[[noreturn]] __attribute__((format(printf, 1, 2))) inline void fail(const char* format, ...) {
  char text[256];
  va_list arguments;
  va_start(arguments, format);
  std::vsnprintf(text, sizeof text, format, arguments);
  va_end(arguments);
  symm_rt_trap(text);
  __builtin_trap();
}

// The running core. Outside a kernel: ends the program with a message that names `call`.
inline symm_core* core(const char* call) {
  symm_core* current = symm_rt_core();
  if (__builtin_expect(current == nullptr, 0)) {
    fail("%s was called outside a kernel; only code started by a <<<>>> launch may call it", call);
  }
  return current;
}

// What the headers remember per core, in symm_core.language; zero when a kernel starts.
struct CoreLanguage {
  void* pipe;             // the live TPipe
  uint64_t cycle_calls;   // calls of GetSystemCycle, to yield in polling loops only
  uint64_t mask[2];       // vector mask set by SetVectorMask
  uint64_t mask_mode;     // 1: counter mode
  uint64_t compare[4];    // result of Compare without a destination
  uint8_t flags[64];      // per HardEvent: bit per event id that is set and not yet waited for
  uint8_t event_ids[64];  // per HardEvent: bit per event id taken by AllocEventID
  uint32_t merged[4];     // pairs that the last MrgSort took from each list
  uint64_t spare[21];
};
static_assert(sizeof(CoreLanguage) <= sizeof(symm_core::language),
              "language area of a core is too small");

inline CoreLanguage& language(const char* call) {
  return *reinterpret_cast<CoreLanguage*>(core(call)->language);
}

// A UB address (offset or host pointer) as a plain host pointer.
inline uint8_t* ub_pointer(uint64_t address) {
  if (address < kUbAddressLimit) {
    symm_core* current = symm_rt_core();
    if (current != nullptr) return current->ub + address;
  }
  return reinterpret_cast<uint8_t*>(address);
}

// In checked mode: small integers that are no offset into the buffer of this chip.
inline void check_ub_address([[maybe_unused]] uint64_t address) {
#ifdef SYMM_CHECKED
  if (address >= kUbSize && address < kUbAddressLimit) {
    fail("cast to a __ubuf__ pointer: address %llu lies behind the unified buffer of %llu bytes",
         static_cast<unsigned long long>(address), static_cast<unsigned long long>(kUbSize));
  }
#endif
}

// The same for `bytes` that are about to be accessed; ends the kernel when they leave the buffer.
// Host addresses outside the arena are somebody else's memory and pass.
inline uint8_t* ub_range(uint64_t address, uint64_t bytes, const char* call) {
  const symm_core* current = core(call);
  const uint64_t base = reinterpret_cast<uint64_t>(current->ub);
  const uint64_t offset = address < kUbAddressLimit ? address : address - base;
  if (__builtin_expect(offset + bytes > kUbSize, 0) && offset < kUbAddressLimit) {
    fail("%s: bytes %llu to %llu are outside the unified buffer of %llu bytes", call,
         static_cast<unsigned long long>(offset), static_cast<unsigned long long>(offset + bytes),
         static_cast<unsigned long long>(kUbSize));
  }
  return address < kUbAddressLimit ? current->ub + address : reinterpret_cast<uint8_t*>(address);
}

// The same for `bytes` at `offset` from a base: where the base lies decides whether it is the
// buffer that must not be left.
inline uint8_t* ub_element(uint64_t base, uint64_t offset, uint64_t bytes, const char* call) {
  const symm_core* current = core(call);
  const bool small = base < kUbAddressLimit;
  const uint64_t start = small ? base : base - reinterpret_cast<uint64_t>(current->ub);
  if (start < kUbAddressLimit &&
      __builtin_expect(offset > kUbSize || start + offset + bytes > kUbSize, 0)) {
    fail("%s: bytes %llu to %llu from byte %llu on are outside the unified buffer of %llu bytes",
         call, static_cast<unsigned long long>(offset),
         static_cast<unsigned long long>(offset + bytes), static_cast<unsigned long long>(start),
         static_cast<unsigned long long>(kUbSize));
  }
  return (small ? current->ub + base : reinterpret_cast<uint8_t*>(base)) + offset;
}

// Keeps the compiler from moving memory accesses; costs nothing at run time.
inline void compiler_barrier() { asm volatile("" ::: "memory"); }

}  // namespace symm::kernel

namespace symm {

// What shmem-cc turns casts to __ubuf__ T* into. Small integers are offsets into the arena of the
// running core, so that address 0 can be dereferenced; anything else is already an address.
template <typename T, typename I>
inline volatile T* ub_cast(I value) {
  if constexpr (std::is_same_v<I, std::nullptr_t>) {
    return nullptr;
  } else if constexpr (std::is_pointer_v<I>) {
    kernel::check_ub_address(reinterpret_cast<uint64_t>(value));
    return reinterpret_cast<volatile T*>(kernel::ub_pointer(reinterpret_cast<uint64_t>(value)));
  } else {
    kernel::check_ub_address(static_cast<uint64_t>(value));
    return reinterpret_cast<volatile T*>(kernel::ub_pointer(static_cast<uint64_t>(value)));
  }
}

// `(__ubuf__ T*)x` becomes `UbCast<T>()->*x`: the operator binds weaker than unary and postfix
// operators and stronger than binary ones, as a cast does. `*(__ubuf__ T*)x` puts a `*` in front,
// which the object takes over.
template <typename T>
struct UbCast {
  struct Dereference {
    template <typename I>
    volatile T& operator->*(I value) const {
      return *ub_cast<T>(value);
    }
  };
  template <typename I>
  volatile T* operator->*(I value) const {
    return ub_cast<T>(value);
  }
  // (__ubuf__ T*)(__ubuf__ U*)x
  template <typename U>
  UbCast operator->*(UbCast<U>) const {
    return {};
  }
  Dereference operator*() const { return {}; }
};

// The same for a name P that may stand for `__ubuf__ T*`: casts to other types stay what they were.
template <typename P, typename I>
inline P ub_alias_cast(I value) {
  if constexpr (std::is_volatile_v<std::remove_pointer_t<P>>) {
    return ub_cast<std::remove_volatile_t<std::remove_pointer_t<P>>>(value);
  } else {
    return (P)value;
  }
}
template <typename P>
struct UbAliasCast {
  template <typename I>
  P operator->*(I value) const {
    return ub_alias_cast<P>(value);
  }
};

}  // namespace symm
