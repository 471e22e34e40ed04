#include "os/call_site.h"

#include <cxxabi.h>
#include <dlfcn.h>
#include <fmt/format.h>

#include <cstdlib>
#include <memory>
#include <string_view>

namespace symm::os {
namespace {

std::string readable(const char* symbol) {
  int status = -1;
  std::unique_ptr<char, decltype(&std::free)> plain(
      abi::__cxa_demangle(symbol, nullptr, nullptr, &status), &std::free);
  return status == 0 && plain ? plain.get() : symbol;
}

}  // namespace

std::string call_site(const void* return_address) {
  if (return_address == nullptr) return "an unknown place";
  // The call is the instruction before.
  const auto* at = static_cast<const char*>(return_address) - 1;
  Dl_info info{};
  if (::dladdr(at, &info) == 0 || info.dli_fname == nullptr) {
    return fmt::format("{}", static_cast<const void*>(at));
  }
  std::string_view file = info.dli_fname;
  if (const size_t slash = file.rfind('/'); slash != file.npos) file.remove_prefix(slash + 1);
  const auto offset = at - static_cast<const char*>(info.dli_fbase);
  std::string name = info.dli_sname != nullptr ? readable(info.dli_sname) + " " : "";
  return fmt::format("{}({}+{:#x})", name, file, offset);
}

}  // namespace symm::os
