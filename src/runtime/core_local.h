// CoreLocals: variables of which every core has its own copy ([[block_local]]). Few per kernel, so
// a list. Threads: the core (or host thread) that owns it, and its SIMT lanes one at a time.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

namespace symm::runtime {

class CoreLocals {
 public:
  void* get(const void* key, uint64_t bytes, int* fresh) {
    *fresh = 0;
    for (const Local& local : locals_) {
      if (local.key == key) return local.memory.get();
    }
    *fresh = 1;
    // Units of 16 bytes: aligned for every ordinary type.
    locals_.push_back({key, std::make_unique<Unit[]>((bytes + sizeof(Unit) - 1) / sizeof(Unit))});
    return locals_.back().memory.get();
  }

 private:
  struct alignas(16) Unit {
    unsigned char bytes[16];
  };
  struct Local {
    const void* key;
    std::unique_ptr<Unit[]> memory;
  };
  std::vector<Local> locals_;
};

}  // namespace symm::runtime
