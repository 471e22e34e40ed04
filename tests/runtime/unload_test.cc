// A program that loads the runtime by name, uses it, unloads it and ends, with the runtime's
// threads alive.
#include <dlfcn.h>

#include <atomic>
#include <cstdio>

#include "acl/acl.h"
#include "ascendc/core_abi.h"

namespace {

std::atomic<int> runs{0};

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) return 1;
  void* library = ::dlopen(argv[1], RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) {
    std::fprintf(stderr, "%s\n", ::dlerror());
    return 2;
  }
  auto set_device = reinterpret_cast<decltype(&aclrtSetDevice)>(::dlsym(library, "aclrtSetDevice"));
  auto launch = reinterpret_cast<decltype(&symm_rt_launch)>(::dlsym(library, "symm_rt_launch"));
  auto synchronize = reinterpret_cast<decltype(&aclrtSynchronizeStreamWithTimeout)>(
      ::dlsym(library, "aclrtSynchronizeStreamWithTimeout"));
  if (set_device == nullptr || launch == nullptr || synchronize == nullptr) return 3;
  if (set_device(0) != 0) return 4;
  static auto enter = reinterpret_cast<decltype(&symm_rt_enter)>(::dlsym(library, "symm_rt_enter"));
  auto run = [](void*) {
    if (enter("unload", 0, 1)) ++runs;
  };
  if (launch(4, nullptr, run, nullptr, nullptr, nullptr, "unload") != 0) return 5;
  // With a limit, so that the stream's own thread runs it.
  if (synchronize(nullptr, 60000) != 0 || runs != 4) return 6;
  return ::dlclose(library) == 0 ? 0 : 7;
}
