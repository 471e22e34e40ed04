#include "os/thread.h"

#include <pthread.h>
#include <signal.h>

#include <cstring>
#include <system_error>

#include "base/scope_exit.h"

namespace symm::os {

Result<std::thread> start_thread(const char* name, std::function<void()> body) {
  sigset_t blocked;
  sigfillset(&blocked);
  for (int number : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGSYS, SIGABRT, SIGPROF}) {
    sigdelset(&blocked, number);
  }
  sigset_t before;
  // The new thread inherits the mask, so no signal can reach it before it could block them itself.
  pthread_sigmask(SIG_BLOCK, &blocked, &before);
  ScopeExit restore([&] { pthread_sigmask(SIG_SETMASK, &before, nullptr); });
  try {
    std::thread thread(std::move(body));
    char short_name[16] = {};
    std::strncpy(short_name, name, sizeof short_name - 1);
    pthread_setname_np(thread.native_handle(), short_name);
    return thread;
  } catch (const std::system_error& error) {
    return SYMM_ERROR(kNoMemory,
                      "cannot start thread '{}': {}; raise the limit of processes (ulimit -u, "
                      "cgroup pids.max) or lower SHMEM_KERNEL_THREADS",
                      name, error.what());
  }
}

}  // namespace symm::os
