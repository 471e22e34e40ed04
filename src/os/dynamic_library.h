// DynamicLibrary: a shared object loaded at run time.
#pragma once

#include <string>
#include <utility>

#include "base/status.h"

namespace symm::os {

class DynamicLibrary {
 public:
  DynamicLibrary() = default;
  DynamicLibrary(DynamicLibrary&& other) noexcept
      : handle_(std::exchange(other.handle_, nullptr)) {}
  DynamicLibrary& operator=(DynamicLibrary&& other) noexcept {
    std::swap(handle_, other.handle_);
    return *this;
  }
  ~DynamicLibrary();

  // A path with a slash is taken as it is, a bare name goes through the loader's search.
  static Result<DynamicLibrary> open(const std::string& path);
  // kLoad when the symbol does not exist.
  Result<void*> symbol(const char* name) const;
  // Keeps the code mapped for the rest of the process: for libraries that own threads or
  // thread-local data.
  void keep() { handle_ = nullptr; }

 private:
  void* handle_ = nullptr;
};

// Directory of the shared object that contains `address`, with a slash at the end; empty when
// unknown.
std::string directory_of(const void* address);

}  // namespace symm::os
