#include "bootstrap/loader.h"

#include <dlfcn.h>
#include <unistd.h>

#include <string>
#include <vector>

#include "base/log.h"

namespace symm::bootstrap {
namespace {

// The folder of the shared object (or program) that holds this address, with a slash at its end.
std::string folder_of(const void* address) {
  Dl_info info;
  if (dladdr(address, &info) == 0 || info.dli_fname == nullptr) return "";
  std::string path = info.dli_fname;
  auto slash = path.rfind('/');
  return slash == std::string::npos ? "" : path.substr(0, slash + 1);
}

std::vector<std::string> candidates(const std::string& file) {
  if (file.find('/') != std::string::npos) return {file};
  std::vector<std::string> paths;
  for (const void* anchor :
       {reinterpret_cast<const void*>(&load_plugin), reinterpret_cast<const void*>(&log::report)}) {
    std::string folder = folder_of(anchor);
    if (folder.empty()) continue;
    std::string path = folder + file;
    if (paths.empty() || paths.back() != path) paths.push_back(path);
  }
  paths.push_back(file);
  return paths;
}

}  // namespace

Result<const symm_bootstrap_table*> load_plugin(std::string_view file) {
  std::string tried;
  void* library = nullptr;
  std::string found;
  for (const std::string& path : candidates(std::string(file))) {
    bool by_path = path.find('/') != std::string::npos;
    if (by_path && access(path.c_str(), F_OK) != 0) {
      tried += fmt::format("{}{}: no such file", tried.empty() ? "" : "; ", path);
      continue;
    }
    library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (library != nullptr) {
      found = path;
      break;
    }
    const char* reason = dlerror();
    tried += fmt::format("{}{}: {}", tried.empty() ? "" : "; ", path, reason ? reason : "unknown");
    if (by_path) break;  // it is the right file but broken: say so, do not pick another
  }
  if (library == nullptr) {
    return SYMM_ERROR(kInvalidValue, "bootstrap plug-in {} cannot be loaded ({})", file, tried);
  }
  using Entry = const symm_bootstrap_table* (*)();
  auto entry = reinterpret_cast<Entry>(dlsym(library, "symm_bootstrap_plugin"));
  if (entry == nullptr) {
    dlclose(library);
    return SYMM_ERROR(kInternal,
                      "{} does not export symm_bootstrap_plugin: not a bootstrap plug-in", found);
  }
  const symm_bootstrap_table* table = entry();
  if (table == nullptr || table->abi != SYMM_BOOTSTRAP_ABI || table->size < sizeof(*table)) {
    std::string has =
        table == nullptr ? "no table" : fmt::format("ABI {} and {} bytes", table->abi, table->size);
    dlclose(library);
    return SYMM_ERROR(kInternal,
                      "{} has {}, this library wants ABI {} and {} bytes: mixed versions", found,
                      has, int{SYMM_BOOTSTRAP_ABI}, sizeof(*table));
  }
  return table;
}

}  // namespace symm::bootstrap
