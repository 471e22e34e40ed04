// What the programs of this folder share: loading a plug-in table and checks that print and count.
#pragma once

#include <dlfcn.h>

#include <cstdint>
#include <cstdio>
#include <cstring>
#include <string>
#include <vector>

#include "bootstrap/plugin_abi.h"

namespace harness {

inline int failures = 0;

inline void expect(bool good, const char* what) {
  if (good) return;
  ++failures;
  std::printf("FAILED: %s\n", what);
}

inline const symm_bootstrap_table* load(const char* path) {
  void* library = ::dlopen(path, RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) {
    std::printf("FAILED: %s\n", ::dlerror());
    return nullptr;
  }
  using Entry = const symm_bootstrap_table* (*)();
  auto entry = reinterpret_cast<Entry>(::dlsym(library, "symm_bootstrap_plugin"));
  return entry != nullptr ? entry() : nullptr;
}

inline symm_bootstrap_config unset_config() {
  symm_bootstrap_config config{};
  config.size = sizeof(config);
  config.mode = 1U << 1;
  config.pe = -1;
  config.n_pes = 0;
  config.connect_timeout_s = 60;
  config.operation_timeout_s = 60;
  config.listen_fd = -1;
  config.tls.enabled = 1;
  return config;
}

// An open handle, or the error of a failed open.
struct Handle {
  const symm_bootstrap_table* table = nullptr;
  void* handle = nullptr;
  int pe = -1;
  int n_pes = 0;
  int code = 0;
  char error[512] = "";

  void open(const symm_bootstrap_table* from, symm_bootstrap_config config) {
    table = from;
    code = table->open(&config, &handle, error, sizeof(error));
    pe = config.pe;
    n_pes = config.n_pes;
  }
  bool barrier(const char* what) {
    code = table->barrier(handle, what, error, sizeof(error));
    return code == 0;
  }
  bool allgather(const void* in, size_t bytes, void* out, const char* what) {
    code = table->allgather(handle, in, bytes, out, what, error, sizeof(error));
    return code == 0;
  }
  // One line of output, written at once.
  void print_error(const char* step) const {
    std::printf("PE %d %s: code %d: %s\n", pe, step, code, error);
    std::fflush(stdout);
  }
};

// Every step of the table, with contents checked.
inline void exercise(Handle& one) {
  expect(one.pe >= 0 && one.pe < one.n_pes, "PE number in range");
  for (size_t bytes : {size_t{1}, size_t{8}, size_t{1000}, size_t{5000}}) {
    std::vector<unsigned char> mine(bytes, static_cast<unsigned char>(one.pe * 3 + 1));
    std::vector<unsigned char> all(bytes * static_cast<size_t>(one.n_pes));
    expect(one.allgather(mine.data(), bytes, all.data(), "numbers"), one.error);
    if (one.code != 0) return;
    for (int pe = 0; pe < one.n_pes; ++pe) {
      for (size_t i = 0; i < bytes; ++i) {
        unsigned char got = all[static_cast<size_t>(pe) * bytes + i];
        if (got != static_cast<unsigned char>(pe * 3 + 1)) expect(false, "allgather contents");
      }
    }
  }
  for (int round = 0; round < 20; ++round) expect(one.barrier("round"), one.error);
  uint8_t key[32] = {};
  uint8_t zero[32] = {};
  expect(one.table->job_key(one.handle, key, one.error, sizeof(one.error)) == 0, one.error);
  expect(std::memcmp(key, zero, 32) != 0, "the job key is not zero");
  std::vector<uint8_t> keys(32 * static_cast<size_t>(one.n_pes));
  expect(one.allgather(key, 32, keys.data(), "keys"), one.error);
  for (int pe = 0; pe < one.n_pes; ++pe) {
    expect(std::memcmp(&keys[32 * static_cast<size_t>(pe)], key, 32) == 0, "all keys are equal");
  }
  char info[256] = "";
  one.table->info(one.handle, info, sizeof(info));
  expect(std::strlen(info) > 0, "the info line says something");
  if (one.pe == 0) std::printf("info: %s\n", info);
}

inline int finish() {
  if (failures == 0) std::printf("good\n");
  std::fflush(stdout);
  return failures == 0 ? 0 : 1;
}

}  // namespace harness
