#include "store/io_thread.h"

#include <pthread.h>
#include <signal.h>

#include <exception>

#include "base/log.h"

namespace symm::store {

void IoThread::start(const char* name) {
  work_.emplace(io_.get_executor());
  sigset_t all;
  sigset_t before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  thread_ = std::thread([this, name] {
    pthread_setname_np(pthread_self(), name);
    while (true) {
      try {
        io_.run();
        return;
      } catch (const std::exception& error) {
        SYMM_LOG(kError, "control plane: {}", error.what());
      }
    }
  });
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

void IoThread::stop() {
  if (!thread_.joinable()) return;
  work_.reset();
  io_.stop();
  thread_.join();
}

}  // namespace symm::store
