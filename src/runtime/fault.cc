#include "runtime/fault.h"

#include <sys/mman.h>
#include <unistd.h>

#include <cstdint>
#include <mutex>
#include <string_view>

#include "runtime/core_context.h"
#include "runtime/lanes.h"
#include "runtime/launch.h"

namespace symm::runtime {
namespace {

constexpr int kSignals[] = {SIGSEGV, SIGBUS, SIGILL, SIGFPE};
constexpr size_t kCount = sizeof(kSignals) / sizeof(kSignals[0]);
constexpr size_t kSignalStack = 64 * 1024;
// Addresses below this come from a null pointer.
constexpr uintptr_t kNullLimit = 64 * 1024;

// What was there before; written once, before our handler can run.
struct sigaction g_before[kCount];

// Only what may be used in a signal handler: no allocation, no stdio.
class Text {
 public:
  Text(char* buffer, size_t size) : buffer_(buffer), size_(size) {}

  Text& operator<<(std::string_view text) {
    for (const char c : text) {
      if (used_ < size_) buffer_[used_++] = c;
    }
    return *this;
  }
  Text& operator<<(uint64_t value) { return digits(value, 10); }
  Text& hex(uint64_t value) {
    *this << "0x";
    return digits(value, 16);
  }
  size_t used() const { return used_; }

 private:
  Text& digits(uint64_t value, unsigned base) {
    char reversed[20];
    size_t count = 0;
    do {
      reversed[count++] = "0123456789abcdef"[value % base];
      value /= base;
    } while (value != 0);
    while (count != 0) *this << std::string_view(&reversed[--count], 1);
    return *this;
  }

  char* buffer_;
  const size_t size_;
  size_t used_ = 0;
};

std::string_view name_of(int signal) {
  switch (signal) {
    case SIGSEGV:
      return "SIGSEGV";
    case SIGBUS:
      return "SIGBUS";
    case SIGILL:
      return "SIGILL";
    default:
      return "SIGFPE";
  }
}

void describe_address(Text& text, const Core& core, int signal, uintptr_t address) {
  const CoreMemory* stack = core.lanes != nullptr ? core.lanes->running_memory() : &core.memory;
  if (stack == nullptr) stack = &core.memory;
  const auto in = [address](const uint8_t* first, size_t bytes) {
    return address - reinterpret_cast<uintptr_t>(first) < bytes;
  };
  const uintptr_t ub = reinterpret_cast<uintptr_t>(core.memory.ub);
  if (in(stack->stack - stack->guard, stack->guard)) {
    text << "stack overflow: the stack of a " << (stack == &core.memory ? "core" : "SIMT lane")
         << " has " << uint64_t{stack->stack_size} << " bytes; make local arrays smaller";
    if (stack == &core.memory) text << " or SHMEM_KERNEL_STACK larger";
  } else if (signal == SIGFPE) {
    text << "integer division by zero or overflow";
  } else if (signal == SIGILL) {
    text << "the kernel ran into code that must not be reached";
  } else if (address < kNullLimit) {
    text << "access through a null pointer (address ";
    text.hex(address) << "); an address of the unified buffer needs a cast to __ubuf__ T*";
  } else if (address - ub < core.memory.ub_size + core.memory.guard) {
    text << "access at offset " << uint64_t{address - ub} << " of the unified buffer, behind its "
         << uint64_t{core.abi.ub_size} << " bytes";
  } else {
    text << "access to address ";
    text.hex(address) << ", where this process has no such memory";
  }
}

void pass_on(int signal, siginfo_t* info, void* context) {
  size_t which = 0;
  while (kSignals[which] != signal) ++which;
  const struct sigaction& before = g_before[which];
  if ((before.sa_flags & SA_SIGINFO) != 0 && before.sa_sigaction != nullptr) {
    before.sa_sigaction(signal, info, context);
    return;
  }
  if (before.sa_handler != SIG_DFL && before.sa_handler != SIG_IGN) {
    before.sa_handler(signal);
    return;
  }
  // The instruction faults again when this returns and then ends the process as it always did; a
  // signal that somebody sent has to be sent again.
  ::signal(signal, SIG_DFL);
  if (info->si_code <= 0) (void)::raise(signal);
}

void on_fault(int signal, siginfo_t* info, void* context) {
  char text[640];
  const size_t length =
      info->si_code > 0 ? describe_fault(signal, info->si_addr, text, sizeof text) : 0;
  // A report that cannot be written changes nothing about the fault.
  if (length != 0 && ::write(STDERR_FILENO, text, length) < 0) {
  }
  pass_on(signal, info, context);
}

// The signal stack of one thread.
class SignalStack {
 public:
  SignalStack() {
    stack_t present{};
    // Somebody else's (a sanitizer's) does as well.
    if (::sigaltstack(nullptr, &present) != 0 || (present.ss_flags & SS_DISABLE) == 0) return;
    void* memory = ::mmap(nullptr, kSignalStack, PROT_READ | PROT_WRITE,
                          MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (memory == MAP_FAILED) return;
    stack_t wanted{};
    wanted.ss_sp = memory;
    wanted.ss_size = kSignalStack;
    if (::sigaltstack(&wanted, nullptr) == 0) {
      memory_ = memory;
    } else {
      ::munmap(memory, kSignalStack);
    }
  }
  SignalStack(const SignalStack&) = delete;
  SignalStack& operator=(const SignalStack&) = delete;
  ~SignalStack() {
    if (memory_ == nullptr) return;
    stack_t present{};
    if (::sigaltstack(nullptr, &present) != 0 || present.ss_sp != memory_) return;
    stack_t none{};
    none.ss_flags = SS_DISABLE;
    if (::sigaltstack(&none, nullptr) == 0) ::munmap(memory_, kSignalStack);
  }

 private:
  void* memory_ = nullptr;
};

}  // namespace

size_t describe_fault(int signal, const void* address, char* text, size_t size) {
  const Core* core = current_core();
  if (core == nullptr || size == 0) return 0;
  Text out(text, size - 1);
  out << "[shmem ERROR pid " << uint64_t(::getpid()) << "] " << name_of(signal) << " in ";
  core->launch->name_core(*core, [&out](std::string_view name, uint64_t launch, uint64_t block,
                                        uint64_t sub_block, bool mix) {
    out << "kernel " << name << " (launch " << launch << "), block " << block;
    if (mix) out << ", vector core " << sub_block;
  });
  out << ": ";
  describe_address(out, *core, signal, reinterpret_cast<uintptr_t>(address));
  text[out.used()] = '\n';
  return out.used() + 1;
}

void watch_faults() {
  static std::once_flag once;
  std::call_once(once, [] {
    for (size_t i = 0; i < kCount; ++i) {
      struct sigaction action {};
      action.sa_sigaction = on_fault;
      action.sa_flags = SA_SIGINFO | SA_ONSTACK;
      sigemptyset(&action.sa_mask);
      if (::sigaction(kSignals[i], nullptr, &g_before[i]) != 0) continue;
      (void)::sigaction(kSignals[i], &action, nullptr);
    }
  });
}

void prepare_signal_stack() {
  static thread_local SignalStack stack;
  (void)stack;
}

}  // namespace symm::runtime
