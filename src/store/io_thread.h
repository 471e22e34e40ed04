// IoThread: an asio context and the one thread that runs it, with all signals blocked so that the
// program's handlers run in the program's threads. Threads: start and stop from one thread; post
// from any.
#pragma once

#include <asio/executor_work_guard.hpp>
#include <asio/io_context.hpp>
#include <optional>
#include <thread>

namespace symm::store {

class IoThread {
 public:
  IoThread() : io_(1) {}
  ~IoThread() { stop(); }
  asio::io_context& io() { return io_; }

  void start(const char* name);
  // Ends the loop and joins; handlers that have not run yet never will. Must not be called from the
  // thread itself.
  void stop();
  bool is_current() const { return std::this_thread::get_id() == thread_.get_id(); }

 private:
  asio::io_context io_;
  std::optional<asio::executor_work_guard<asio::io_context::executor_type>> work_;
  std::thread thread_;
};

}  // namespace symm::store
