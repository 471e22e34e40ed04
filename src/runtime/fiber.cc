#include "runtime/fiber.h"

#include <cxxabi.h>

#include <boost/context/detail/fcontext.hpp>

#if defined(__SANITIZE_ADDRESS__)
#include <sanitizer/asan_interface.h>
#include <sanitizer/common_interface_defs.h>
#endif
#if defined(__SANITIZE_THREAD__)
#include <sanitizer/tsan_interface.h>
#endif

namespace symm::runtime {

namespace context = boost::context::detail;

struct Fiber::Jump {
  SYMM_NO_TSAN static void entry(context::transfer_t from) {
    auto* self = static_cast<Fiber*>(from.data);
    self->back_ = from.fctx;
    Fiber::main(self);
  }
};

Fiber::ExceptionGlobals* Fiber::exception_globals() {
  return reinterpret_cast<ExceptionGlobals*>(abi::__cxa_get_globals());
}

SYMM_NO_TSAN void Fiber::start(void* base, size_t size, Entry entry, void* argument) {
#if defined(__SANITIZE_ADDRESS__)
  // The previous fiber on this stack may have left red zones behind.
  __asan_unpoison_memory_region(base, size);
#endif
  stack_ = base;
  stack_size_ = size;
  entry_ = entry;
  argument_ = argument;
  ended_ = false;
  own_globals_ = {};
  fake_stack_ = nullptr;
  context_ = context::make_fcontext(static_cast<char*>(base) + size, size, &Jump::entry);
#if defined(__SANITIZE_THREAD__)
  tsan_fiber_ = __tsan_create_fiber(0);
#endif
}

SYMM_NO_TSAN bool Fiber::resume() {
  thread_globals_ = exception_globals();
  const ExceptionGlobals of_thread = *thread_globals_;
  *thread_globals_ = own_globals_;
#if defined(__SANITIZE_ADDRESS__)
  void* fake_stack = nullptr;
  __sanitizer_start_switch_fiber(&fake_stack, stack_, stack_size_);
#elif defined(__SANITIZE_THREAD__)
  tsan_back_ = __tsan_get_current_fiber();
  __tsan_switch_to_fiber(tsan_fiber_, __tsan_switch_to_fiber_no_sync);
#endif
  context::transfer_t back = context::jump_fcontext(context_, this);
  context_ = back.fctx;
#if defined(__SANITIZE_ADDRESS__)
  __sanitizer_finish_switch_fiber(fake_stack, nullptr, nullptr);
#elif defined(__SANITIZE_THREAD__)
  if (ended_) __tsan_destroy_fiber(tsan_fiber_);
#endif
  own_globals_ = *thread_globals_;
  *thread_globals_ = of_thread;
  return ended_;
}

SYMM_NO_TSAN void Fiber::suspend() {
#if defined(__SANITIZE_ADDRESS__)
  __sanitizer_start_switch_fiber(&fake_stack_, back_stack_, back_stack_size_);
#elif defined(__SANITIZE_THREAD__)
  __tsan_switch_to_fiber(tsan_back_, __tsan_switch_to_fiber_no_sync);
#endif
  context::transfer_t from = context::jump_fcontext(back_, nullptr);
  back_ = from.fctx;
#if defined(__SANITIZE_ADDRESS__)
  __sanitizer_finish_switch_fiber(fake_stack_, &back_stack_, &back_stack_size_);
#endif
}

SYMM_NO_TSAN void Fiber::main(Fiber* self) {
#if defined(__SANITIZE_ADDRESS__)
  __sanitizer_finish_switch_fiber(nullptr, &self->back_stack_, &self->back_stack_size_);
#endif
  self->entry_(self->argument_);
  self->ended_ = true;
#if defined(__SANITIZE_ADDRESS__)
  // Null: this stack is not coming back, its fake frames may go.
  __sanitizer_start_switch_fiber(nullptr, self->back_stack_, self->back_stack_size_);
#elif defined(__SANITIZE_THREAD__)
  __tsan_switch_to_fiber(self->tsan_back_, __tsan_switch_to_fiber_no_sync);
#endif
  context::jump_fcontext(self->back_, nullptr);
}

}  // namespace symm::runtime
