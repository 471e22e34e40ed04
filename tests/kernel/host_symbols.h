// Stand-ins for the functions of libshmem that kernel translation units share with the host: they
// only count their calls, so that a test sees that a host thread takes the host way and a kernel
// never does.
#pragma once

#include <atomic>

namespace symm::test {
extern std::atomic<int> host_calls;
}
