// Words for an error code of asio. Unlike error_code::message() this calls no method of the
// category object: those are static objects of the plug-in, and our threads may still run while a
// process that never finalized destroys them. Threads: any.
#pragma once

#include <string>
#include <system_error>

namespace symm::net {

std::string error_text(std::error_code error);

}  // namespace symm::net
