#include "os/dynamic_library.h"

#include <dlfcn.h>

namespace symm::os {
namespace {

std::string loader_error() {
  const char* text = ::dlerror();
  return text != nullptr ? text : "unknown reason";
}

}  // namespace

DynamicLibrary::~DynamicLibrary() {
  if (handle_ != nullptr) ::dlclose(handle_);
}

Result<DynamicLibrary> DynamicLibrary::open(const std::string& path) {
  DynamicLibrary library;
  library.handle_ = ::dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (library.handle_ == nullptr) return SYMM_ERROR(kLoad, "cannot load {}", loader_error());
  return library;
}

Result<void*> DynamicLibrary::symbol(const char* name) const {
  ::dlerror();
  void* found = ::dlsym(handle_, name);
  if (found == nullptr) return SYMM_ERROR(kLoad, "no symbol {}: {}", name, loader_error());
  return found;
}

std::string directory_of(const void* address) {
  Dl_info info{};
  if (::dladdr(address, &info) == 0 || info.dli_fname == nullptr) return {};
  std::string path = info.dli_fname;
  auto slash = path.rfind('/');
  return slash == std::string::npos ? std::string() : path.substr(0, slash + 1);
}

}  // namespace symm::os
