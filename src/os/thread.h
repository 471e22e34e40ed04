// Threads of the library: named, and with the program's signals blocked so that handlers run on the
// program's threads.
#pragma once

#include <functional>
#include <thread>

#include "base/status.h"

namespace symm::os {

// Starts a thread that runs body. Signals that report a fault of the thread itself stay unblocked.
// The name is cut to 15 bytes. Fails when the system has no more threads.
Result<std::thread> start_thread(const char* name, std::function<void()> body);

}  // namespace symm::os
