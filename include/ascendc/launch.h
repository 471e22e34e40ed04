// What shmem-cc makes of `kernel<<<blocks, control, stream>>>(arguments)`: the arguments are copied
// into a closure on the heap, and the runtime runs it once per core instance. Header-only over
// symm_rt_launch.
#pragma once

#include <cstddef>
#include <tuple>
#include <type_traits>
#include <utility>

#include "ascendc/core_abi.h"

namespace symm {

// Stands for a literal 0 or NULL argument: an int where the kernel takes an int, else whatever the
// parameter is.
struct LaunchZero {
  template <typename T, std::enable_if_t<std::is_arithmetic_v<T> || std::is_pointer_v<T>, int> = 0>
  constexpr operator T() const {
    return T();
  }
};

template <typename As, typename A>
constexpr decltype(auto) launch_argument(A&& argument) {
  if constexpr (std::is_same_v<std::decay_t<A>, LaunchZero>) {
    return As();
  } else {
    return std::forward<A>(argument);
  }
}
template <typename As, typename A>
using launch_argument_t = std::conditional_t<std::is_same_v<A, LaunchZero>, As, A>;

inline constexpr size_t kLargeArguments = 4096;

// `Call` calls the kernel; stateless or a copy of the function pointer.
template <typename Call, typename... A>
struct LaunchClosure {
  Call call;
  std::tuple<A...> arguments;

  static void run(void* self) {
    auto* closure = static_cast<LaunchClosure*>(self);
    // Every instance gets its own copy: a kernel may change its parameters. A large one (a team
    // record has 128 KiB) does not lie on the stack of the core, where the parameter itself will.
    if constexpr (sizeof(std::tuple<A...>) > kLargeArguments) {
      struct Copy {
        std::tuple<A...>* arguments;
        ~Copy() { delete arguments; }
      } copy{new std::tuple<A...>(closure->arguments)};
      std::apply(closure->call, std::move(*copy.arguments));
    } else {
      auto copy = closure->arguments;
      std::apply(closure->call, std::move(copy));
    }
  }
  static void drop(void* self) { delete static_cast<LaunchClosure*>(self); }

  // Pointers, and integers that may hold an address. What a record holds is not looked into.
  static void visit(void* self, void (*visitor)(void*, uint64_t), void* context) {
    std::apply([&](const A&... each) { (visit_argument(each, visitor, context), ...); },
               static_cast<LaunchClosure*>(self)->arguments);
  }
  template <typename T>
  static void visit_argument(const T& value, void (*visitor)(void*, uint64_t), void* context) {
    if constexpr (std::is_pointer_v<T>) {
      visitor(context, reinterpret_cast<uint64_t>(value));
    } else if constexpr (std::is_integral_v<T> && sizeof(T) == sizeof(uint64_t)) {
      visitor(context, static_cast<uint64_t>(value));
    } else {
      (void)visitor, (void)context, (void)value;
    }
  }
};

template <typename Call>
class Launcher {
 public:
  Launcher(const char* name, Call call, uint64_t blocks, void* stream)
      : name_(name), call_(std::move(call)), blocks_(blocks), stream_(stream) {}

  // Enqueues and returns at once. The stream reports errors; an argument error of the launch itself
  // ends up there too.
  template <typename... A>
  int operator()(A&&... arguments) {
    if constexpr (std::is_invocable_v<Call, launch_argument_t<int, std::decay_t<A>>...>) {
      return enqueue(launch_argument<int>(std::forward<A>(arguments))...);
    } else if constexpr (std::is_invocable_v<
                             Call, launch_argument_t<std::nullptr_t, std::decay_t<A>>...>) {
      return enqueue(launch_argument<std::nullptr_t>(std::forward<A>(arguments))...);
    } else {
      return enqueue(std::forward<A>(arguments)...);
    }
  }

 private:
  template <typename... A>
  int enqueue(A&&... arguments) {
    using Closure = LaunchClosure<Call, std::decay_t<A>...>;
    auto* closure = new Closure{std::move(call_),
                                std::tuple<std::decay_t<A>...>(std::forward<A>(arguments)...)};
    void* state = symm_shmem_launch_state != nullptr ? symm_shmem_launch_state() : nullptr;
    const uint32_t blocks = blocks_ > UINT32_MAX ? UINT32_MAX : static_cast<uint32_t>(blocks_);
    return symm_rt_launch_with_arguments(blocks, stream_, &Closure::run, &Closure::drop,
                                         &Closure::visit, closure, state, name_);
  }

  const char* name_;
  Call call_;
  uint64_t blocks_;
  void* stream_;
};

// The three (or four) values between <<< and >>>: the second is the L2 control or the dynamic UB
// size and has no meaning here. A stream of 0 is the default stream.
template <typename S>
inline void* launch_stream(S stream) {
  if constexpr (std::is_pointer_v<S>) {
    return const_cast<void*>(static_cast<const volatile void*>(stream));
  } else if constexpr (std::is_integral_v<S> || std::is_null_pointer_v<S>) {
    return nullptr;
  } else {
    return static_cast<void*>(stream);
  }
}
template <typename Call, typename B, typename L2, typename S>
inline Launcher<Call> launch(const char* name, Call call, B blocks, L2&&, S stream) {
  return Launcher<Call>(name, std::move(call), static_cast<uint64_t>(blocks),
                        launch_stream(stream));
}
template <typename Call, typename B, typename L2, typename U, typename S>
inline Launcher<Call> launch(const char* name, Call call, B blocks, L2&&, U&&, S stream) {
  return Launcher<Call>(name, std::move(call), static_cast<uint64_t>(blocks),
                        launch_stream(stream));
}

}  // namespace symm
