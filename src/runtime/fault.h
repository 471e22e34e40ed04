// What a SIGSEGV, SIGBUS, SIGILL or SIGFPE inside a kernel says before it takes its course: kernel,
// block, and whether the stack ran over. Faults elsewhere go to whoever handled them before.
// Threads: any; the handlers belong to the process and are set once.
#pragma once

#include <csignal>
#include <cstddef>

namespace symm::runtime {

// Sets the handlers; later calls do nothing.
void watch_faults();

// Gives the calling thread a signal stack, without which the overflow of another stack cannot be
// reported. Cheap when it has one.
void prepare_signal_stack();

// The text of the report, for a core of this thread that faulted at `address`; its length, or 0
// when no core runs. Safe in a signal handler.
size_t describe_fault(int signal, const void* address, char* text, size_t size);

}  // namespace symm::runtime
