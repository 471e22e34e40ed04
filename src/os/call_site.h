// Names the place of a call for messages: which function of which file of this process a code
// address lies in. Threads: any. Slow: only for messages.
#pragma once

#include <string>

namespace symm::os {

// `return_address` as __builtin_return_address(0) gives it; "an unknown place" for null. A function
// with an exported name is named; else the offset in the file is one for addr2line -e.
std::string call_site(const void* return_address);

}  // namespace symm::os
