// Fiber: a function with a stack of its own that one thread runs until it suspends. The only file
// pair that knows Boost.Context, the C++ exception globals and the sanitizers' fiber interfaces.
// Threads: resume() always on the thread of the first resume(); suspend() only on the fiber itself.
#pragma once

#include <cstddef>

#include "runtime/sanitizers.h"

// ThreadSanitizer sees fibers as threads; what the switch shares between both sides must stay
// invisible to it.
#if defined(__SANITIZE_THREAD__)
#define SYMM_NO_TSAN __attribute__((no_sanitize("thread"), noinline))
#else
#define SYMM_NO_TSAN
#endif

namespace symm::runtime {

class Fiber {
 public:
  using Entry = void (*)(void* argument);

  Fiber() = default;
  Fiber(const Fiber&) = delete;
  Fiber& operator=(const Fiber&) = delete;

  // Prepares entry(argument) on the stack [base, base + size); nothing runs yet. The entry must not
  // throw.
  void start(void* base, size_t size, Entry entry, void* argument);
  // Runs the fiber until it suspends or ends. True when it has ended. ThreadSanitizer sees no
  // ordering here: what scheduler and fiber share must be atomic.
  bool resume();
  // Back to whoever called resume().
  void suspend();

 private:
  // The state of __cxa_get_globals: caught exceptions and number of uncaught ones. Per thread in
  // the C++ runtime, but each fiber needs its own, or a rethrow after a switch takes another
  // fiber's exception.
  struct ExceptionGlobals {
    void* caught = nullptr;
    unsigned long uncaught = 0;
  };

  static void main(Fiber* self);
  static ExceptionGlobals* exception_globals();
  struct Jump;  // the entry that Boost.Context wants

  void* context_ = nullptr;  // of the fiber while it is suspended
  void* back_ = nullptr;     // of the resumer while the fiber runs
  Entry entry_ = nullptr;
  void* argument_ = nullptr;
  bool ended_ = false;
  ExceptionGlobals own_globals_;
  ExceptionGlobals* thread_globals_ = nullptr;
  void* stack_ = nullptr;
  size_t stack_size_ = 0;
  // Sanitizers.
  void* fake_stack_ = nullptr;
  const void* back_stack_ = nullptr;
  size_t back_stack_size_ = 0;
  void* tsan_fiber_ = nullptr;
  void* tsan_back_ = nullptr;
};

}  // namespace symm::runtime
